"""record_result.lua and void_round.lua: once, and only by a caller who has looked far enough."""

from collections import Counter

import msgspec

from controller.jackpots.change import Change
from controller.results.reversal import NOTHING, MeterReversal, Reversal
from controller.services.round_ends import take_back
from controller.store.link_store import LinkStore, Record
from controller.store.win_store import RoundEnd, WinStore
from tests.support.floors import LINK, commission, locked, small_floor

FLOOR = small_floor()
ADDRESS = (LINK, 1, FLOOR.digest(LINK))
ONE_BET = Reversal(500_000_000, 410_000_000, (MeterReversal("major", 75_000_000, 0, 15_000_000),))


def end(body_hash: str, *, ledgered_seq: int = 0, reversal: Reversal = NOTHING, number: int = 1) -> RoundEnd:
    change = Change()
    change.close_round("T-1", number)
    take_back(change, reversal, 2)
    return RoundEnd("T-1", number, body_hash * 64, '{"end":1}', ledgered_seq, change.words(), None)


def wins(store: LinkStore) -> WinStore:
    return WinStore(store._client, store)


def result(store: LinkStore, ended: RoundEnd) -> tuple[str, Record | None]:
    return wins(store).record_result(ADDRESS, ended)


def void(
    store: LinkStore, ended: RoundEnd, *, highest: int, result_seq: int | None
) -> tuple[str, Record | None]:
    """A void by a caller who has just looked at the link."""
    version = wins(store).state(LINK).version
    ended = msgspec.structs.replace(ended, version=version)
    return wins(store).void_round(ADDRESS, ended, highest=highest, result_seq=result_seq)


def play(store: LinkStore, *numbers: int) -> None:
    commission(store, FLOOR)
    for number in numbers:
        store.contribute(*ADDRESS, [[locked(FLOOR, "T-1", number, 1)]])


def release_all(store: LinkStore) -> int:
    head = store.head(LINK)
    assert head is not None
    while store.release(LINK, head.seq, 2):
        pass
    return head.seq


def test_a_result_is_recorded_once_and_replayed(any_store: LinkStore) -> None:
    play(any_store, 1)
    outcome, first = result(any_store, end("a"))
    assert (outcome, first is not None and first.facts) == ("recorded", '{"end":1}')
    assert result(any_store, end("a")) == ("replayed", first)
    assert result(any_store, end("b")) == ("exists_with_different_body", first)
    head = any_store.head(LINK)
    assert head is not None
    assert head.seq == 3


def test_a_void_wins_over_a_result_that_comes_after_it(any_store: LinkStore) -> None:
    play(any_store, 1)
    outcome, record = void(any_store, end("v"), highest=1, result_seq=None)
    assert outcome == "recorded"
    assert result(any_store, end("a")) == ("round_voided", record)
    assert void(any_store, end("v"), highest=1, result_seq=None)[0] == "replayed"


def test_a_caller_who_has_not_looked_as_far_as_entries_were_let_go_must_look_again(
    any_store: LinkStore,
) -> None:
    """Between a look at the ledger and the script, another node's result may be drained and let go."""
    play(any_store, 1, 2)
    result(any_store, end("a"))
    reached = release_all(any_store)
    assert any_store.records(LINK, "T-1", 1).result is None
    before = any_store.head(LINK)
    assert result(any_store, end("a", ledgered_seq=reached - 1)) == ("look_again", None)
    assert void(any_store, end("v"), highest=2, result_seq=None) == ("look_again", None)
    assert any_store.head(LINK) == before
    assert result(any_store, end("c", ledgered_seq=reached))[0] == "recorded"


def test_a_void_judged_by_an_old_next_round_or_result_must_look_again(any_store: LinkStore) -> None:
    play(any_store, 1)
    result(any_store, end("a"))
    assert void(any_store, end("v"), highest=1, result_seq=None)[0] == "look_again"
    assert void(any_store, end("v"), highest=0, result_seq=3)[0] == "look_again"
    assert void(any_store, end("v"), highest=1, result_seq=3)[0] == "recorded"


def test_how_a_round_ended_stays_as_long_as_its_bets_and_goes_with_them(any_store: LinkStore) -> None:
    play(any_store, 1)
    result(any_store, end("a"))
    release_all(any_store)
    assert any_store.records(LINK, "T-1", 1).result is not None
    any_store.contribute(*ADDRESS, [[locked(FLOOR, "T-1", 2, 1)]])
    release_all(any_store)
    held = any_store.records(LINK, "T-1", 1)
    assert (held.bets, held.result) == (None, None)


def test_an_end_that_the_ledger_does_not_have_outlives_the_bets_that_it_has(any_store: LinkStore) -> None:
    play(any_store, 1, 2)
    result(any_store, end("a"))
    while any_store.release(LINK, 3, 10):
        pass
    held = any_store.records(LINK, "T-1", 1)
    assert held.bets is None
    assert held.result is not None
    release_all(any_store)
    assert any_store.records(LINK, "T-1", 1).result is None


def test_a_reversal_lowers_no_sign_and_is_repaid_first(any_store: LinkStore) -> None:
    play(any_store, 1)
    shown = any_store.meters([LINK])[0].value
    void(any_store, end("v", reversal=ONE_BET), highest=1, result_seq=None)
    after = any_store.meters([LINK])[0]
    assert (after.value, after.pot.reserve) == (shown, 0)
    any_store.contribute(*ADDRESS, [[locked(FLOOR, "T-1", 2, 3)]])
    assert any_store.meters([LINK])[0].value == shown + 2 * 75_000_000


def test_what_the_reserve_no_longer_holds_is_the_houses(any_store: LinkStore) -> None:
    play(any_store, 1)
    more = Reversal(500_000_000, 400_000_000, (MeterReversal("major", 75_000_000, 0, 25_000_000),))
    void(any_store, end("v", reversal=more), highest=1, result_seq=None)
    entry = any_store.entry(LINK, 3)
    assert entry is not None
    postings: Counter[str] = Counter()
    for posting in entry.balanced_postings():
        postings[posting.account] += posting.amount
    assert postings == {
        "bets": 500_000_000,
        "owed/major": -75_000_000,
        "reserve/major": -15_000_000,
        "house": -410_000_000,
    }
