"""Journal to ledger on SQLite and PostgreSQL: repeated, reordered, torn and forged batches."""

import threading
from dataclasses import replace
from importlib.resources import files

import pytest
from sqlalchemy import text

from controller.betting.locked_bets import lock_bets
from controller.errors import LedgerMismatch
from controller.floor.file import parse_floor
from controller.ids import LinkId
from controller.journal.entry import Entry
from controller.store.link_store import LinkStore
from models.archive import alarms, balances, recorded_round
from models.audit import check_link
from models.engine import Ledger
from models.posting import position_of, post_entries
from tests.support.floors import LINK, bets, commission, locked, small_floor

FLOOR = small_floor()


@pytest.fixture
def journal(store: LinkStore) -> list[Entry]:
    commission(store, FLOOR)
    for number in range(1, 21):
        store.contribute(LINK, 1, FLOOR.digest(LINK), [[locked(FLOOR, f"T-{number % 3 + 1}", number, 2)]])
    raised = store.raise_alarm(LINK, "kind/T-1", '{"subject":"kind/T-1","detail":"why"}')
    store.acknowledge_alarm(LINK, "kind/T-1", raised or 0, f'{{"alarm":{raised},"by":"Ann"}}')
    return store.journal_after(LINK, 0, 100)


def test_a_batch_becomes_balanced_postings_and_a_chain(ledger: Ledger, journal: list[Entry]) -> None:
    assert post_entries(ledger, LINK, journal).seq == len(journal) == 23
    assert check_link(ledger, LINK) == 23
    held = balances(ledger, LINK)
    assert sum(held.values()) == 0
    assert held["meter/major"] == 2_000_000 * 10**6 + 20 * 1000 * 150_000
    assert held["bets"] == -20 * 1000 * 10**6


def test_repeated_and_overlapping_batches_change_nothing(ledger: Ledger, journal: list[Entry]) -> None:
    for first, last in ((0, 5), (0, 5), (2, 9), (0, 1), (5, 23), (0, 23)):
        post_entries(ledger, LINK, journal[first:last])
    assert check_link(ledger, LINK) == 23


def test_a_batch_that_would_leave_a_gap_is_refused_whole(ledger: Ledger, journal: list[Entry]) -> None:
    post_entries(ledger, LINK, journal[:5])
    with pytest.raises(LedgerMismatch, match="expected entry 6, got 7"):
        post_entries(ledger, LINK, journal[6:])
    with pytest.raises(LedgerMismatch, match="expected entry 8, got 9"):
        post_entries(ledger, LINK, journal[5:7] + journal[8:])
    assert position_of(ledger, LINK).seq == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"postings": "bets=-1;meter/major=2"}, "does not follow"),
        ({"facts": "{}"}, "does not follow"),
        ({"at": 1}, "goes back"),
        ({"epoch": 0}, "goes back"),
    ],
)
def test_a_forged_entry_is_refused(
    ledger: Ledger, journal: list[Entry], change: dict[str, object], message: str
) -> None:
    forged = replace(journal[5], **change)  # type: ignore[arg-type]
    with pytest.raises(LedgerMismatch, match=message):
        post_entries(ledger, LINK, [*journal[:5], forged])
    assert position_of(ledger, LINK).seq == 0


def rehashed(entry: Entry, previous: Entry, **change: str) -> Entry:
    changed = replace(entry, **change)  # type: ignore[arg-type]
    return replace(changed, head=changed.expected_head(previous.head))


def test_postings_that_do_not_sum_to_zero_are_refused(ledger: Ledger, journal: list[Entry]) -> None:
    forged = rehashed(journal[5], journal[4], postings="bets=-1;meter/major=2")
    with pytest.raises(LedgerMismatch, match="sum to zero"):
        post_entries(ledger, LINK, [*journal[:5], forged])


def test_a_meter_that_differs_from_its_postings_is_refused(ledger: Ledger, journal: list[Entry]) -> None:
    forged = rehashed(journal[5], journal[4], after="major=1")
    with pytest.raises(LedgerMismatch, match="meter major holds 1"):
        post_entries(ledger, LINK, [*journal[:5], forged])


def test_many_workers_on_one_link_post_each_entry_once(ledger: Ledger, journal: list[Entry]) -> None:
    failures: list[BaseException] = []

    def work(offset: int) -> None:
        try:
            while (at := position_of(ledger, LINK).seq) < len(journal):
                post_entries(ledger, LINK, journal[max(0, at - offset) : at + 2])
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert check_link(ledger, LINK) == 23


def test_an_old_round_is_found_as_it_was_recorded(
    ledger: Ledger, store: LinkStore, journal: list[Entry]
) -> None:
    post_entries(ledger, LINK, journal)
    held = store.record(LINK, "T-2", 1)
    assert held is not None
    assert recorded_round(ledger, "T-2", 1) == held
    assert recorded_round(ledger, "T-2", 2) is None


def test_alarms_stay_until_acknowledged(ledger: Ledger, journal: list[Entry]) -> None:
    post_entries(ledger, LINK, journal[:22])
    assert [(a.subject, a.acknowledged_by) for a in alarms(ledger, open_only=True)] == [("kind/T-1", None)]
    post_entries(ledger, LINK, journal[22:])
    assert alarms(ledger, open_only=True) == []
    assert [(a.subject, a.acknowledged_by) for a in alarms(ledger, open_only=False)] == [("kind/T-1", "Ann")]


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit_entries SET facts = replace(facts, 'T-1', 'T-2') WHERE seq = 7",
        "UPDATE audit_entries SET at = at + 1 WHERE seq = 7",
        "UPDATE audit_entries SET hash = replace(hash, 'a', 'b') WHERE seq = 23",
        "UPDATE postings SET amount = amount + 1 WHERE seq = 7 AND line = 1",
        "UPDATE postings SET balance = balance + 1 WHERE seq = 7 AND line = 1",
        "UPDATE accounts SET balance = balance + 1 WHERE account = 'house'",
        "DELETE FROM postings WHERE seq = 7",
        "DELETE FROM audit_entries WHERE seq = 23",
    ],
)
def test_the_audit_walk_finds_what_was_changed_behind_our_back(
    ledger: Ledger, journal: list[Entry], tampering: str
) -> None:
    post_entries(ledger, LINK, journal)
    with ledger.writing() as session:
        session.execute(text(tampering))
    with pytest.raises(LedgerMismatch):
        check_link(ledger, LINK)


def test_the_longest_meter_name_fits_every_account(ledger: Ledger, store: LinkStore) -> None:
    name = "m" * 40
    text = (files("deploy") / "floor.yaml").read_text(encoding="utf-8").replace("tcp-major", name)
    floor = parse_floor(text.replace("rate_ppm: 150_000 ", "rate_ppm: 150_000\n        cap_cents: 2_000_001"))
    commission(store, floor)
    link = LinkId("three-card")
    body = bets([{"box": b, "progressive_cents": 500} for b in range(1, 8)])
    item = lock_bets(floor, floor.tables_by_id["TCP-01"], 1, body)
    store.contribute(link, 1, floor.digest(link), [[item]])
    post_entries(ledger, link, store.journal_after(link, 0, 10))
    assert set(balances(ledger, link)) == {
        "bets",
        "house",
        *(f"{a}/{name}" for a in ("meter", "overflow", "reserve")),
    }
