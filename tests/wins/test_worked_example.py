"""The worked example of docs/wins.md: both orders of the deal, both orders of arrival, the same money."""

import pytest

from tests.wins.conftest import Open


@pytest.mark.parametrize("straight_flush_first", [True, False])
@pytest.mark.parametrize("arrives_in_deal_order", [True, False])
def test_the_worked_example(casino: Open, straight_flush_first: bool, arrives_in_deal_order: bool) -> None:
    floor = casino()
    floor.measure("A", "B", "C")
    numbers = {"A": floor.bets("A"), "B": floor.bets("B")}
    shown = 10_020_000
    assert floor.meter("m")["displayed_cents"] == shown
    tables = ["A", "B"] if straight_flush_first else ["B", "A"]
    dealt = {table: floor.tick() for table in tables}
    hands = {"A": "straight_flush", "B": "royal_flush"}
    first, second = tables if arrives_in_deal_order else tables[::-1]
    assert floor.win(first, numbers[first], dealt[first], hands[first]).status_code == 201
    for _ in range(3):
        floor.bets("C")
    frozen = floor.meter("m")
    assert (frozen["displayed_cents"], frozen["status"]) == (shown, "won")
    assert floor.win(second, numbers[second], dealt[second], hands[second]).status_code == 201
    claims = {table: f"{table}.{numbers[table]}.1" for table in "AB"}
    for table in "AB":
        assert floor.verify(claims[table]).status_code == 200
        assert floor.close(table, numbers[table]).status_code == 200
    # Nobody has heard of B since its bets were closed: an earlier hand of it could still turn up.
    assert floor.claim(claims["A"])["waits_for"] == ["table: B"]
    floor.close("C", floor.rounds["C"])
    floor.beats("A", "B", "C")
    amounts = dict(zip("AB", floor.settled(claims["A"], claims["B"]), strict=True))
    if straight_flush_first:
        # 10% of what was shown, then all of the rest and what had accrued by the second claim.
        assert amounts == {"A": 1_002_000, "B": shown - 1_002_000 + 30_000}
        assert floor.meter("m")["displayed_cents"] == 2_000_000
    else:
        assert amounts == {"A": 203_000, "B": shown}
        assert floor.meter("m")["displayed_cents"] == 2_030_000 - 203_000
    assert floor.meter("m")["status"] == "running"
    floor.audit()
