"""What only people decide: orders that clocks leave open, silent tables, undoing, outages, payments."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from models.ledger import AuditEntry
from tests.wins.casino import ROYAL, Casino, refused
from tests.wins.conftest import Open


def overlapping(floor: Casino, gap: float, tables: str = "AB") -> list[str]:
    """Claims that were dealt so close that the clocks do not order them: the last is a royal."""
    for table in tables:
        floor.bets(table)
    at = floor.tick()
    for place, table in enumerate(tables):
        hand = "royal_flush" if table == tables[-1] else "straight_flush"
        assert floor.win(table, 1, at + place * gap, hand).status_code == 201
        assert floor.verify(f"{table}.1.1").status_code == 200
    return [f"{table}.1.1" for table in tables]


def decision(floor: Casino, kind: str) -> dict[str, Any]:
    """The facts of the last decision of a kind in the audit log."""
    floor.quiet()
    query = select(AuditEntry.facts).where(AuditEntry.kind == kind).order_by(AuditEntry.seq.desc())
    with floor.parts.ledger.reading() as session:
        facts: dict[str, Any] = msgspec.json.decode(session.scalars(query).first() or "{}")
        return facts


@pytest.mark.parametrize("royal_first", [True, False])
def test_hands_within_the_clocks_error_are_never_ordered_silently(casino: Open, royal_first: bool) -> None:
    floor = casino()
    floor.measure("A", "B", error_us=1000)
    flush, royal = overlapping(floor, 0.0005)
    for claim in (flush, royal):
        assert floor.claim(claim)["needs_house"] == ["order"]
    order = [royal, flush] if royal_first else [flush, royal]
    assert floor.order("multi", *order).status_code == 200
    # The House's word is conclusive about the order, and waives nothing else.
    assert floor.waits(order[0]) == ["table: A", "table: B"]
    floor.over("A", "B")
    if royal_first:
        assert floor.settled(royal, flush) == [10_020_000, 200_000]
    else:
        assert floor.settled(royal, flush) == [9_018_000, 1_002_000]
    facts = decision(floor, "order_decided")
    assert (facts["by"], facts["reason"]) == (["shift manager"], "by the cameras")
    assert facts["detail"]["order"] == order
    floor.audit()


def test_nothing_is_settled_while_an_order_is_open(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B", "C")
    first = floor.won("C", "straight_flush")  # dealt well before the others: no doubt about its place
    assert floor.verify(first).status_code == 200
    flush, royal = overlapping(floor, 0.0005)
    floor.over("A", "B", "C")
    assert floor.settled(first) == [1_001_000]
    assert floor.waits(flush) == floor.waits(royal) == ["house: order"]
    assert floor.sign("m") == (10_030_000 - 1_001_000, "won")
    assert [hand["table"] for hand in floor.meter("m")["pending"]] == ["A", "B"]  # the proposal
    before = floor.kinds("multi")
    for wrong in ([royal], [royal, royal], [flush, royal, flush]):
        reply = floor.order("multi", *wrong)
        assert refused(reply) == (422, "order_wrong")
        assert reply.json["errors"][0]["field"] == "claims"
    assert refused(floor.order("multi", royal, first)) == (422, "order_wrong")
    assert refused(floor.order("multi", royal, "A.9.1")) == (404, "claim_unknown")
    assert floor.order("multi", flush, royal, reason="").json["errors"][0]["field"] == "reason"
    assert floor.kinds("multi") == before
    assert floor.order("multi", flush, royal).status_code == 200
    assert floor.settled(flush, royal) == [902_900, 8_126_100]
    floor.audit()


def test_the_whole_overlapping_group_goes_to_the_house_and_a_newcomer_opens_it_again(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B", "C", error_us=1000)
    floor.bets("C")
    flush, royal = overlapping(floor, 0.0005)
    assert floor.order("multi", royal, flush).status_code == 200
    assert floor.claim(royal)["needs_house"] == []
    dealt = floor.claim(flush)["dealt_at"]
    body = {"box": 1, "dealt_at": dealt, "hand": "straight_flush"}
    assert floor.post("/v1/tables/C/rounds/1/wins", body, "C").status_code == 201
    for claim in (flush, royal, "C.1.1"):
        assert floor.claim(claim)["needs_house"] == ["order"]
    assert floor.verify("C.1.1").status_code == 200
    floor.over("A", "B", "C")
    assert floor.waits(royal) == ["house: order"]
    assert floor.order("multi", royal, "C.1.1", flush).status_code == 200
    assert floor.settled(royal, "C.1.1", flush) == [10_030_000, 200_000, 180_000]
    floor.audit()


@pytest.mark.parametrize("measured", [True, False])
def test_with_ten_seconds_of_doubt_only_the_house_orders(casino: Open, measured: bool) -> None:
    floor = casino()
    if measured:
        floor.measure("A", "B", error_us=10_000_000)
    flush, royal = overlapping(floor, 0.002)
    doubts = ["bets_after_deal", "order"] if measured else ["order"]
    assert [floor.claim(name)["needs_house"] for name in (flush, royal)] == [doubts, doubts]
    for table in "AB":
        assert floor.close(table, 1).status_code == 200
    assert floor.order("multi", flush, royal).status_code == 200
    # Neither table can vouch for the last ten seconds: each holds the other's claim until it has closed.
    assert floor.waits(flush) == ["table: B"]
    assert floor.waits(royal) == ["table: A"]
    assert floor.post("/v1/tables/A/close", None, "A").status_code == 200
    assert floor.waits(flush) == ["table: B"]
    assert floor.post("/v1/tables/B/close", None, "B").status_code == 200
    assert floor.settled(flush, royal) == [1_002_000, 9_018_000]
    floor.audit()


def test_drifting_clocks_are_corrected_before_hands_are_ordered(casino: Open) -> None:
    floor = casino()
    floor.clock = {"A": 7_000_000, "B": -3_000_000}
    floor.measure("A", "B")
    clock = floor.beat("A", floor.tick()).json["clock"]
    assert clock == {"offset_micros": 7_000_000, "uncertainty_micros": 1_000}
    flush, royal = floor.dealt({"A": "straight_flush", "B": "royal_flush"})
    assert [floor.claim(name)["needs_house"] for name in (flush, royal)] == [[], []]
    floor.over("A", "B")
    assert floor.settled(flush, royal) == [1_002_000, 9_018_000]
    floor.audit()


def test_the_house_may_want_to_confirm_every_order_between_tables(casino: Open) -> None:
    floor = casino(cross_table_order="confirmed")
    floor.measure("A", "B")
    flush, royal = floor.dealt({"A": "straight_flush", "B": "royal_flush"})
    floor.over("A", "B")
    assert floor.waits(flush) == floor.waits(royal) == ["house: order"]
    assert floor.order("multi", flush, royal).status_code == 200
    assert floor.settled(flush, royal) == [1_002_000, 9_018_000]
    alone = floor.won("A", "royal_flush")  # there is no order to confirm
    assert floor.verify(alone).status_code == 200
    floor.over("A", "B")
    assert floor.settled(alone) == [2_010_000]
    floor.audit()


@pytest.mark.parametrize("seconds", [-60, 60])
def test_an_implausible_deal_time_freezes_and_goes_to_the_house(casino: Open, seconds: int) -> None:
    floor = casino()
    floor.measure("A")
    number = floor.bets("A")
    reply = floor.win("A", number, floor.tick() + seconds, "royal_flush")
    assert reply.status_code == 201
    assert "implausible_time" in reply.json["claim"]["needs_house"]
    claim = f"A.{number}.1"
    assert floor.sign("m") == (10_010_000, "won")
    assert floor.verify(claim).status_code == 200
    floor.over("A")
    assert "house: implausible_time" in floor.waits(claim)
    assert floor.order("multi", claim).status_code == 200
    assert floor.settled(claim) == [10_010_000]
    floor.audit()


def test_the_house_goes_on_without_a_silent_table_only_after_the_hold_limit(casino: Open) -> None:
    floor = casino(hold_limit_seconds=1)
    floor.measure("A", "B")
    floor.bets("A")
    royal = floor.won("B", "royal_flush")
    assert floor.verify(royal).status_code == 200
    assert floor.close("B", 1).status_code == 200
    assert refused(floor.proceed("multi", "A")) == (409, "hold_limit_not_reached")
    assert refused(floor.proceed("multi", "B")) == (409, "table_holds_nothing")
    assert refused(floor.proceed("multi", "Z")) == (409, "table_holds_nothing")
    assert floor.waits(royal) == ["table: A"]
    time.sleep(1.1)
    assert floor.waits(royal) == ["table: A"]  # time alone settles nothing
    assert floor.proceed("multi", "A").status_code == 200
    assert floor.settled(royal) == [10_020_000]
    facts = decision(floor, "table_released")
    assert (facts["by"], facts["reason"]) == (["shift manager"], "its line is down")
    assert facts["detail"]["held"] == [royal]
    floor.audit()


def test_two_people_undo_a_settlement_and_the_house_settles_again_in_the_true_order(casino: Open) -> None:
    floor = casino()
    floor.measure("E", "F", "J")
    royal, flush = floor.dealt({"E": "royal_flush", "F": "straight_flush"})
    floor.over("E", "F")
    floor.beats("J")
    assert floor.settled(royal, flush) == [10_018_000, 200_000]
    floor.bets("J")
    assert floor.sign("c") == (1_809_000, "running")
    before = floor.cents("capped")
    for alone in (["shift manager"], ["shift manager", "shift manager"]):
        reply = floor.undo("capped", "c", *alone)
        assert (*refused(reply), reply.json["errors"][0]["field"]) == (422, "second_person_needed", "by")
    assert refused(floor.undo("capped", "m", "a", "b")) == (404, "meter_unknown")
    assert refused(floor.undo("multi", "m", "a", "b")) == (409, "nothing_to_undo")
    assert floor.cents("capped") == before
    assert floor.undo("capped", "c", "shift manager", "pit manager").status_code == 200
    assert floor.sign("c") == (10_018_000, "won")
    assert floor.cents("capped", "house", "reserve/c", "meter/c", f"payable/{royal}") == {
        "house": -10_000_000,
        "reserve/c": 3_000,
        "meter/c": 10_027_000,
        f"payable/{royal}": 0,
    }
    assert floor.waits(royal) == floor.waits(flush) == ["house: settlement_undone"]
    floor.over("J")
    assert floor.order("capped", flush, royal).status_code == 200
    assert floor.settled(flush, royal) == [1_001_800, 9_016_200]
    assert floor.sign("c") == (2_009_000, "running")
    assert floor.cents("capped", "house", "reserve/c") == {"house": -11_997_000, "reserve/c": 0}
    assert floor.pay(flush, "cashier", "shift manager").status_code == 200
    assert refused(floor.undo("capped", "c", "a", "b")) == (409, "award_paid")
    floor.audit()


def test_awards_are_paid_by_named_people_two_of_them_above_the_threshold_and_after_notice(
    casino: Open,
) -> None:
    floor = casino(notice_from_cents=9_000_000)
    floor.measure("A", "B")
    flush, royal = floor.dealt({"A": "straight_flush", "B": "royal_flush"})
    early = floor.pay(royal, "cashier", "shift manager", notice="R-1")
    assert refused(early) == (409, "claim_state_wrong")
    floor.over("A", "B")
    assert floor.settled(flush, royal) == [1_002_000, 9_018_000]
    for people in (["cashier"], ["cashier", "cashier"]):
        reply = floor.pay(flush, *people)
        assert (*refused(reply), reply.json["errors"][0]["field"]) == (422, "second_person_needed", "by")
    assert floor.status(flush) == "awarded"
    assert [floor.pay(flush, "cashier", "shift manager").status_code for _ in range(2)] == [200, 200]
    assert refused(floor.pay(flush, "cashier", "another")) == (409, "claim_state_wrong")
    reply = floor.pay(royal, "cashier", "shift manager")
    assert (*refused(reply), reply.json["errors"][0]["field"]) == (422, "notice_needed", "notice")
    assert floor.pay(royal, "cashier", "shift manager", notice="R-1").status_code == 200
    assert decision(floor, "claim_paid")["detail"] == {"notice": "R-1"}
    assert floor.claim(royal)["paid_by"] == ["cashier", "shift manager"]
    assert floor.cents("multi", "paid", f"payable/{flush}", f"payable/{royal}") == {
        "paid": 10_020_000,
        f"payable/{flush}": 0,
        f"payable/{royal}": 0,
    }
    assert floor.kinds("multi").count("claim_paid") == 2
    floor.audit()


def test_repeated_words_change_nothing_and_different_ones_are_refused(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    at = floor.tick()
    first, second = f"A.{number}.1", f"A.{number}.2"
    replies = [floor.win("A", number, at, "royal_flush") for _ in range(3)]
    assert [reply.status_code for reply in replies] == [201, 200, 200]
    assert replies[1].json["claim"] == replies[2].json["claim"]
    assert floor.win("A", number, at, "straight_flush", 2).status_code == 201
    for changed in (
        floor.win("A", number, at, "straight_flush"),
        floor.win("A", number, at + 1, "royal_flush"),
    ):
        assert refused(changed) == (409, "exists_with_different_body")
        assert changed.json["claim"]["hand"] == "royal_flush"
    assert [floor.verify(first).status_code for _ in range(2)] == [200, 200]
    assert refused(floor.verify(first, by="somebody else")) == (409, "claim_state_wrong")
    assert [floor.reject(second).status_code for _ in range(2)] == [200, 200]
    body = {"by": "supervisor", "reason": "another reason"}
    assert refused(floor.post(f"/v1/claims/{second}/reject", body)) == (409, "claim_state_wrong")
    assert refused(floor.verify(second)) == (409, "claim_state_wrong")
    assert floor.win("A", number, at, "straight_flush", 2).json["claim"]["status"] == "rejected"
    assert floor.close("A", number).status_code == 200
    assert floor.settled(first) == [10_020_000]
    assert refused(floor.reject(first)) == (409, "claim_state_wrong")
    assert refused(floor.verify("A.7.1")) == (404, "claim_unknown")
    assert refused(floor.verify("NOWHERE.1.1")) == (404, "claim_unknown")
    kinds = floor.kinds("multi")
    counted = {kind: kinds.count(kind) for kind in kinds if kind.startswith("claim_")}
    assert counted == {"claim_registered": 2, "claim_verified": 1, "claim_rejected": 1}
    floor.audit()


def test_the_same_words_on_several_connections_at_once_are_taken_once(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    body = {"box": 1, "dealt_at": floor.text("A", floor.tick()), "hand": "royal_flush"}

    def claimed(_: int) -> int:
        headers = {"Authorization": f"Bearer {floor.keys['A']}"}
        client = floor.client.application.test_client()
        return client.post(f"/v1/tables/A/rounds/{number}/wins", json=body, headers=headers).status_code

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(claimed, range(6))) == [200] * 5 + [201]
    assert floor.kinds("multi").count("claim_registered") == 1
    assert floor.sign("m") == (10_010_000, "won")
    floor.audit()


def test_what_is_wrong_with_a_request_is_named_and_nothing_changes(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    claim = floor.win("A", number, floor.tick(), "royal_flush").json["claim"]["id"]
    before = floor.kinds("multi")
    wins = f"/v1/tables/A/rounds/{number}/wins"
    at = floor.text("A", floor.tick())
    cases: list[tuple[str, object, str, int, str, str]] = [
        (wins, {"box": 5, "dealt_at": at, "hand": "royal_flush"}, "A", 422, "box_without_bets", "box"),
        (wins, {"box": 2, "dealt_at": at, "hand": "pair"}, "A", 422, "hand_pays_nothing", "hand"),
        (wins, {"box": 2, "dealt_at": at}, "A", 422, "cards_wrong", "cards"),
        (wins, {"box": 2, "dealt_at": at, "cards": ROYAL}, "A", 422, "cards_wrong", "community"),
        (
            wins,
            {"box": 2, "dealt_at": at, "cards": ["TC", "QC", "KC"], "community": ["TC", "JC"]},
            "A",
            422,
            "card_repeated",
            "cards",
        ),
        (wins, {"box": 2, "dealt_at": "noon", "hand": "royal_flush"}, "A", 400, "body_invalid", "dealt_at"),
        (f"/v1/claims/{claim}/verify", {}, "operator", 400, "body_invalid", "by"),
        (f"/v1/claims/{claim}/reject", {"by": "s"}, "operator", 400, "body_invalid", "reason"),
        (f"/v1/claims/{claim}/pay", {"by": []}, "operator", 400, "body_invalid", "by"),
        (
            f"/v1/claims/{claim}/outage",
            {"by": "s", "reason": "r"},
            "operator",
            400,
            "body_invalid",
            "began_at",
        ),
        ("/v1/links/multi/proceed", {"table": "A", "by": "s"}, "operator", 400, "body_invalid", "reason"),
        (
            "/v1/tables/A/suspend",
            {"state": "off", "by": "s", "reason": "r"},
            "operator",
            400,
            "body_invalid",
            "state",
        ),
    ]
    for path, body, key, status, code, field in cases:
        reply = floor.post(path, body, key)
        assert (*refused(reply), reply.json["errors"][0]["field"]) == (status, code, field), path
    assert refused(floor.win("A", 99, 0, "royal_flush")) == (404, "round_unknown")
    for path in (f"/v1/claims/{claim}/verify", "/v1/links/multi/order", "/v1/tables/A/suspend"):
        assert refused(floor.post(path, {}, "A")) == (403, "not_permitted")
    assert refused(floor.post(wins, {}, "B")) == (403, "not_permitted")
    assert floor.kinds("multi") == before
    assert floor.sign("m") == (10_020_000, "won")
    floor.audit()
