"""Nothing missed: claims and results that come late, twice, in the wrong order, or say different things."""

from typing import Any

from controller.ids import LinkId
from controller.services.attending import Attending
from models.archive import alarm_subjects
from models.claims import awarded_since
from tests.wins.casino import AKQ_SPADES, FOUR_TENS, FULL_HOUSE, NOTHING, ROYAL, Casino, refused
from tests.wins.conftest import Open


def test_a_result_registers_a_win_that_nobody_claimed_and_says_so_until_a_person_has_seen_it(
    casino: Open,
) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    assert floor.result("A", number, {1: ROYAL, 2: NOTHING}, at).status_code == 200
    claim = f"A.{number}.1"
    assert floor.alarms() == {f"missed_win/{claim}"}
    assert floor.status(claim) == "registered"
    assert floor.sign("m") == (10_020_000, "won")
    # The table's claim comes after its result: it is the same claim.
    late = floor.win("A", number, at, "royal_flush")
    assert (late.status_code, late.json["claim"]["id"]) == (200, claim)
    assert floor.verify(claim).status_code == 200
    assert floor.settled(claim) == [10_020_000]
    assert floor.alarms() == {f"missed_win/{claim}"}
    floor.acknowledge(f"missed_win/{claim}")
    assert floor.alarms() == set()
    assert floor.postings("multi", f"payable/{claim}") == [10_020_000]
    floor.audit()


def test_a_claim_and_its_result_agree_and_nothing_happens_twice(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    body = {"box": 1, "dealt_at": floor.text("A", at), "cards": ROYAL, "community": ["TC", "JC"]}
    reply = floor.post(f"/v1/tables/A/rounds/{number}/wins", body, "A")
    assert (reply.status_code, reply.json["claim"]["hand"]) == (201, "royal_flush")
    assert floor.win("A", number, at, "royal_flush").status_code == 200
    assert floor.result("A", number, {1: ROYAL, 2: NOTHING}, at).status_code == 200
    claim = f"A.{number}.1"
    assert floor.claim(claim)["needs_house"] == []
    assert floor.verify(claim).status_code == 200
    assert floor.settled(claim) == [10_020_000]
    assert floor.alarms() == set()
    assert floor.get("/v1/claims")["claims"][0]["id"] == claim
    assert len(floor.get("/v1/claims")["claims"]) == 1
    floor.audit()


def test_cards_that_contradict_a_claim_alarm_people_and_the_house_decides(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    assert floor.win("A", number, at, "straight_flush").status_code == 201
    claim = f"A.{number}.1"
    assert floor.verify(claim).status_code == 200
    floor.bets("B")
    assert floor.result("A", number, {1: ROYAL, 2: NOTHING}, at).status_code == 200
    assert floor.alarms() == {f"contradiction/{claim}"}
    # One box, two hands: which of them counts is the House's to say.
    assert floor.claim(claim)["needs_house"] == ["contradicted", "order"]
    assert "house: contradicted" in floor.waits(claim)
    assert floor.sign("m") == (10_020_000, "won")
    # The House believes the cards: the claim goes, and the hand is worth what was there when they were read.
    assert floor.reject(claim).status_code == 200
    assert floor.sign("m") == (10_030_000, "won")
    assert floor.verify(f"{claim}.cards").status_code == 200
    floor.close("B", 1)
    floor.post("/v1/tables/B/close", None, "B")
    assert floor.settled(f"{claim}.cards") == [10_030_000]
    assert floor.sign("m") == (2_000_000, "running")
    floor.acknowledge(f"contradiction/{claim}")
    assert floor.alarms() == set()
    floor.audit()


def test_a_claim_whose_cards_win_nothing_freezes_until_the_house_has_decided(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    at = floor.tick()
    assert floor.win("A", number, at, "royal_flush").status_code == 201
    claim = f"A.{number}.1"
    assert floor.verify(claim).status_code == 200
    assert floor.result("A", number, {1: NOTHING}, at).status_code == 200
    assert floor.waits(claim) == ["house: contradicted"]
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.alarms() == {f"contradiction/{claim}"}
    assert floor.reject(claim).status_code == 200
    assert floor.sign("m") == (10_010_000, "running")
    floor.audit()


def test_a_folded_progressive_of_tcp_wins_nothing_whatever_was_claimed(casino: Open) -> None:
    floor = casino()
    number = floor.bets("P", 2)
    at = floor.tick()
    assert floor.win("P", number, at, "akq_spades").status_code == 201
    assert floor.result("P", number, {1: AKQ_SPADES, 2: NOTHING}, at, folded=(1,)).status_code == 200
    assert floor.alarms() == {f"contradiction/P.{number}.1"}
    assert floor.waits(f"P.{number}.1") == ["verification", "house: contradicted"]
    assert floor.get("/v1/claims?kind=envy")["claims"] == []
    floor.audit()


def test_a_claim_after_a_result_that_shows_no_such_hand_is_taken_and_alarms(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    at = floor.tick()
    assert floor.result("A", number, {1: NOTHING}, at).status_code == 200
    reply = floor.win("A", number, at, "royal_flush")
    assert (reply.status_code, reply.json["claim"]["needs_house"]) == (201, ["contradicted"])
    claim = f"A.{number}.1"
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.waits(claim) == ["verification", "house: contradicted"]
    assert floor.alarms() == {f"contradiction/{claim}"}
    assert floor.verify(claim).status_code == 200
    assert floor.waits(claim) == ["house: contradicted"]
    # The House may believe the table: its word is conclusive.
    assert floor.order("multi", claim, reason="the reader was covered").status_code == 200
    assert floor.settled(claim) == [10_010_000]
    assert floor.alarms() == {f"contradiction/{claim}"}
    floor.audit()


def test_a_claim_and_a_result_that_disagree_about_the_deal_time_alarm_in_either_order(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    at = floor.tick()
    assert floor.win("A", number, at, "royal_flush").status_code == 201
    first = f"A.{number}.1"
    assert floor.result("A", number, {1: ROYAL}, at + 0.001).status_code == 200
    assert floor.alarms() == {f"deal_time_differs/{first}"}
    assert floor.waits(first) == ["verification", "house: contradicted"]
    assert floor.verify(first).status_code == 200
    assert floor.waits(first) == ["house: contradicted"]
    assert floor.order("multi", first).status_code == 200
    assert floor.settled(first) == [10_010_000]
    floor.acknowledge(f"deal_time_differs/{first}")

    number = floor.bets("A")
    at = floor.tick()
    assert floor.result("A", number, {1: ROYAL}, at).status_code == 200
    second = f"A.{number}.1"
    refused = floor.win("A", number, at + 0.001, "royal_flush")
    assert (refused.status_code, refused.json["code"]) == (409, "exists_with_different_body")
    assert refused.json["claim"]["id"] == second
    assert floor.alarms() == {f"missed_win/{second}", f"deal_time_differs/{second}"}
    assert floor.win("A", number, at, "straight_flush").status_code == 409
    assert f"contradiction/{second}" in floor.alarms()
    floor.audit()


def test_fixed_awards_need_the_result_and_no_order(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    floor.bets("B")  # holds majors of A, and no fixed award
    number = floor.bets("A", 2)
    at = floor.tick()
    assert floor.win("A", number, at, "four_of_a_kind").status_code == 201
    four, full = f"A.{number}.1", f"A.{number}.2"
    assert floor.waits(four) == []
    assert floor.sign("m") == (10_030_000, "running")
    reply = floor.result("A", number, {1: FOUR_TENS, 2: ["JD", "JH", "2C"]}, at)
    assert reply.status_code == 200
    assert floor.settled(four) == [200_000]
    assert floor.claim(four)["status"] == "awarded"
    assert floor.get(f"/v1/claims/{full}")["code"] == "claim_unknown"  # three jacks and a ten pay nothing
    assert floor.pay(four, "cashier").status_code == 200
    assert floor.cents("multi", "house", "paid", f"payable/{four}") == {
        "house": -10_200_000,
        "paid": 200_000,
        f"payable/{four}": 0,
    }
    assert floor.alarms() == set()
    floor.audit()


def test_a_fixed_award_of_a_round_without_a_result_needs_a_supervisor(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    for box, hand in ((1, "four_of_a_kind"), (2, "full_house")):
        assert floor.win("A", number, at, hand, box).status_code == 201
    four, full = f"A.{number}.1", f"A.{number}.2"
    assert floor.verify(four).status_code == 200
    assert (floor.status(four), floor.status(full)) == ("verified", "registered")
    assert floor.close("A", number).status_code == 200
    assert floor.settled(four) == [200_000]
    assert floor.status(full) == "registered"
    assert floor.verify(full).status_code == 200
    assert floor.settled(full) == [20_000]
    assert floor.cents("multi", "house", "paid", f"payable/{four}") == {
        "house": -10_220_000,
        "paid": 20_000,
        f"payable/{four}": 200_000,
    }
    floor.audit()


def test_a_rejected_miscall_does_not_stand_in_the_way_of_the_true_hand(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    at = floor.tick()
    assert floor.win("A", number, at, "royal_flush").status_code == 201
    miscalled = f"A.{number}.1"
    assert refused(floor.win("A", number, at, "straight_flush")) == (409, "exists_with_different_body")
    assert floor.reject(miscalled).status_code == 200
    replies = [floor.win("A", number, at, "straight_flush") for _ in range(2)]
    assert [reply.status_code for reply in replies] == [201, 200]
    true = replies[0].json["claim"]["id"]
    assert replies[1].json["claim"]["id"] == true != miscalled
    assert floor.win("A", number, at, "royal_flush").json["claim"]["status"] == "rejected"
    assert floor.verify(true).status_code == 200
    assert floor.result("A", number, {1: ["7C", "8C", "9C"]}, at).status_code == 200
    assert floor.settled(true) == [1_001_000]
    assert floor.alarms() == set()
    floor.audit()


def test_small_fixed_awards_are_paid_by_the_dealer_with_the_round(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    assert floor.result("A", number, {1: FULL_HOUSE}, floor.tick()).status_code == 200
    claim = f"A.{number}.1"
    assert floor.status(claim) == "paid"
    assert floor.claim(claim)["paid_by"] == ["table A"]
    assert floor.postings("multi", f"payable/{claim}") == []
    assert floor.cents("multi", "house", "paid") == {"house": -10_020_000, "paid": 20_000}
    assert floor.beat("A", floor.tick()).json["payouts"] == []
    floor.audit()


def test_a_result_that_comes_after_its_claim_was_paid_pays_nothing_again(casino: Open) -> None:
    floor = casino(verification="not_required")
    first = floor.won("A", "royal_flush")
    at = floor.claim(first)["dealt_at"]
    assert floor.close("A", 1).status_code == 200
    assert floor.settled(first) == [10_010_000]
    assert floor.pay(first, "cashier", "shift manager").status_code == 200
    for _ in range(2):  # the meter is won and settled again, and the store lets go of the first claim
        again = floor.won("A", "straight_flush")
        assert floor.close("A", floor.rounds["A"]).status_code == 200
        floor.settled(again)
        assert floor.pay(again, "cashier").status_code == 200
        floor.worker.once()
    row = {"box": 1, "cards": ROYAL, "decision": "play", "dealt_at": at}
    body = {"dealer": ["2D", "7H", "9S"], "community": ["TC", "JC"], "boxes": [row]}
    assert floor.post("/v1/tables/A/rounds/1/result", body, "A").status_code == 200
    assert floor.status(first) == "paid"
    assert floor.sign("m")[1] == "running"
    assert floor.postings("multi", f"payable/{first}") == [10_010_000, -10_010_000]
    assert floor.alarms() == set()
    floor.audit()


def test_a_table_that_reconnects_with_an_old_win_is_paid_what_is_then_shown_and_is_flagged(
    casino: Open,
) -> None:
    floor = casino(hold_limit_seconds=0)
    floor.measure("A", "B")
    old = floor.bets("A")
    at = floor.tick()
    royal = floor.won("B", "royal_flush")
    assert floor.verify(royal).status_code == 200
    assert floor.close("B", 1).status_code == 200
    assert floor.waits(royal) == ["table: A"]
    assert floor.proceed("multi", "A").status_code == 200
    assert floor.settled(royal) == [10_020_000]
    floor.bets("B")
    reply = floor.win("A", old, at, "royal_flush")
    claim = reply.json["claim"]
    assert (reply.status_code, claim["late"]) == (201, True)
    assert floor.sign("m") == (2_010_000, "won")
    assert floor.verify(claim["id"]).status_code == 200
    floor.over("A", "B")
    assert floor.settled(claim["id"]) == [2_010_000]
    assert floor.claim(claim["id"])["late"] is True
    assert floor.claim(royal)["late"] is False
    assert floor.sign("m") == (2_000_000, "running")
    assert floor.cents("multi", "house") == {"house": -14_000_000}
    floor.audit()


def test_a_win_in_a_tables_next_round_is_not_late(casino: Open) -> None:
    floor = casino(verification="not_required")
    floor.measure("A")
    for hand, amount in (("royal_flush", 10_010_000), ("straight_flush", 201_000)):
        claim = floor.won("A", hand)
        assert floor.close("A", floor.rounds["A"]).status_code == 200
        assert floor.settled(claim) == [amount]
        assert floor.claim(claim)["late"] is False
    floor.audit()


def outage(floor: Casino, claim: str, began: float) -> Any:
    """The House declares that a hand was dealt during a fault."""
    body = {"began_at": floor.text("", began), "by": "shift manager", "reason": "the meter's line was down"}
    return floor.post(f"/v1/claims/{claim}/outage", body)


def test_a_hand_dealt_during_an_outage_is_paid_on_the_value_registered_before_it(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    number = floor.bets("A")
    began = floor.tick()
    floor.bets("B")
    floor.bets("B")
    assert floor.win("A", number, floor.tick(), "royal_flush").status_code == 201
    claim = f"A.{number}.1"
    assert floor.sign("m") == (10_030_000, "won")
    assert floor.verify(claim).status_code == 200
    assert outage(floor, claim, -3600).json["code"] == "claim_state_wrong"  # there was no meter yet
    assert outage(floor, claim, began).status_code == 200
    assert floor.meter("m")["next_cents"] == 2_020_000
    floor.over("A", "B")
    assert floor.settled(claim) == [10_010_000]
    assert floor.sign("m") == (2_020_000, "running")
    assert outage(floor, claim, began).json["code"] == "claim_state_wrong"
    floor.audit()


def test_the_house_bears_what_the_meter_lacks_for_a_hand_dealt_during_an_outage(casino: Open) -> None:
    floor = casino(hold_limit_seconds=0)
    floor.measure("A", "B")
    old, number = floor.bets("A"), floor.bets("B")
    began = floor.tick()
    at = floor.tick()
    royal = f"B.{number}.1"
    assert floor.win("B", number, floor.tick(), "royal_flush").status_code == 201
    assert floor.verify(royal).status_code == 200
    assert floor.close("B", 1).status_code == 200
    assert floor.proceed("multi", "A").status_code == 200
    assert floor.settled(royal) == [10_020_000]
    late = floor.win("A", old, at, "royal_flush").json["claim"]["id"]
    after = outage(floor, late, floor.tick())
    assert refused(after) == (409, "claim_state_wrong")  # a hand that was dealt before the fault
    assert outage(floor, late, began).status_code == 200
    assert floor.verify(late).status_code == 200
    floor.over("A", "B")
    assert floor.settled(late) == [10_020_000]
    assert floor.claim(late)["shown_cents"] == 2_000_000
    assert floor.sign("m") == (2_000_000, "running")
    assert floor.cents("multi") == {
        "bets": -20_000,
        "meter/m": 2_000_000,
        "house": -10_000_000 - 2_000_000 - (10_020_000 - 2_000_000) - 2_000_000,
        f"payable/{royal}": 10_020_000,
        f"payable/{late}": 10_020_000,
    }
    floor.audit()


def test_an_award_that_nobody_pays_raises_an_alarm(casino: Open) -> None:
    floor = casino(unpaid_alarm_seconds=0, verification="not_required")
    claim = floor.won("A", "straight_flush")
    assert floor.close("A", 1).status_code == 200
    floor.settled(claim)
    attending = Attending(floor.parts.deciding)
    for _ in range(2):  # once: whoever has seen it is not told again
        raised = alarm_subjects(floor.parts.ledger, "multi", "unpaid/")
        attending.watch(LinkId("multi"), awarded_since(floor.parts.ledger)["multi"], raised)
        assert floor.alarms() == ({f"unpaid/{claim}"} if not raised else set())
        if not raised:
            floor.acknowledge(f"unpaid/{claim}")
    assert floor.pay(claim, "cashier", "shift manager").status_code == 200
    assert awarded_since(floor.parts.ledger) == {}
    floor.audit()
