"""Single boxes whose bets go back: an invalidated hand neither wins, triggers nor receives."""

import pytest

from tests.wins.casino import AKQ_HEARTS, AKQ_SPADES, NOTHING, NOTHING_TOO, STRAIGHT, refused
from tests.wins.conftest import Open


def test_a_returned_box_before_the_result_loses_its_claim_and_its_contribution(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    for box in (1, 2):
        assert floor.win("A", number, at, "straight_flush", box).status_code == 201
        assert floor.verify(f"A.{number}.{box}").status_code == 200
    assert floor.return_box("A", number, 1).status_code == 200
    assert floor.return_box("A", number, 1).status_code == 200
    assert floor.status(f"A.{number}.1") == "cancelled"
    assert floor.sign("m") == (10_020_000, "won")
    assert floor.cents("multi", "owed/m", "bets") == {"owed/m": -10_000, "bets": -10_000}
    assert refused(floor.win("A", number, at, "royal_flush", 1)) == (409, "exists_with_different_body")
    assert floor.close("A", number).status_code == 200
    assert floor.settled(f"A.{number}.2") == [1_002_000]
    assert floor.cents("multi", "owed/m", "house") == {"owed/m": 0, "house": -10_010_000}
    floor.audit()


def test_a_box_returned_with_the_result_and_another_that_wins(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    assert floor.win("A", number, at, "straight_flush", 1).status_code == 201
    incident = {"what": "player_cards_wrong", "boxes": [1], "reconstructed": False}
    reply = floor.result("A", number, {2: ["QC", "KC", "AC"]}, at, incidents=[incident])
    assert reply.status_code == 200, reply.json
    assert floor.status(f"A.{number}.1") == "cancelled"
    assert floor.sign("m") == (10_020_000, "won")
    assert floor.verify(f"A.{number}.2").status_code == 200
    assert floor.settled(f"A.{number}.2") == [10_020_000]
    assert floor.sign("m") == (2_000_000, "running")
    assert floor.cents("multi", "owed/m", "house") == {"owed/m": 0, "house": -12_010_000}
    floor.audit()


@pytest.mark.parametrize("hand", [AKQ_SPADES, AKQ_HEARTS], ids=["major", "minor"])
def test_a_box_returned_after_the_result_gives_back_its_award_and_the_envy_for_it(
    casino: Open, hand: list[str]
) -> None:
    floor = casino()
    number = floor.bets("P", 3)
    at = floor.tick()
    assert floor.result("P", number, {1: hand, 2: NOTHING, 3: STRAIGHT}, at).status_code == 200
    claim, envy = f"P.{number}.1", [f"P.{number}.{box}.envy1" for box in (2, 3)]
    if hand == AKQ_SPADES:
        assert floor.verify(claim).status_code == 200
    floor.settled(claim, *envy)
    assert refused(floor.return_box("P", number, 1)) == (409, "award_made")
    assert floor.return_box("P", number, 1, "shift manager").status_code == 200
    assert [floor.status(name) for name in (claim, *envy)] == ["cancelled"] * 3
    assert floor.status(f"P.{number}.3") == "paid"  # the straight of box 3 has nothing to do with it
    assert floor.sign("t") == (500_225, "running")
    assert floor.cents("three") == {
        "bets": -1_000,
        "meter/t": 500_225,
        "owed/t": -75,
        "reserve/t": 30,
        "house": -500_000 + 2 * 410 - 1_500,
        "paid": 1_500,
    }
    floor.audit()


def test_a_returned_box_no_longer_receives_and_the_hand_keeps_its_award(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 3)
    at = floor.tick()
    assert floor.result("P", number, {1: AKQ_SPADES, 2: NOTHING, 3: NOTHING_TOO}, at).status_code == 200
    major, lost, kept = f"P.{number}.1", f"P.{number}.2.envy1", f"P.{number}.3.envy1"
    assert floor.return_box("P", number, 2).status_code == 200
    assert floor.status(lost) == "cancelled"
    assert floor.verify(major).status_code == 200
    assert floor.settled(major, kept) == [500_225, 25_000]
    assert floor.cents("three", f"payable/{lost}", f"payable/{kept}") == {
        f"payable/{lost}": 0,
        f"payable/{kept}": 25_000,
    }
    floor.audit()
