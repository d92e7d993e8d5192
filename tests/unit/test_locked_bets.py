"""What a round's bets must satisfy, what is returned, and what makes two requests the same."""

import msgspec
import pytest

from controller.betting.locked_bets import lock_bets
from controller.betting.messages import Facts
from controller.errors import Code, Refused
from tests.support.floors import bets, small_floor

FLOOR = small_floor()
TABLE = FLOOR.tables_by_id["T-1"]
NTP = FLOOR.tables_by_id["N-1"]


def facts(boxes: list[dict[str, object]]) -> Facts:
    return msgspec.json.decode(lock_bets(FLOOR, TABLE, 1, bets(boxes)).facts_text, type=Facts)


def refusal(boxes: list[dict[str, object]], table: str = "T-1") -> list[tuple[str, Code]]:
    with pytest.raises(Refused) as refused:
        lock_bets(FLOOR, FLOOR.tables_by_id[table], 1, bets(boxes))
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_tcp_5_4_a_progressive_bet_without_an_ante_is_returned() -> None:
    found = facts(
        [
            {"box": 1, "ante_cents": 1000, "progressive_cents": 500},
            {"box": 2, "pair_plus_cents": 1000, "progressive_cents": 500},
            {"box": 3, "ante_cents": 0, "progressive_cents": 500},
        ]
    )
    assert found.progressive_boxes == [1]
    assert [(r.box, r.amount_cents, r.rule) for r in found.returned] == [
        (2, 500, "TCP 5.4"),
        (3, 500, "TCP 5.4"),
    ]


def test_antes_that_no_box_reports_are_presumed_placed() -> None:
    found = facts([{"box": 1, "progressive_cents": 500}, {"box": 4, "progressive_cents": 500}])
    assert (found.progressive_boxes, found.returned) == ([1, 4], [])


def test_one_reported_ante_of_zero_is_a_report() -> None:
    found = facts([{"box": 1, "ante_cents": 0, "progressive_cents": 500}])
    assert (found.progressive_boxes, [r.box for r in found.returned]) == ([], [1])


@pytest.mark.parametrize(
    ("boxes", "expected"),
    [
        ([{"box": 8}], [("boxes[0].box", Code.BOX_UNKNOWN)]),
        ([{"box": 1}, {"box": 1}], [("boxes[1].box", Code.BOX_REPEATED)]),
        (
            [{"box": 1, "progressive_cents": 501}],
            [("boxes[0].progressive_cents", Code.PROGRESSIVE_AMOUNT_WRONG)],
        ),
        (
            [{"box": 1, "bets": [{"player": "a", "seated": True}]}],
            [("boxes[0].bets", Code.BET_KIND_WRONG)],
        ),
        (
            [{"box": 9, "progressive_cents": 1}, {"box": 9}],
            [
                ("boxes[0].box", Code.BOX_UNKNOWN),
                ("boxes[0].progressive_cents", Code.PROGRESSIVE_AMOUNT_WRONG),
                ("boxes[1].box", Code.BOX_UNKNOWN),
                ("boxes[1].box", Code.BOX_REPEATED),
            ],
        ),
    ],
)
def test_every_problem_is_named_by_its_field(
    boxes: list[dict[str, object]], expected: list[tuple[str, Code]]
) -> None:
    assert refusal(boxes) == expected


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ({"box": 1}, [("boxes[0].bets", Code.BET_KIND_WRONG)]),
        (
            {"box": 1, "ante_cents": 5, "bets": [{"player": "a", "seated": True}]},
            [("boxes[0].ante_cents", Code.BET_KIND_WRONG)],
        ),
        (
            {"box": 1, "progressive_cents": 5, "bets": [{"player": "a", "seated": True}]},
            [("boxes[0].progressive_cents", Code.PROGRESSIVE_NOT_OFFERED)],
        ),
    ],
)
def test_ntp_boxes_carry_a_list_of_bets(box: dict[str, object], expected: list[tuple[str, Code]]) -> None:
    assert refusal([box], "N-1") == expected


@pytest.mark.parametrize("instant", ["1969-12-31T23:59:59Z", "9999-06-01T00:00:00Z"])
def test_an_instant_out_of_range_is_refused(instant: str) -> None:
    with pytest.raises(Refused, match="instant"):
        lock_bets(FLOOR, TABLE, 1, bets([{"box": 1}], instant))


def test_the_order_of_boxes_and_the_time_zone_do_not_make_another_body() -> None:
    one = bets([{"box": 1}, {"box": 2, "player": "x"}], "2026-01-01T08:00:00+08:00")
    two = bets([{"box": 2, "player": "x"}, {"box": 1}], "2026-01-01T00:00:00.000000Z")
    three = bets([{"box": 2, "player": "y"}, {"box": 1}], "2026-01-01T00:00:00.000000Z")
    hashes = [lock_bets(FLOOR, TABLE, 1, body).body_hash for body in (one, two, three)]
    assert hashes[0] == hashes[1] != hashes[2]
