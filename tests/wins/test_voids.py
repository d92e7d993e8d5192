"""Rounds whose bets go back: before a freeze, after it, after a settlement, after a payment."""

import pytest

from tests.wins.casino import AKQ_SPADES, NOTHING, NOTHING_TOO, Casino, refused
from tests.wins.conftest import Open


def paid_out(floor: Casino, table: str, hand: str = "royal_flush") -> str:
    """A claim of a table alone, verified and settled."""
    claim = floor.won(table, hand)
    assert floor.verify(claim).status_code == 200
    floor.over(table)
    floor.settled(claim)
    return claim


def test_a_void_before_any_claim_never_lowers_the_sign(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    assert floor.sign("m") == (10_010_000, "running")
    at = floor.tick()
    assert floor.void("A", number, at).status_code == 200
    assert floor.void("A", number, at).status_code == 200
    assert floor.sign("m") == (10_010_000, "running")
    assert floor.cents("multi") == {"meter/m": 10_010_000, "owed/m": -10_000, "house": -10_000_000}
    floor.bets("B")  # repays what is owed before the sign moves on
    assert floor.sign("m") == (10_010_000, "running")
    assert floor.cents("multi", "owed/m") == {"owed/m": 0}
    floor.bets("B")
    assert floor.sign("m") == (10_020_000, "running")
    claim = floor.win("A", number, at, "royal_flush")
    assert refused(claim) == (409, "round_voided")
    floor.audit()


def test_a_void_cancels_the_claim_and_the_meter_runs_on(casino: Open) -> None:
    floor = casino()
    claim = floor.won("A", "royal_flush")
    assert floor.verify(claim).status_code == 200
    floor.bets("C")
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.void("A", 1).status_code == 200
    assert floor.status(claim) == "cancelled"
    assert floor.sign("m") == (10_020_000, "running")
    assert floor.cents("multi", "owed/m") == {"owed/m": -10_000}
    floor.bets("C")
    assert floor.sign("m") == (10_020_000, "running")
    floor.bets("C")
    assert floor.sign("m") == (10_030_000, "running")
    again = floor.win("A", 1, floor.tick(), "royal_flush")
    assert again.status_code == 409
    floor.audit()


def test_a_void_of_one_of_two_claims_leaves_the_other_its_own_registration(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    first = floor.won("A", "royal_flush")
    second = floor.won("B", "royal_flush")
    assert floor.void("A", 1).status_code == 200
    assert floor.sign("m") == (10_020_000, "won")
    assert floor.verify(second).status_code == 200
    floor.over("A", "B")
    assert floor.settled(second) == [10_020_000]
    assert floor.status(first) == "cancelled"
    # What came back to A's player had been shown and won: the house bears it.
    assert floor.cents("multi") == {
        "bets": -10_000,
        "meter/m": 2_000_000,
        "house": -10_000_000 - 2_000_000 - 10_000,
        f"payable/{second}": 10_020_000,
    }
    floor.audit()


def test_an_award_that_was_made_is_taken_back_by_the_house_and_the_meter_shows_the_value_again(
    casino: Open,
) -> None:
    floor = casino()
    claim = paid_out(floor, "A")
    assert floor.sign("m") == (2_000_000, "running")
    floor.bets("C")
    assert floor.sign("m") == (2_010_000, "running")
    before = floor.cents("multi")
    at = floor.tick()
    assert refused(floor.void("A", 1, at)) == (409, "award_made")
    body = {"reason": "foreign_card", "voided_at": floor.text("A", at), "authorised_by": ["shift manager"]}
    by_table = floor.post("/v1/tables/A/rounds/1/void", body, "A")
    assert refused(by_table) == (403, "not_permitted")  # a table cannot speak for the House
    assert floor.cents("multi") == before
    assert floor.status(claim) == "awarded"
    assert floor.void("A", 1, at, "shift manager").status_code == 200
    assert floor.status(claim) == "cancelled"
    assert floor.sign("m") == (10_020_000, "running")
    assert floor.meter("m")["cycle"] == 1
    assert floor.cents("multi") == {
        "bets": -10_000,
        "meter/m": 10_020_000,
        "owed/m": -10_000,
        "house": -10_000_000,
    }
    floor.bets("C")
    assert floor.sign("m") == (10_020_000, "running")
    # The meter can be won again.
    assert floor.post("/v1/tables/A/close", None, "A").status_code == 200
    again = paid_out(floor, "C")
    assert floor.claim(again)["amount_cents"] == 10_030_000
    assert floor.sign("m") == (2_000_000, "running")
    floor.audit()


def test_a_void_takes_back_award_envy_and_reset_funding_to_the_last_cent(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 3)
    at = floor.tick()
    hands = {1: AKQ_SPADES, 2: NOTHING, 3: NOTHING_TOO}
    assert floor.result("P", number, hands, at).status_code == 200
    major = f"P.{number}.1"
    envy = [f"P.{number}.{box}.envy1" for box in (2, 3)]
    assert floor.verify(major).status_code == 200
    assert floor.settled(major, *envy) == [500_225, 25_000, 25_000]
    assert floor.sign("t") == (100_000, "running")
    assert floor.cents("three", "reserve/t", "house") == {
        "reserve/t": 0,
        "house": -500_000 + 3 * 410 - (100_000 - 45) - 50_000,
    }
    assert refused(floor.void("P", number)) == (409, "award_made")
    assert floor.void("P", number, floor.tick(), "shift manager").status_code == 200
    assert [floor.status(name) for name in (major, *envy)] == ["cancelled"] * 3
    assert floor.sign("t") == (500_225, "running")
    assert floor.cents("three") == {"meter/t": 500_225, "owed/t": -225, "house": -500_000}
    floor.audit()


def test_what_was_paid_stays_paid_and_is_the_houses(casino: Open) -> None:
    floor = casino()
    claim = paid_out(floor, "A")
    assert floor.pay(claim, "cashier", "shift manager").status_code == 200
    at = floor.tick()
    assert refused(floor.void("A", 1, at)) == (409, "award_made")
    alone = floor.void("A", 1, at, "shift manager", "shift manager")
    assert refused(alone) == (422, "second_person_needed")
    assert alone.json["errors"][0]["field"] == "authorised_by"
    assert floor.status(claim) == "paid"
    assert floor.void("A", 1, at, "shift manager", "pit manager").status_code == 200
    assert floor.status(claim) == "cancelled"
    assert floor.sign("m") == (10_010_000, "running")
    assert floor.cents("multi") == {
        "meter/m": 10_010_000,
        "owed/m": -10_000,
        "paid": 10_010_000,
        "house": -10_000_000 - 10_010_000,
    }
    floor.audit()


def test_a_void_takes_awards_of_two_levels_back(casino: Open) -> None:
    floor = casino(verification="not_required")
    number = floor.bets("K", 2)
    hands = {1: ["QC", "KC", "AC"], 2: ["7C", "8C", "9C"]}
    assert floor.result("K", number, hands, floor.tick()).status_code == 200
    claims = [f"K.{number}.{box}" for box in hands]
    assert floor.settled(*claims) == [1_000_600, 60_400]
    assert (floor.sign("grand"), floor.sign("mini")) == ((500_000, "running"), (50_000, "running"))
    assert floor.void("K", number, floor.tick(), "shift manager").status_code == 200
    assert [floor.status(name) for name in claims] == ["cancelled"] * 2
    assert (floor.sign("grand"), floor.sign("mini")) == ((1_000_600, "running"), (60_400, "running"))
    assert floor.cents("levels") == {
        "meter/grand": 1_000_600,
        "owed/grand": -600,
        "meter/mini": 60_400,
        "owed/mini": -400,
        "house": -1_060_000,
    }
    floor.audit()


def test_other_claims_of_a_voided_settlement_are_settled_again(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    royal, flush = floor.dealt({"A": "royal_flush", "B": "straight_flush"})
    floor.over("A", "B")
    assert floor.settled(royal, flush) == [10_020_000, 200_000]
    assert floor.void("A", 1, floor.tick(), "shift manager").status_code == 200
    assert floor.status(royal) == "cancelled"
    assert floor.settled(flush) == [1_002_000]
    assert floor.sign("m") == (10_020_000 - 1_002_000, "running")
    # A's contribution was part of what was shown and won: the house bears it.
    assert floor.cents("multi") == {
        "bets": -10_000,
        "meter/m": 9_018_000,
        "house": -10_000_000 - 10_000,
        f"payable/{flush}": 1_002_000,
    }
    floor.audit()


def test_a_claim_that_waits_gets_the_value_back_that_a_void_returns_to_the_meter(casino: Open) -> None:
    floor = casino()
    paid_out(floor, "A")
    flush = floor.won("C", "straight_flush")
    assert floor.verify(flush).status_code == 200
    assert floor.sign("m") == (2_010_000, "won")
    assert floor.void("A", 1, floor.tick(), "shift manager").status_code == 200
    assert floor.sign("m") == (10_020_000, "won")
    assert floor.close("C", 1).status_code == 200
    assert floor.post("/v1/tables/A/close", None, "A").status_code == 200
    assert floor.settled(flush) == [1_002_000]
    assert floor.sign("m") == (9_018_000, "running")
    assert floor.cents("multi", "owed/m", "house") == {"owed/m": 0, "house": -10_010_000}
    floor.audit()


def test_bets_that_go_back_during_a_freeze_are_repaid_by_what_accrued_if_the_claim_is_rejected(
    casino: Open,
) -> None:
    floor = casino()
    claim = floor.won("A", "royal_flush")
    returned = floor.bets("C")
    assert floor.void("C", returned).status_code == 200
    floor.bets("B")
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.cents("multi", "owed/m", "meter/m") == {"owed/m": -10_000, "meter/m": 10_030_000}
    assert floor.reject(claim).status_code == 200
    # As if never frozen: C's bet raised the sign, and B's repaid it.
    assert floor.sign("m") == (10_020_000, "running")
    assert floor.cents("multi") == {"bets": -20_000, "meter/m": 10_020_000, "house": -10_000_000}
    floor.audit()


def test_settlements_that_rest_on_a_voided_one_are_undone_with_it(casino: Open) -> None:
    floor = casino()
    paid_out(floor, "A")
    assert floor.post("/v1/tables/A/close", None, "A").status_code == 200
    later = paid_out(floor, "C", "straight_flush")
    assert floor.claim(later)["amount_cents"] == 201_000
    assert floor.void("A", 1, floor.tick(), "shift manager").status_code == 200
    assert floor.status("A.1.1") == "cancelled"
    assert floor.settled(later) == [1_002_000]
    assert floor.postings("multi", f"payable/{later}") == [201_000, -201_000, 1_002_000]
    assert floor.sign("m") == (9_018_000, "running")
    assert floor.cents("multi", "house", "payable/A.1.1") == {"house": -10_010_000, "payable/A.1.1": 0}
    floor.audit()


def test_a_settlement_that_paid_somebody_else_stands(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    royal, flush = floor.dealt({"A": "royal_flush", "B": "straight_flush"})
    floor.over("A", "B")
    floor.settled(royal, flush)
    assert floor.pay(flush, "cashier").status_code == 200
    before = floor.cents("multi")
    assert refused(floor.void("A", 1, floor.tick(), "shift", "pit")) == (409, "award_paid")
    assert floor.cents("multi") == before
    assert [floor.status(name) for name in (royal, flush)] == ["awarded", "paid"]
    floor.audit()


@pytest.mark.parametrize("declared_in_time", [True, False])
def test_a_void_is_judged_by_when_it_was_declared_and_not_by_its_arrival(
    casino: Open, declared_in_time: bool
) -> None:
    floor = casino()
    claim = paid_out(floor, "A")
    before = floor.tick()
    floor.bets("A")  # the next round has begun
    assert floor.sign("m") == (2_010_000, "running")
    at = before if declared_in_time else floor.tick()
    reply = floor.void("A", 1, at, "shift manager")
    if declared_in_time:
        assert reply.status_code == 200
        assert floor.status(claim) == "cancelled"
        assert floor.sign("m") == (10_020_000, "running")
    else:
        assert refused(reply) == (409, "round_stands")
        assert reply.json["errors"][0]["field"] == "voided_at"
        assert floor.status(claim) == "awarded"
        assert floor.sign("m") == (2_010_000, "running")
    floor.audit()


def test_what_a_meter_owes_is_the_houses_when_the_jackpot_is_won_first(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    owed = floor.bets("A")
    assert floor.void("A", owed).status_code == 200
    assert floor.cents("multi", "owed/m") == {"owed/m": -10_000}
    claim = floor.won("B", "royal_flush")  # B's own contribution repays what is owed
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.cents("multi", "owed/m") == {"owed/m": 0}
    later = floor.bets("A")
    assert floor.void("A", later).status_code == 200
    assert floor.cents("multi", "owed/m") == {"owed/m": -10_000}
    assert floor.verify(claim).status_code == 200
    floor.over("A", "B")
    assert floor.settled(claim) == [10_010_000]
    assert floor.cents("multi", "owed/m", "bets") == {"owed/m": 0, "bets": -10_000}
    floor.audit()


def test_a_round_voided_after_its_contribution_was_won_costs_the_house_and_not_the_sign(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    number = floor.bets("A")
    claim = paid_out_of_two(floor)
    assert floor.sign("m") == (2_000_000, "running")
    assert floor.void("A", number).status_code == 200
    assert floor.sign("m") == (2_000_000, "running")
    assert floor.cents("multi") == {
        "bets": -10_000,
        "meter/m": 2_000_000,
        "house": -10_000_000 - 2_000_000 - 10_000,
        f"payable/{claim}": 10_020_000,
    }
    floor.audit()


def paid_out_of_two(floor: Casino) -> str:
    """A royal of table B, settled while A has a round open later than it."""
    claim = floor.won("B", "royal_flush")
    assert floor.verify(claim).status_code == 200
    floor.close("B", 1)
    at = floor.tick()
    assert floor.beat("A", at, []).status_code == 200
    assert floor.settled(claim) == [10_020_000]
    return claim
