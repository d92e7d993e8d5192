"""Who may still bring an earlier hand: heartbeats, lost messages, suspensions, outages, tables that go."""

import time

import pytest

from tests.wins.casino import Casino, refused
from tests.wins.conftest import Open


def royal_of_b(floor: Casino) -> str:
    """A royal of table B, verified, its round over: it waits for other tables alone."""
    claim = floor.won("B", "royal_flush")
    assert floor.verify(claim).status_code == 200
    assert floor.close("B", floor.rounds["B"]).status_code == 200
    return claim


@pytest.mark.parametrize("state", ["no_progressive", "closed"])
def test_a_suspended_tables_open_round_still_claims_and_holds_the_claims_of_others(
    casino: Open, state: str
) -> None:
    floor = casino()
    floor.measure("A", "B")
    number = floor.bets("A")
    at = floor.tick()
    royal = royal_of_b(floor)
    assert floor.suspend("A", state, "Back at nine").status_code == 200
    beat = floor.beat("A", floor.tick(), [(number, 0)]).json
    assert (beat["suspension"], beat["notice"]) == (state, "Back at nine")
    assert floor.meter("m")["notices"] == ["A: Back at nine"]
    assert floor.waits(royal) == ["table: A"]
    assert floor.win("A", number, at, "straight_flush").status_code == 201
    flush = f"A.{number}.1"
    assert floor.verify(flush).status_code == 200
    assert floor.waits(royal) == ["table: A"]
    assert floor.sign("m") == (10_020_000, "won")
    floor.over("A", "B")
    assert floor.settled(flush, royal) == [1_002_000, 9_018_000]
    assert floor.suspend("A", "running").status_code == 200
    assert floor.meter("m")["notices"] == []
    assert floor.sign("m") == (2_000_000, "running")
    floor.audit()


def test_a_suspension_refuses_bets_by_its_code_and_changes_nothing(casino: Open) -> None:
    floor = casino()
    assert floor.suspend("A", "no_progressive", "No progressive bets").status_code == 200
    assert refused(floor.try_bets("A")[1]) == (409, "progressive_suspended")
    assert floor.try_bets("A", progressive_cents=0)[1].status_code == 201  # the game itself goes on
    assert floor.suspend("A", "closed").status_code == 200
    assert refused(floor.try_bets("A", progressive_cents=0)[1]) == (409, "table_suspended")
    assert floor.suspend("A", "running", "Box 2 is out of use", (2,)).status_code == 200
    assert refused(floor.try_bets("A", 2)[1]) == (409, "box_suspended")
    beat = floor.beat("A", floor.tick()).json
    assert (beat["suspension"], beat["boxes_off"], beat["notice"]) == ("", [2], "Box 2 is out of use")
    assert floor.sign("m") == (10_000_000, "running")
    floor.bets("A", 1)
    assert floor.suspend("A", "running").status_code == 200
    floor.bets("A", 2)
    assert floor.sign("m") == (10_030_000, "running")
    assert floor.cents("multi", "bets") == {"bets": -30_000}
    floor.audit()


def test_a_suspended_link_says_so_on_its_sign_and_to_its_tables(casino: Open) -> None:
    floor = casino()
    claim = floor.won("A", "royal_flush")
    assert floor.suspend_link("multi", "no_progressive", "Jackpot under repair").status_code == 200
    assert refused(floor.try_bets("B")[1]) == (409, "progressive_suspended")
    # A win that waits goes on waiting, and is taken while the link is suspended.
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.meter("m")["notices"] == ["Jackpot under repair"]
    beat = floor.beat("A", floor.tick(), [(1, 0)]).json
    assert (beat["suspension"], beat["notice"]) == ("no_progressive", "Jackpot under repair")
    assert floor.reject(claim).status_code == 200
    assert floor.sign("m") == (10_010_000, "suspended")
    assert floor.suspend_link("multi", "running").status_code == 200
    assert (floor.sign("m"), floor.meter("m")["notices"]) == ((10_010_000, "running"), [])
    floor.bets("B")
    assert floor.sign("m") == (10_020_000, "running")
    unknown = floor.suspend_link("nowhere", "running")
    assert refused(unknown) == (404, "link_unknown")
    floor.audit()


def test_bets_lost_on_the_wire_hold_the_claims_of_others_and_the_deal_decides(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    closed = floor.tick()
    assert floor.beat("A", floor.tick(), [(1, closed)]).status_code == 200
    at = floor.tick()
    royal = royal_of_b(floor)
    assert floor.waits(royal) == ["table: A"]
    assert floor.beat("A", floor.tick(), [(1, closed)]).status_code == 200
    assert floor.waits(royal) == ["table: A"]
    # The bets arrive, and a hand that was dealt before B's: whose bets come after their deal, the House sees.
    assert floor.bets("A", at=closed) == 1
    reply = floor.win("A", 1, at, "straight_flush")
    assert (reply.status_code, reply.json["claim"]["needs_house"]) == (201, ["bets_after_deal"])
    assert floor.verify("A.1.1").status_code == 200
    assert [hand["table"] for hand in floor.meter("m")["pending"]] == ["A", "B"]
    floor.over("A", "B")
    assert floor.waits("A.1.1") == ["house: bets_after_deal"]
    assert floor.cents("multi", f"payable/{royal}") == {f"payable/{royal}": 0}
    assert floor.order("multi", "A.1.1", royal).status_code == 200
    # Registered on B's value, before A's bets had come in.
    assert floor.settled("A.1.1", royal) == [1_001_000, 10_010_000 - 1_001_000 + 10_000]
    assert floor.sign("m") == (2_000_000, "running")
    floor.audit()


def test_a_round_that_was_never_acknowledged_is_dropped_by_the_table_and_holds_nothing(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    assert floor.beat("A", floor.tick(), [(1, floor.tick())]).status_code == 200
    royal = royal_of_b(floor)
    assert floor.waits(royal) == ["table: A"]
    floor.beats("A")
    assert floor.settled(royal) == [10_010_000]
    floor.audit()


def test_a_heartbeat_overtaken_by_a_newer_one_is_ignored(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    number = floor.bets("A")
    at = floor.tick()
    royal = royal_of_b(floor)
    older, newer = floor.tick(), floor.tick()
    assert floor.beat("A", newer, [(number, 0)]).json["taken"] is True
    overtaken = floor.beat("A", older, []).json
    assert (overtaken["taken"], overtaken["next_round"]) == (False, number + 1)
    assert floor.waits(royal) == ["table: A"]  # it closed nothing
    assert floor.win("A", number, at, "straight_flush").status_code == 201
    assert floor.verify(f"A.{number}.1").status_code == 200
    newest = floor.tick()
    assert floor.beat("A", newest, []).json["taken"] is True
    assert floor.beat("A", newer, [(number, 0)]).json["taken"] is False  # nor does it open anything again
    floor.beats("B")
    assert floor.settled(f"A.{number}.1", royal) == [1_002_000, 9_018_000]
    floor.audit()


def test_a_heartbeat_closes_no_round_that_is_newer_than_itself(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    sent = floor.tick()
    floor.bets("A")
    royal = royal_of_b(floor)
    assert floor.beat("A", sent, []).json["taken"] is True  # slow on the wire: it knows nothing of the round
    assert floor.waits(royal) == ["table: A"]
    floor.beats("A")
    assert floor.settled(royal) == [10_020_000]
    floor.audit()


def test_a_tables_next_round_closes_the_one_before(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    floor.bets("A")
    royal = royal_of_b(floor)
    assert floor.waits(royal) == ["table: A"]
    floor.bets("A")
    assert floor.settled(royal) == [10_020_000]
    assert floor.sign("m") == (2_010_000, "running")
    floor.audit()


def test_a_table_counts_from_its_opening_until_it_closes(casino: Open) -> None:
    floor = casino(unmeasured_clock_seconds=0)
    opened = floor.post("/v1/tables/A/open", None, "A")
    assert opened.json["next_round"] == 1
    royal = royal_of_b(floor)  # C and D were never heard of and do not count
    assert floor.waits(royal) == ["table: A"]
    number = floor.bets("A")
    assert refused(floor.post("/v1/tables/A/close", None, "A")) == (409, "round_open")
    assert floor.settled(royal) == [10_010_000]  # A's round was closed to bets after the royal was dealt
    assert floor.close("A", number).status_code == 200
    assert floor.close("A", number).status_code == 200
    assert floor.post("/v1/tables/A/close", None, "A").status_code == 200
    again = royal_of_b(floor)
    assert floor.settled(again) == [2_020_000]
    assert floor.post("/v1/tables/A/open", None, "A").json["next_round"] == number + 1
    assert floor.close("A", 9).status_code == 404
    floor.audit()


def test_a_table_that_fell_silent_after_its_own_claim_can_be_passed_too(casino: Open) -> None:
    floor = casino(hold_limit_seconds=0)
    claim = floor.won("B", "royal_flush")
    assert floor.verify(claim).status_code == 200
    assert floor.waits(claim) == ["table: B"]  # another box of the same round may have been dealt first
    assert floor.proceed("multi", "B").status_code == 200
    assert floor.settled(claim) == [10_010_000]
    floor.audit()


def test_a_table_that_speaks_is_not_passed(casino: Open) -> None:
    floor = casino(hold_limit_seconds=1)
    floor.measure("A", "B")
    number = floor.bets("A")
    royal = royal_of_b(floor)
    time.sleep(1.1)
    assert floor.beat("A", floor.tick(), [(number, 0)]).status_code == 200
    assert refused(floor.proceed("multi", "A")) == (409, "hold_limit_not_reached")
    assert floor.waits(royal) == ["table: A"]
    floor.beats("A")
    assert floor.settled(royal) == [10_020_000]
    floor.audit()


def test_a_replaced_device_has_a_clock_of_its_own(casino: Open) -> None:
    floor = casino()
    floor.clock = {"A": -3_600_000_000}  # an hour ahead
    floor.measure("A", "B")
    assert floor.post("/v1/tables/A/open", None, "A").json["next_round"] == 1
    floor.clock = {}
    floor.measure("A")
    number = floor.bets("A")
    royal = royal_of_b(floor)
    assert floor.waits(royal) == ["table: A"]
    assert floor.close("A", number).status_code == 200
    floor.beats("A")
    assert floor.settled(royal) == [10_020_000]
    floor.audit()


def test_a_voided_round_holds_nothing_any_more(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    number = floor.bets("A")
    royal = royal_of_b(floor)
    assert floor.waits(royal) == ["table: A"]
    assert floor.void("A", number).status_code == 200
    floor.beats("A")
    assert floor.settled(royal) == [10_020_000]
    assert floor.cents("multi", "owed/m", "house") == {"owed/m": 0, "house": -12_010_000}
    floor.audit()


def test_after_an_outage_only_the_round_that_was_open_is_taken(casino: Open) -> None:
    floor = casino(grace_seconds=1)
    floor.measure("A", "B")
    assert refused(floor.try_bets("A", at=floor.tick() - 3)[1]) == (409, "table_was_offline")
    assert floor.sign("m") == (10_000_000, "running")
    floor.bets("A", at=floor.tick() - 0.5)  # within the grace, as usual
    open_at = floor.tick()
    during = open_at + 1.3
    time.sleep(2.4)
    late = floor.bets("A", at=open_at)
    assert refused(floor.try_bets("A", at=during)[1]) == (409, "table_was_offline")
    floor.bets("A")
    assert floor.sign("m") == (10_030_000, "running")
    recorded = [kind for kind in floor.kinds("multi") if kind.endswith("bets_recorded")]
    assert recorded == ["bets_recorded", "late_bets_recorded", "bets_recorded"]
    reply = floor.win("A", late, open_at + 0.1, "royal_flush")
    assert (reply.status_code, reply.json["claim"]["needs_house"]) == (201, ["bets_after_deal"])
    claim = f"A.{late}.1"
    assert floor.verify(claim).status_code == 200
    floor.over("A", "B")
    assert floor.waits(claim) == ["house: bets_after_deal"]
    assert floor.order("multi", claim, reason="the cameras show the bet").status_code == 200
    assert floor.settled(claim) == [10_030_000]
    floor.audit()


def test_bets_of_an_hour_ago_are_no_better_for_a_clock_that_was_never_measured(casino: Open) -> None:
    floor = casino()
    assert floor.beat("A", floor.tick()).status_code == 200
    assert refused(floor.try_bets("A", at=floor.tick() - 3600)[1]) == (409, "table_was_offline")
    floor.bets("A", at=floor.tick() - 35)  # 30 s of grace, 10 s of doubt
    assert floor.sign("m") == (10_010_000, "running")
    floor.audit()


def test_an_old_retry_of_bets_that_were_recorded_is_answered_even_after_an_outage(casino: Open) -> None:
    floor = casino(grace_seconds=1)
    floor.measure("A")
    at = floor.tick()
    number = floor.bets("A", at=at)
    time.sleep(1.2)
    floor.rounds["A"] = number - 1
    again, reply = floor.try_bets("A", at=at)
    assert (again, reply.status_code) == (number, 200)
    assert floor.sign("m") == (10_010_000, "running")
    floor.audit()
