"""contribute.lua, on every server that it must run on: dedupe, split, cap, sequence, journal."""

import msgspec
import pytest

from controller.betting.locked_bets import LockedRound, lock_bets
from controller.errors import Code, Refused
from controller.floor.definition import Floor
from controller.ids import UNLINKED
from controller.journal.entry import GENESIS_HEAD
from controller.store.keys import LinkKeys
from controller.store.link_store import LinkMissing, LinkStore, Record, RoundOutcome, StaleDefinition
from tests.support.floors import LINK, bets, commission, locked, small_floor


def post(store: LinkStore, floor: Floor, *groups: list[LockedRound]) -> list[list[RoundOutcome]]:
    return store.contribute(LINK, 1, floor.digest(LINK), list(groups))


def value(store: LinkStore) -> int:
    return store.meters([LINK])[0].value


def without_facts(outcome: RoundOutcome) -> Record:
    """A round that is recorded now is answered without its facts: the caller has just written them."""
    assert outcome.record is not None
    return msgspec.structs.replace(outcome.record, facts="")


def test_a_round_adds_exactly_the_configured_share(any_store: LinkStore) -> None:
    floor = small_floor(rate_ppm=172_501)
    commission(any_store, floor)
    [[outcome]] = post(any_store, floor, [locked(floor, "T-1", 1, 3)])
    assert outcome.outcome == "recorded"
    assert value(any_store) == 2_000_000 * 10**6 + 3 * 500 * 172_501
    entry = any_store.journal_after(LINK, 1, 10)[0]
    assert entry.postings == (
        f"bets=-{1500 * 10**6};meter/major={1500 * 172_501};reserve/major={1500 * 30_000};"
        f"house={1500 * (10**6 - 172_501 - 30_000)}"
    )
    assert sum(p.amount for p in entry.balanced_postings()) == 0


def test_the_same_body_again_gets_the_recorded_answer_and_adds_nothing(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    first = post(any_store, floor, [locked(floor, "T-1", 1, 2)])[0][0]
    before = any_store.head(LINK)
    again = post(any_store, floor, [locked(floor, "T-1", 1, 2)])[0][0]
    assert (again.outcome, without_facts(again)) == ("replayed", without_facts(first))
    assert any_store.head(LINK) == before


def test_a_different_body_under_the_same_number_is_refused_with_what_was_recorded(
    any_store: LinkStore,
) -> None:
    floor = small_floor()
    commission(any_store, floor)
    first = post(any_store, floor, [locked(floor, "T-1", 1, 2)])[0][0]
    other = post(any_store, floor, [locked(floor, "T-1", 1, 3)])[0][0]
    assert (other.outcome, without_facts(other)) == ("exists_with_different_body", without_facts(first))
    assert value(any_store) == 2_000_000 * 10**6 + 1000 * 150_000


def test_a_number_below_the_highest_that_was_never_recorded_is_refused(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    post(any_store, floor, [locked(floor, "T-1", 5, 1)])
    outcome = post(any_store, floor, [locked(floor, "T-1", 4, 1)])[0][0]
    assert (outcome.outcome, outcome.highest) == ("round_number_passed", 5)


def test_the_same_round_twice_in_one_call_counts_once(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    item = locked(floor, "T-1", 1, 1)
    outcomes = post(any_store, floor, [item], [item], [locked(floor, "T-1", 1, 2)])
    assert [o[0].outcome for o in outcomes] == ["recorded", "replayed", "exists_with_different_body"]
    assert value(any_store) == 2_000_000 * 10**6 + 500 * 150_000


def test_a_group_stops_at_its_first_refusal_and_other_groups_go_on(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    post(any_store, floor, [locked(floor, "T-1", 2, 1)])
    outcomes = post(
        any_store,
        floor,
        [locked(floor, "T-1", 3, 1), locked(floor, "T-1", 1, 1), locked(floor, "T-1", 4, 1)],
        [locked(floor, "T-2", 1, 1)],
    )
    assert [o.outcome for o in outcomes[0]] == ["recorded", "round_number_passed", "not_attempted"]
    assert outcomes[1][0].outcome == "recorded"


def test_at_the_cap_the_rest_overflows_to_the_last_unit(any_store: LinkStore) -> None:
    floor = small_floor(rate_ppm=333_333, opening_cents=1999, cap_cents=2000)
    commission(any_store, floor)
    post(any_store, floor, [locked(floor, "T-1", 1, 1)], [locked(floor, "T-1", 2, 1)])
    state = any_store.meters([LINK])[0]
    assert state.value == 2000 * 10**6
    assert state.pot.overflow == 2 * 500 * 333_333 - 10**6
    first, second = any_store.journal_after(LINK, 1, 10)
    assert f"meter/major={10**6};overflow/major={500 * 333_333 - 10**6}" in first.postings
    assert "meter/major" not in second.postings


@pytest.mark.parametrize("opening_cents", [10**10 - 1, 9_007_199_254, 9_007_199_255])
def test_values_above_2_to_the_53_are_exact(any_store: LinkStore, opening_cents: int) -> None:
    """Micro-cents pass 2^53 at about $90 million, where Lua's numbers begin to lose units."""
    floor = small_floor(opening_cents=opening_cents, rate_ppm=999_999, reserve_ppm=1)
    commission(any_store, floor)
    for number in range(1, 6):
        post(any_store, floor, [locked(floor, "T-1", number, 7)])
    assert value(any_store) == opening_cents * 10**6 + 5 * 3500 * 999_999


def test_a_meter_that_would_pass_64_bits_refuses_and_changes_nothing(any_store: LinkStore) -> None:
    floor = small_floor(bet_cents=10**6, rate_ppm=1_000_000, reserve_ppm=0)
    commission(any_store, floor)
    limit = 9_223_372_036_853_999_999
    any_store._client.hset(LinkKeys.of(LINK).meters, "major/value", str(limit - 7 * 10**12))
    assert post(any_store, floor, [locked(floor, "T-1", 1, 7)])[0][0].outcome == "recorded"
    assert value(any_store) == limit
    before = any_store.head(LINK)
    assert post(any_store, floor, [locked(floor, "T-1", 2, 1)])[0][0].outcome == "meter_limit_reached"
    assert (value(any_store), any_store.head(LINK)) == (limit, before)


def test_a_number_far_ahead_does_not_use_up_a_tables_numbers(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    post(any_store, floor, [locked(floor, "T-1", 5, 1)])
    slip = post(any_store, floor, [locked(floor, "T-1", 2**53 - 1, 1)])[0][0]
    assert (slip.outcome, slip.highest) == ("round_number_too_far", 5)
    assert post(any_store, floor, [locked(floor, "T-1", 6, 1)])[0][0].outcome == "recorded"


def test_the_sequence_is_gapless_and_every_entry_chains_to_the_one_before(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    for number in range(1, 4):
        post(any_store, floor, *([locked(floor, f"T-{t}", number, t)] for t in (1, 2, 3)))
    head, at = GENESIS_HEAD, 0
    entries = any_store.journal_after(LINK, 0, 100)
    for expected, entry in enumerate(entries, start=1):
        assert entry.seq == expected
        assert entry.head == entry.expected_head(head)
        assert entry.at >= at
        head, at = entry.head, entry.at
    assert len(entries) == 10


def test_a_table_without_a_link_is_journaled_and_moves_no_money(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    body = bets([{"box": 1, "bets": [{"player": "a", "seated": True, "initial_cents": 1000}]}])
    item = lock_bets(floor, floor.tables_by_id["N-1"], 1, body)
    [[outcome]] = any_store.contribute(UNLINKED, 1, floor.digest(UNLINKED), [[item]])
    assert outcome.outcome == "recorded"
    assert any_store.journal_after(UNLINKED, 1, 1)[0].postings == ""


def test_a_caller_with_another_definition_or_epoch_does_nothing(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    for epoch, definition in ((1, "other"), (2, floor.digest(LINK))):
        with pytest.raises(StaleDefinition):
            any_store.contribute(LINK, epoch, definition, [[locked(floor, "T-1", 1, 1)]])
    assert value(any_store) == 2_000_000 * 10**6


def test_a_link_that_redis_does_not_hold_is_never_made_up(any_store: LinkStore) -> None:
    floor = small_floor()
    with pytest.raises(LinkMissing):
        post(any_store, floor, [locked(floor, "T-1", 1, 1)])
    with pytest.raises(LinkMissing):
        any_store.meters([LINK])


def test_a_closed_link_takes_no_bets_and_keeps_its_first_reason(any_store: LinkStore) -> None:
    floor = small_floor()
    commission(any_store, floor)
    any_store.close_link(LINK, "first", "{}")
    any_store.close_link(LINK, "second", "{}")
    with pytest.raises(Refused) as refused:
        post(any_store, floor, [locked(floor, "T-1", 1, 1)])
    assert refused.value.code is Code.LINK_CLOSED
    assert "first" in refused.value.detail
    assert any_store.meters([LINK])[0].status == "closed"
