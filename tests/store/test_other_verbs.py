"""The other scripts: configuring, opening, alarms, releasing what the ledger has."""

import pytest

from controller.errors import JackpotError
from controller.services.commissioning import put_in_force
from controller.store.connection import connect
from controller.store.keys import LinkKeys
from controller.store.link_store import LinkStore, StaleDefinition
from tests.support.floors import LINK, commission, locked, small_floor


def test_commissioning_funds_the_opening_value_from_the_house(any_store: LinkStore) -> None:
    commission(any_store, small_floor(opening_cents=12345))
    entry = any_store.journal_after(LINK, 0, 1)[0]
    assert (entry.kind, entry.postings) == (
        "link_configured",
        "meter/major=12345000000;house=-12345000000",
    )


def test_the_same_floor_again_changes_nothing(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    heads = {link: any_store.head(link) for link in floor.link_ids}
    assert put_in_force(any_store, floor, 1, "test", heads) == []
    assert any_store.head(LINK) == heads[LINK]


def test_more_tables_are_let_in_and_old_definitions_are_stale(any_store: LinkStore) -> None:
    old, new = small_floor(tables=1), small_floor(tables=2)
    commission(any_store, old)
    heads = {link: any_store.head(link) for link in old.link_ids}
    assert put_in_force(any_store, new, 2, "test", heads) == [LINK]
    with pytest.raises(StaleDefinition):
        any_store.contribute(LINK, 1, old.digest(LINK), [[locked(old, "T-1", 1, 1)]])
    assert any_store.contribute(LINK, 1, new.digest(LINK), [[locked(new, "T-2", 1, 1)]])


@pytest.mark.parametrize(
    "changed",
    [
        small_floor(rate_ppm=1),
        small_floor(reserve_ppm=1),
        small_floor(cap_cents=10**9),
        small_floor(bet_cents=1),
    ],
)
def test_a_floor_file_cannot_change_the_money_of_a_commissioned_meter(
    any_store: LinkStore, changed: object
) -> None:
    floor = small_floor()
    commission(any_store, floor)
    heads = {link: any_store.head(link) for link in floor.link_ids}
    with pytest.raises(JackpotError, match="in force"):
        put_in_force(any_store, changed, 2, "test", heads)  # type: ignore[arg-type]
    assert any_store.head(LINK) == heads[LINK]


def test_two_nodes_that_apply_different_floors_do_not_overwrite_each_other(any_store: LinkStore) -> None:
    floor = small_floor(tables=1)
    commission(any_store, floor)
    heads = {link: any_store.head(link) for link in floor.link_ids}
    put_in_force(any_store, small_floor(tables=2), 2, "test", heads)
    with pytest.raises(StaleDefinition):
        put_in_force(any_store, small_floor(tables=3), 3, "test", heads)


def test_opening_a_table_answers_the_number_after_its_last_round(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    address = (LINK, 1, floor.digest(LINK))
    assert any_store.open_table(*address, "T-1", "{}", 0)[0] == "1"
    any_store.contribute(*address, [[locked(floor, "T-1", 41, 1)]])
    assert any_store.open_table(*address, "T-1", "{}", 0)[0] == "42"


def test_an_alarm_is_raised_once_until_it_is_acknowledged(any_store: LinkStore) -> None:
    commission(any_store, small_floor())
    raised = any_store.raise_alarm(LINK, "kind/T-1", "{}")
    assert raised is not None
    assert any_store.raise_alarm(LINK, "kind/T-1", "{}") is None
    assert any_store.acknowledge_alarm(LINK, "kind/T-1", raised + 7, "{}") is None
    assert any_store.acknowledge_alarm(LINK, "kind/T-1", raised, "{}") is not None
    assert any_store.raise_alarm(LINK, "kind/T-1", "{}") is not None


def test_release_keeps_each_tables_latest_round_and_nothing_else(
    any_store: LinkStore, any_redis_url: str
) -> None:
    """Dedupe memory grows with tables, not with rounds, whenever and however often release runs."""
    floor = small_floor()
    commission(any_store, floor)
    client = connect(any_redis_url)
    for number in range(1, 31):
        any_store.contribute(
            LINK, 1, floor.digest(LINK), [[locked(floor, f"T-{t}", number, 1)] for t in (1, 2, 3)]
        )
        if number % 7 == 0:
            head = any_store.head(LINK)
            assert head is not None
            while any_store.release(LINK, head.seq - 2, 5):
                pass
    head = any_store.head(LINK)
    assert head is not None
    while any_store.release(LINK, head.seq, 4):
        pass
    assert sorted(client.hkeys(LinkKeys.of(LINK).rounds)) == ["T-1/30", "T-2/30", "T-3/30"]
    assert any_store.backlog(LINK) == (0, None)
    replay = any_store.contribute(LINK, 1, floor.digest(LINK), [[locked(floor, "T-1", 30, 1)]])
    assert replay[0][0].outcome == "replayed"
    client.close()


def test_release_never_lets_go_of_what_the_ledger_does_not_have(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    for number in range(1, 6):
        any_store.contribute(LINK, 1, floor.digest(LINK), [[locked(floor, "T-1", number, 1)]])
    while any_store.release(LINK, 3, 100):
        pass
    assert [entry.seq for entry in any_store.journal_after(LINK, 0, 100)] == [4, 5, 6]
    assert any_store.record(LINK, "T-1", 3) is not None
    assert any_store.record(LINK, "T-1", 2) is None
