"""Claims from their registration to their award: who is paid what, what the sign shows, who bears it."""

from itertools import permutations

import pytest

from tests.wins.casino import AKQ_SPADES, STRAIGHT, refused
from tests.wins.conftest import Open


def test_a_rejected_claim_takes_its_registration_out_and_the_next_is_worth_what_came_in_since(
    casino: Open,
) -> None:
    floor = casino()
    floor.measure("A", "B", "C")
    false = floor.won("A", "royal_flush")
    assert floor.sign("m") == (10_010_000, "won")
    floor.bets("C")
    true = floor.won("B", "royal_flush")
    assert floor.sign("m") == (10_010_000, "won")
    floor.bets("C")  # what comes in after the true claim is for the next cycle
    assert floor.reject(false).status_code == 200
    assert floor.sign("m") == (10_030_000, "won")
    assert [hand["table"] for hand in floor.meter("m")["pending"]] == ["B"]
    assert floor.meter("m")["next_cents"] == 2_010_000
    assert floor.verify(true).status_code == 200
    floor.over("A", "B", "C")
    assert floor.settled(true) == [10_030_000]
    assert floor.status(false) == "rejected"
    assert floor.sign("m") == (2_010_000, "running")
    assert floor.cents("multi", f"payable/{false}", f"payable/{true}", "meter/m") == {
        f"payable/{false}": 0,
        f"payable/{true}": 10_030_000,
        "meter/m": 2_010_000,
    }
    floor.audit()


def test_with_no_claim_left_the_meter_runs_on_as_if_it_had_never_been_frozen(casino: Open) -> None:
    floor = casino()
    first = floor.won("A", "royal_flush")
    floor.bets("C")
    second = floor.won("B", "straight_flush")
    floor.bets("C")
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.reject(second).status_code == 200
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.reject(first).status_code == 200
    assert floor.sign("m") == (10_040_000, "running")
    assert floor.meter("m")["pending"] == []
    floor.bets("C")
    assert floor.sign("m") == (10_050_000, "running")
    assert floor.cents("multi", "meter/m", "house") == {"meter/m": 10_050_000, "house": -10_000_000}
    floor.audit()


@pytest.mark.parametrize("frozen", [True, False])
def test_a_capped_meter_runs_on_as_if_it_had_never_been_frozen(casino: Open, frozen: bool) -> None:
    """One bet brings 9,000 to the meter and 1,000 to its reserve; the cap is 27,000 above the opening."""
    floor = casino()
    floor.measure("E", "F", "J")
    false = floor.won("E", "royal_flush") if frozen else f"E.{floor.bets('E')}.1"
    floor.bets("J")
    floor.bets("J")
    other = floor.won("F", "straight_flush") if frozen else f"F.{floor.bets('F')}.1"
    floor.bets("J")
    if frozen:
        assert floor.sign("c") == (10_009_000, "won")
        assert floor.cents("capped", "meter/c", "overflow/c") == {"meter/c": 10_045_000, "overflow/c": 0}
        assert floor.reject(false).status_code == 200
        # The freeze moves to the second claim: by then the meter would have been at its cap.
        assert floor.sign("c") == (10_027_000, "won")
        assert floor.reject(other).status_code == 200
    assert floor.sign("c") == (10_027_000, "running")
    assert floor.cents("capped") == {
        "bets": -50_000,
        "meter/c": 10_027_000,
        "overflow/c": 18_000,
        "reserve/c": 5_000,
        "house": -10_000_000,
    }
    floor.audit()


def test_the_true_claim_on_a_capped_meter_is_worth_no_more_than_the_cap(casino: Open) -> None:
    floor = casino()
    floor.measure("E", "F", "J")
    false = floor.won("E", "royal_flush")
    floor.bets("J")
    floor.bets("J")
    true = floor.won("F", "royal_flush")
    assert floor.reject(false).status_code == 200
    assert floor.verify(true).status_code == 200
    floor.over("E", "F", "J")
    assert floor.settled(true) == [10_027_000]
    # 9,000 had passed the cap and flow into the new cycle; its reset comes from the reserve first.
    assert floor.sign("c") == (2_009_000, "running")
    assert floor.cents("capped") == {
        "bets": -40_000,
        "meter/c": 2_009_000,
        "house": -10_000_000 - 1_996_000,
        f"payable/{true}": 10_027_000,
    }
    floor.audit()


@pytest.mark.parametrize("straight_flush_first", [True, False])
def test_a_straight_flush_during_a_royals_freeze_on_a_capped_meter(
    casino: Open, straight_flush_first: bool
) -> None:
    floor = casino()
    floor.measure("E", "F", "J")
    numbers = {"E": floor.bets("E"), "F": floor.bets("F")}
    order = "EF" if straight_flush_first else "FE"
    dealt = {table: floor.tick() for table in order}
    assert floor.win("F", numbers["F"], dealt["F"], "royal_flush").status_code == 201
    floor.bets("J")
    floor.bets("J")
    assert floor.win("E", numbers["E"], dealt["E"], "straight_flush").status_code == 201
    royal, flush = f"F.{numbers['F']}.1", f"E.{numbers['E']}.1"
    for claim in (royal, flush):
        assert floor.verify(claim).status_code == 200
    floor.over("E", "F", "J")
    amounts = floor.settled(royal, flush)
    # While frozen, 18,000 came in and no cap held them. The reserve of four bets is spent on the reset.
    if straight_flush_first:
        assert amounts == [10_018_000 - 1_001_800 + 18_000, 1_001_800]
        assert floor.sign("c") == (2_000_000, "running")
    else:
        assert amounts == [10_018_000, 201_800]
        assert floor.sign("c") == (2_018_000 - 201_800, "running")
    assert floor.cents("capped", "reserve/c", "overflow/c", "house") == {
        "reserve/c": 0,
        "overflow/c": 0,
        "house": -10_000_000 - 1_996_000,
    }
    floor.audit()


def test_what_passed_the_cap_flows_into_the_next_cycle(casino: Open) -> None:
    floor = casino()
    floor.measure("E", "F", "J")
    for _ in range(4):
        floor.bets("J")
    assert floor.sign("c") == (10_027_000, "running")
    assert floor.cents("capped", "overflow/c", "reserve/c") == {"overflow/c": 9_000, "reserve/c": 4_000}
    royal = floor.won("E", "royal_flush")
    assert floor.sign("c") == (10_027_000, "won")
    assert floor.meter("c")["next_cents"] == 2_018_000
    floor.bets("J")
    assert floor.verify(royal).status_code == 200
    floor.over("E", "J")
    floor.post("/v1/tables/F/close", None, "F")
    assert floor.settled(royal) == [10_027_000]
    assert floor.sign("c") == (2_000_000 + 18_000 + 9_000, "running")
    assert floor.cents("capped") == {
        "bets": -60_000,
        "meter/c": 2_027_000,
        "house": -10_000_000 - 1_994_000,
        f"payable/{royal}": 10_027_000,
    }
    floor.audit()


@pytest.mark.parametrize("arrivals", list(permutations("ABC")), ids="".join)
def test_three_claims_are_paid_the_same_in_whatever_order_they_arrive(
    casino: Open, arrivals: tuple[str, ...]
) -> None:
    floor = casino()
    floor.measure("A", "B", "C", "D")
    hands = {"A": "royal_flush", "B": "straight_flush", "C": "straight_flush"}
    claims = {table: f"{table}.{floor.bets(table)}.1" for table in hands}
    dealt = {table: floor.tick() for table in "ABC"}
    for table in arrivals:
        assert floor.win(table, 1, dealt[table], hands[table]).status_code == 201
        floor.bets("D")
        assert floor.sign("m") == (10_030_000, "won")
    assert [hand["table"] for hand in floor.meter("m")["pending"]] == ["A", "B", "C"]
    for claim in reversed(claims.values()):
        assert floor.verify(claim).status_code == 200
    floor.over("A", "B", "C", "D")
    # 10,000 came in before the second registration, 10,000 before the third, 10,000 after it.
    assert floor.settled(*claims.values()) == [10_030_000, 201_000, 181_900]
    assert floor.sign("m") == (2_000_000 + 10_000 - 201_000 + 10_000 - 181_900 + 10_000, "running")
    floor.audit()


def test_a_claim_behind_an_unverified_one_waits(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    first = floor.won("A", "straight_flush")
    second = floor.won("B", "straight_flush")
    assert floor.verify(second).status_code == 200
    floor.over("A", "B")
    assert floor.waits(first) == ["verification"]
    floor.worker.once()
    assert floor.cents("multi", f"payable/{second}") == {f"payable/{second}": 0}
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.verify(first).status_code == 200
    assert floor.settled(first, second) == [1_001_000, 901_900]
    assert floor.sign("m") == (10_020_000 - 1_001_000 - 901_900, "running")
    floor.audit()


def test_a_hand_is_paid_on_the_first_registration_though_another_made_it_and_still_waits(
    casino: Open,
) -> None:
    floor = casino()
    floor.measure("A", "B", "C")
    first = floor.bets("A")
    at = floor.tick()
    second = floor.bets("B")  # closed after A's deal: it cannot bring an earlier hand
    assert floor.win("B", second, floor.tick(), "straight_flush").status_code == 201
    floor.bets("C")
    assert floor.win("A", first, at, "royal_flush").status_code == 201
    royal, flush = f"A.{first}.1", f"B.{second}.1"
    for claim in (royal, flush):
        assert floor.verify(claim).status_code == 200
    assert floor.close("A", first).status_code == 200
    assert floor.settled(royal) == [10_020_000]
    assert floor.sign("m") == (2_010_000, "won")
    # Without B's registration the royal would have been worth more: that award must be undone first.
    assert refused(floor.reject(flush)) == (409, "award_made")
    assert floor.undo("multi", "m", "shift manager", "pit manager").status_code == 200
    assert floor.reject(flush).status_code == 200
    assert floor.sign("m") == (10_030_000, "won")
    assert floor.order("multi", royal).status_code == 200
    assert floor.settled(royal) == [10_030_000]
    assert floor.sign("m") == (2_000_000, "running")
    assert floor.postings("multi", f"payable/{royal}") == [10_020_000, -10_020_000, 10_030_000]
    floor.audit()


def test_where_no_verification_is_required_a_claim_is_settled_by_itself(casino: Open) -> None:
    floor = casino(verification="not_required")
    claim = floor.won("A", "royal_flush")
    assert floor.close("A", 1).status_code == 200
    assert floor.settled(claim) == [10_010_000]
    assert floor.claim(claim)["verified_by"] is None
    assert floor.sign("m") == (2_000_000, "running")
    floor.audit()


def test_equal_hands_of_one_round_share_where_the_policy_says_so(casino: Open) -> None:
    floor = casino(same_round="share")
    number = floor.bets("A", 4)
    at = floor.tick()
    hands = {1: "straight_flush", 2: "straight_flush", 3: "straight_flush", 4: "royal_flush"}
    for box, hand in hands.items():
        assert floor.win("A", number, at, hand, box).status_code == 201
    claims = [f"A.{number}.{box}" for box in hands]
    for claim in claims[:-1]:
        assert floor.verify(claim).status_code == 200
    assert floor.close("A", number).status_code == 200
    assert floor.verify(claims[-1]).status_code == 200
    third = 1_004_000 // 3  # two cents do not divide: they stay in the meter, and the royal gets them
    assert floor.settled(*claims) == [third, third, third, 10_040_000 - 3 * third]
    assert floor.sign("m") == (2_000_000, "running")
    floor.audit()


def test_signs_announce_what_comes_after_hands_that_share(casino: Open) -> None:
    floor = casino(same_round="share", verification="not_required")
    number = floor.bets("A", 2)
    at = floor.tick()
    for box in (1, 2):
        assert floor.win("A", number, at, "royal_flush", box).status_code == 201
        floor.bets("B")
    announced = floor.meter("m")["next_cents"]
    floor.close("A", number)
    floor.post("/v1/tables/B/rounds/2/close", None, "B")
    floor.post("/v1/tables/B/close", None, "B")
    assert floor.settled(f"A.{number}.1", f"A.{number}.2") == [5_010_000, 5_010_000]
    assert floor.sign("m") == (2_020_000, "running")
    assert announced == 2_020_000
    floor.audit()


def test_hands_of_one_round_are_paid_one_after_the_other_by_default(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    for box in (2, 1):
        assert floor.win("A", number, at, "straight_flush", box).status_code == 201
        assert floor.verify(f"A.{number}.{box}").status_code == 200
    assert floor.close("A", number).status_code == 200
    assert floor.settled(f"A.{number}.1", f"A.{number}.2") == [1_002_000, 901_800]
    floor.audit()


def test_a_partial_award_is_topped_up_to_the_reset_value_where_the_policy_says_so(casino: Open) -> None:
    floor = casino(floor="reset")
    royal = floor.won("E", "royal_flush")
    assert floor.verify(royal).status_code == 200
    assert floor.close("E", 1).status_code == 200
    assert floor.settled(royal) == [10_009_000]
    assert floor.cents("capped", "house") == {"house": -10_000_000 - 1_999_000}
    number = floor.bets("E", 2)
    flush = f"E.{number}.1"
    assert floor.win("E", number, floor.tick(), "straight_flush").status_code == 201
    assert floor.verify(flush).status_code == 200
    assert floor.close("E", number).status_code == 200
    assert floor.settled(flush) == [201_800]
    # 2,018,000 less the award is 1,816,200: 2,000 from the reserve, the rest from the house.
    assert floor.sign("c") == (2_000_000, "running")
    assert floor.cents("capped", "reserve/c", "house") == {
        "reserve/c": 0,
        "house": -10_000_000 - 1_999_000 - (183_800 - 2_000),
    }
    floor.audit()


def test_fixed_awards_funded_by_the_meter_are_ordered_like_majors(casino: Open) -> None:
    floor = casino()
    floor.measure("G", "H")
    first = floor.won("G", "akq_other_suit")
    assert floor.sign("g") == (200_500, "won")
    second = floor.won("H", "akq_other_suit")
    for claim in (first, second):
        assert floor.verify(claim).status_code == 200
    floor.over("G", "H")
    assert floor.settled(first, second) == [150_000, 150_000]
    # The meter had 51,000 left for the second, and no reset follows: nobody won all of it.
    assert floor.sign("g") == (0, "running")
    assert floor.cents("gtp") == {
        "bets": -2_000,
        "house": -200_000 + 1_000 - 99_000 - 2_000,
        f"payable/{first}": 151_000,
        f"payable/{second}": 151_000,
    }
    floor.audit()


def test_the_wager_is_returned_with_every_progressive_win_of_gtp(casino: Open) -> None:
    floor = casino(hand_pay_from_cents=100_000)
    number = floor.bets("G", 3)
    at = floor.tick()
    hands = {1: AKQ_SPADES, 2: ["5D", "6D", "7D"], 3: STRAIGHT}
    reply = floor.result("G", number, hands, at, dealer=["2D", "7H", "9S"])
    assert reply.status_code == 200, reply.json
    major, odds, fixed = (f"G.{number}.{box}" for box in hands)
    assert floor.verify(major).status_code == 200
    assert floor.settled(major) == [201_500]
    assert floor.sign("g") == (100_000, "running")
    views = [floor.claim(name) for name in (major, odds, fixed)]
    assert [view["status"] for view in views] == ["awarded", "awarded", "paid"]
    assert [(view["amount_cents"], view["wager_cents"]) for view in views] == [
        (201_500, 1_000),
        (100_000, 1_000),
        (1_500, 1_000),
    ]
    payouts = floor.beat("G", floor.tick()).json["payouts"]
    assert {item["claim"]: item["amount_cents"] for item in payouts} == {major: 202_500, odds: 101_000}
    assert floor.cents("gtp") == {
        "bets": -3_000,
        "meter/g": 100_000,
        "house": -200_000 + 1_500 - 100_000 - 1_000 - 101_000 - 2_500,
        f"payable/{major}": 202_500,
        f"payable/{odds}": 101_000,
        "paid": 2_500,
    }
    # What the dealer paid with the round is paid; larger awards are paid by a named person.
    refused = floor.paid_at_table("G", odds, "dealer")
    assert (refused.status_code, refused.json["code"]) == (403, "not_permitted")
    assert floor.pay(odds, "cashier").status_code == 200
    assert floor.claim(odds)["paid_by"] == ["cashier"]
    assert floor.cents("gtp", "paid", f"payable/{odds}") == {"paid": 103_500, f"payable/{odds}": 0}
    floor.audit()
