"""Envy bonuses (TCP 4.7, 4.8): who triggers, who receives, what they wait for, and that each is paid once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.wins.casino import (
    AKQ_HEARTS,
    AKQ_SPADES,
    NOTHING,
    NOTHING_TOO,
    STRAIGHT,
    Box,
    Casino,
)
from tests.wins.conftest import Open

THREE = {1: AKQ_SPADES, 2: NOTHING, 3: NOTHING_TOO}


def named(*players: str | None, without: tuple[int, ...] = ()) -> list[Box]:
    """Boxes of these players; those in `without` have no progressive bet."""
    rows: list[Box] = []
    for box, player in enumerate(players, 1):
        row: Box = {"box": box} | ({"player": player} if player else {})
        rows.append(row | ({"progressive_cents": 0} if box in without else {}))
    return rows


def bonuses(floor: Casino) -> dict[str, tuple[str, int]]:
    """Every envy award: its status and amount."""
    floor.worker.once()
    floor.quiet()
    found = floor.get("/v1/claims?kind=envy")["claims"]
    return {item["id"]: (item["status"], item["amount_cents"]) for item in found}


def test_a_top_hand_with_only_an_ante_freezes_nothing_and_pays_envy_once_it_is_verified(casino: Open) -> None:
    floor = casino()
    floor.measure("P", "Q")
    floor.bets("Q")  # an open round of another table, which a trigger does not wait for
    number = floor.bets("P", named("x", "y", "z", without=(1,)))
    at = floor.tick()
    reply = floor.win("P", number, at, "akq_spades")
    claim = reply.json["claim"]
    assert (reply.status_code, claim["kind"], claim["status"]) == (201, "trigger", "registered")
    assert (claim["amount_cents"], claim["meter"], claim["waits_for"]) == (None, None, [])
    assert floor.sign("t") == (500_225, "running")
    assert floor.result("P", number, THREE, at).status_code == 200
    waiting = {f"P.{number}.{box}.envy1": ("registered", 25_000) for box in (2, 3)}
    assert bonuses(floor) == waiting
    assert floor.verify(claim["id"]).status_code == 200
    assert floor.settled(*waiting) == [25_000, 25_000]
    assert floor.sign("t") == (500_225, "running")
    assert floor.status(claim["id"]) == "verified"
    assert floor.cents("three", "house", f"payable/{claim['id']}") == {
        "house": -500_000 + 3 * 410 - 50_000,
        f"payable/{claim['id']}": 0,
    }
    assert floor.alarms() == set()
    floor.audit()


def test_a_top_hand_with_only_an_ante_is_found_by_the_result_alone(casino: Open) -> None:
    floor = casino(verification="not_required")
    number = floor.bets("P", named("x", "y", "z", without=(1,)))
    assert floor.result("P", number, THREE, floor.tick()).status_code == 200
    assert floor.settled(*(f"P.{number}.{box}.envy1" for box in (2, 3))) == [25_000, 25_000]
    assert floor.claim(f"P.{number}.1")["kind"] == "trigger"
    assert floor.sign("t") == (500_150, "running")
    floor.audit()


def test_a_top_hand_that_nobody_receives_for_is_no_contradiction(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", named("x", without=(1,)))
    at = floor.tick()
    assert floor.win("P", number, at, "akq_spades").status_code == 201
    assert floor.result("P", number, {1: AKQ_SPADES}, at).status_code == 200
    assert floor.alarms() == set()
    assert bonuses(floor) == {}
    floor.audit()


def test_a_hand_without_an_ante_is_refused_and_one_that_triggers_nothing_too(casino: Open) -> None:
    floor = casino()
    boxes = [*named("x", "y"), {"box": 3, "ante_cents": 0, "pair_plus_cents": 500, "progressive_cents": 0}]
    number = floor.bets("P", [*boxes, {"box": 4, "progressive_cents": 0}])
    at = floor.tick()
    for box, hand in ((3, "akq_spades"), (4, "straight")):
        reply = floor.win("P", number, at, hand, box)
        assert (reply.status_code, reply.json["code"]) == (422, "not_eligible")
        assert reply.json["errors"][0]["field"] == "box"
    assert floor.get("/v1/claims")["claims"] == []
    floor.audit()


def test_a_players_own_boxes_receive_nothing_for_his_hand(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", named("x", "x", "z"))
    assert floor.result("P", number, THREE, floor.tick()).status_code == 200
    assert floor.verify(f"P.{number}.1").status_code == 200
    assert floor.settled(f"P.{number}.1", f"P.{number}.3.envy1") == [500_225, 25_000]
    assert set(bonuses(floor)) == {f"P.{number}.3.envy1"}
    floor.audit()


@pytest.mark.parametrize("unnamed", [1, 3], ids=["the hand", "a receiver"])
def test_an_unnamed_box_waits_for_the_supervisors_word(casino: Open, unnamed: int) -> None:
    floor = casino()
    players: list[str | None] = ["x", "y", "z"]
    players[unnamed - 1] = None
    number = floor.bets("P", named(*players))
    assert floor.result("P", number, THREE, floor.tick()).status_code == 200
    assert floor.verify(f"P.{number}.1").status_code == 200
    second, third = f"P.{number}.2.envy1", f"P.{number}.3.envy1"
    floor.settled(f"P.{number}.1")
    waiting = {third} | ({second} if unnamed == 1 else set())
    for name, (status, _) in bonuses(floor).items():
        assert status == ("registered" if name in waiting else "awarded")
    assert floor.verify(third).status_code == 200
    assert floor.verify(third).status_code == 200
    assert floor.settled(third) == [25_000]
    if unnamed == 1:
        # The supervisor finds the same player behind the other box: no bonus for his own hand.
        assert floor.reject(second).status_code == 200
        assert floor.status(second) == "rejected"
        assert floor.postings("three", f"payable/{second}") == []
    floor.audit()


def test_a_folded_box_neither_receives_nor_triggers(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 4)
    hands = {1: AKQ_SPADES, 2: NOTHING, 3: NOTHING_TOO, 4: AKQ_HEARTS}
    reply = floor.result("P", number, hands, floor.tick(), folded=(2, 4))
    assert reply.status_code == 200
    assert floor.verify(f"P.{number}.1").status_code == 200
    floor.settled(f"P.{number}.1")
    assert bonuses(floor) == {f"P.{number}.3.envy1": ("awarded", 25_000)}
    floor.audit()


def test_two_top_hands_give_two_bonuses_and_a_fixed_awards_needs_no_further_word(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 3)
    hands = {1: AKQ_SPADES, 2: AKQ_HEARTS, 3: NOTHING}
    assert floor.result("P", number, hands, floor.tick()).status_code == 200
    major, minor = f"P.{number}.1", f"P.{number}.2"
    fifty = [f"P.{number}.{box}.envy2" for box in (1, 3)]
    assert floor.settled(minor, *fifty) == [125_000, 5_000, 5_000]
    large = {f"P.{number}.{box}.envy1" for box in (2, 3)}
    assert {name for name, (status, _) in bonuses(floor).items() if status == "registered"} == large
    assert floor.verify(major).status_code == 200
    assert floor.settled(major, *sorted(large)) == [500_225, 25_000, 25_000]
    assert floor.cents("three", "house") == {
        "house": -500_000 + 3 * 410 - (100_000 - 45) - 125_000 - 10_000 - 50_000
    }
    floor.audit()


def test_a_rejected_hand_pays_no_envy_before_or_after_its_verification(casino: Open) -> None:
    floor = casino()
    for verified_first in (False, True):
        number = floor.bets("P", 3)
        assert floor.result("P", number, THREE, floor.tick()).status_code == 200
        claim, envy = f"P.{number}.1", [f"P.{number}.{box}.envy1" for box in (2, 3)]
        if verified_first:
            floor.bets("Q")  # an open round keeps the hand from being settled, but not its envy
            assert floor.verify(claim).status_code == 200
            floor.settled(*envy)
        assert floor.reject(claim).status_code == 200
        assert [floor.status(name) for name in (claim, *envy)] == ["rejected", "cancelled", "cancelled"]
        for name in envy:
            assert floor.postings("three", f"payable/{name}") == ([25_000, -25_000] if verified_first else [])
    assert floor.sign("t")[1] == "running"
    floor.audit()


def test_a_hand_rejected_before_its_cards_were_read_pays_no_envy_until_people_agree(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 3)
    at = floor.tick()
    assert floor.win("P", number, at, "akq_spades").status_code == 201
    claim = f"P.{number}.1"
    assert floor.reject(claim).status_code == 200
    assert floor.sign("t") == (500_225, "running")
    assert floor.result("P", number, THREE, at).status_code == 200
    # The cards say that the supervisor was wrong: an alarm, a claim of its own, and envy that goes with it.
    assert floor.alarms() == {f"contradiction/{claim}"}
    assert floor.status(claim) == "rejected"
    assert {status for status, _ in bonuses(floor).values()} == {"registered"}
    assert floor.sign("t") == (500_225, "won")
    assert floor.verify(f"{claim}.cards").status_code == 200
    envy = [f"P.{number}.{box}.envy1" for box in (2, 3)]
    assert floor.settled(f"{claim}.cards", *envy) == [500_225, 25_000, 25_000]
    floor.audit()


def test_a_voided_round_pays_no_envy(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", named("x", "y", "z", without=(1,)))
    assert floor.result("P", number, THREE, floor.tick()).status_code == 200
    assert floor.void("P", number).status_code == 200
    assert [floor.status(f"P.{number}.{name}") for name in ("1", "2.envy1", "3.envy1")] == ["cancelled"] * 3
    refused = floor.verify(f"P.{number}.1")
    assert (refused.status_code, refused.json["code"]) == (409, "claim_state_wrong")
    assert bonuses(floor) == {f"P.{number}.{box}.envy1": ("cancelled", 25_000) for box in (2, 3)}
    assert floor.postings("three", f"payable/P.{number}.2.envy1") == []
    floor.audit()


def test_each_envy_award_is_in_the_ledger_once_whatever_is_repeated(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 7)
    at = floor.tick()
    low = [["2S", "5D", "8H"], ["3S", "6D", "TH"], ["2H", "6C", "9D"], ["3D", "7C", "JH"], ["4S", "8D", "QC"]]
    hands = {1: AKQ_SPADES, 2: AKQ_HEARTS} | {box: low[box - 3] for box in range(3, 8)}
    replies = [floor.result("P", number, hands, at) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert replies[0].json == replies[1].json
    assert floor.verify(f"P.{number}.1").status_code == 200
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(floor.worker.once) for _ in range(8)]:
            done.result()
    names = [f"P.{number}.{box}.envy{hand}" for hand in (1, 2) for box in range(1, 8) if box != hand]
    assert floor.settled(*names) == [25_000] * 6 + [5_000] * 6
    assert set(bonuses(floor)) == set(names)
    assert [floor.postings("three", f"payable/{name}") for name in names] == [[25_000]] * 6 + [[5_000]] * 6
    assert floor.kinds("three").count("envy_awarded") == 12
    first = names[0]
    assert [floor.paid_at_table("P", first, "dealer").status_code for _ in range(2)] == [200, 200]
    assert floor.postings("three", f"payable/{first}") == [25_000, -25_000]
    assert floor.status(first) == "paid"
    other = floor.paid_at_table("Q", names[1], "dealer")
    assert (other.status_code, other.json["code"]) == (403, "not_permitted")
    payouts = floor.beat("P", floor.tick()).json["payouts"]
    assert {item["claim"] for item in payouts} == {f"P.{number}.1", f"P.{number}.2", *names[1:]}
    floor.audit()


def test_a_supervisors_list_of_folds_stands_in_for_a_result_that_comes_later(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 4)
    at = floor.tick()
    assert floor.win("P", number, at, "akq_spades").status_code == 201
    body = {"boxes": [2], "by": "supervisor"}
    path = f"/v1/tables/P/rounds/{number}/folds"
    assert [floor.post(path, body).status_code for _ in range(2)] == [200, 200]
    assert floor.verify(f"P.{number}.1").status_code == 200
    envy = [f"P.{number}.{box}.envy1" for box in (3, 4)]
    assert floor.settled(*envy) == [25_000, 25_000]
    hands = {1: AKQ_SPADES, 2: NOTHING, 3: NOTHING_TOO, 4: STRAIGHT}
    assert floor.result("P", number, hands, at, folded=(2,)).status_code == 200
    assert floor.settled(f"P.{number}.1") == [500_300]
    assert [floor.postings("three", f"payable/{name}") for name in envy] == [[25_000], [25_000]]
    assert set(bonuses(floor)) == set(envy)
    assert floor.alarms() == set()
    floor.audit()
