"""Two things at once: what happens between a look and a decision is never missed and never counted twice."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Disconnected
from sqlalchemy import select

from controller.ids import LinkId
from controller.jackpots.book import Decided
from controller.services.attending import Attending
from controller.store.connection import PinnedConnections
from controller.store.win_store import Address, Done, WinStore
from models.archive import balances
from models.ledger import AuditEntry
from tests.wins.casino import NOTHING, NOTHING_TOO, ROYAL, Casino
from tests.wins.conftest import Open

RETURN = {"reason": "house_decision", "decided_by": "shift", "note": "a spill"}
Act = Callable[[], Any]


def after_state(monkeypatch: pytest.MonkeyPatch, act: Act) -> None:
    """Let something happen once, right after this thread has read the link."""
    read, me = WinStore.state, threading.get_ident()
    waiting = [act]

    def state(self: WinStore, link: LinkId) -> Any:
        found = read(self, link)
        if threading.get_ident() == me and waiting:
            assert waiting.pop()().status_code in (200, 201, 202)
        return found

    monkeypatch.setattr(WinStore, "state", state)


def before_apply(monkeypatch: pytest.MonkeyPatch, kind: str, act: Act) -> None:
    """Let something happen once, right before a decision of this kind is made true."""
    apply = WinStore.apply
    waiting = [act]

    def wrapped(self: WinStore, address: Address, decided: Decided) -> Done | None:
        if decided.kind == kind and waiting:
            waiting.pop()()
        return apply(self, address, decided)

    monkeypatch.setattr(WinStore, "apply", wrapped)


def kinds(floor: Casino, link: str = "multi") -> list[str]:
    floor.quiet()
    with floor.parts.ledger.reading() as session:
        query = select(AuditEntry.kind).where(AuditEntry.link == link).order_by(AuditEntry.seq)
        return list(session.scalars(query))


def back(floor: Casino, number: int, box: int = 1) -> Any:
    return floor.post(f"/v1/tables/A/rounds/{number}/boxes/{box}/return", RETURN, "A")


def test_one_boxs_bets_go_back_once_however_its_requests_overlap(
    casino: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    after_state(monkeypatch, lambda: back(floor, number))
    assert back(floor, number).status_code == 200
    assert kinds(floor).count("box_returned") == 1
    assert balances(floor.parts.ledger, LinkId("multi"))["owed/m"] == -10_000 * 10**6
    floor.audit()


def test_a_void_takes_back_only_what_an_overlapping_return_left(
    casino: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = casino()
    number = floor.bets("A", 2)
    after_state(monkeypatch, lambda: back(floor, number))
    assert floor.void("A", number).status_code == 200
    held = balances(floor.parts.ledger, LinkId("multi"))
    assert (held["bets"], held["owed/m"]) == (0, -20_000 * 10**6)
    floor.audit()


def test_a_hand_that_is_taken_out_while_its_result_is_settled_wins_nothing(
    casino: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = casino()
    floor.measure("A")
    number = floor.bets("A", 2)
    dealt = floor.tick()
    after_state(monkeypatch, lambda: back(floor, number))
    assert floor.result("A", number, {1: ROYAL, 2: NOTHING}, dealt).status_code == 200
    assert floor.meter("m")["status"] == "running"
    assert floor.get("/v1/claims")["claims"] == []
    floor.audit()


def test_a_claim_that_a_result_overtakes_is_marked_as_contradicted(
    casino: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = casino()
    floor.measure("A")
    number = floor.bets("A")
    dealt = floor.tick()
    shows = {1: NOTHING}
    before_apply(monkeypatch, "claim_registered", lambda: floor.result("A", number, shows, dealt))
    reply = floor.win("A", number, dealt, "royal_flush")
    assert (reply.status_code, reply.json["claim"]["needs_house"]) == (201, ["contradicted"])
    floor.quiet()
    assert [a["subject"] for a in floor.get("/v1/alarms")["alarms"]] == [f"contradiction/A.{number}.1"]


def test_a_table_whose_bets_come_in_while_it_closes_stays(
    casino: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = casino()
    floor.measure("A", "B")
    before_apply(monkeypatch, "table_closed", lambda: floor.bets("B"))
    reply = floor.post("/v1/tables/B/close", None, "B")
    assert (reply.status_code, reply.json["code"]) == (409, "round_open")
    royal = floor.won("A", "royal_flush")
    floor.verify(royal)
    floor.close("A", 1)
    assert floor.waits(royal) == ["table: B"]


@pytest.mark.parametrize("kind", ["claim_registered", "claim_rejected", "order_decided", "claim_paid"])
def test_a_lost_reply_is_answered_as_what_was_done(
    casino: Open, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    floor = casino()
    floor.measure("A")
    number = floor.bets("A")
    dealt = floor.tick()
    claim = f"A.{number}.1"
    if kind != "claim_registered":
        assert floor.win("A", number, dealt, "straight_flush").status_code == 201
    if kind == "claim_paid":
        floor.verify(claim)
        floor.close("A", number)
        floor.settled(claim)
    once = PinnedConnections._once
    lost: list[str] = []

    def losing(self: PinnedConnections, words: tuple[str, ...]) -> object:
        reply = once(self, words)
        if kind in words and not lost:
            lost.append(kind)
            raise Disconnected("the reply was lost")
        return reply

    monkeypatch.setattr(PinnedConnections, "_once", losing)
    acts: dict[str, Act] = {
        "claim_registered": lambda: floor.win("A", number, dealt, "straight_flush"),
        "claim_rejected": lambda: floor.reject(claim),
        "order_decided": lambda: floor.order("multi", claim),
        "claim_paid": lambda: floor.pay(claim, "cashier", "pit"),
    }
    assert acts[kind]().status_code in (200, 201)
    assert lost == [kind]
    assert kinds(floor).count(kind) == 1


def test_a_rejected_claim_is_known_until_the_ledger_answers_for_its_round(casino: Open) -> None:
    floor = casino()
    floor.measure("A")
    number = floor.bets("A")
    dealt = floor.tick()
    floor.win("A", number, dealt, "royal_flush")
    floor.reject(f"A.{number}.1")
    floor.quiet()
    floor.bets("A")
    attending = Attending(floor.parts.deciding)
    for _ in range(2):  # before and after the round itself is let go of
        attending.forget(LinkId("multi"), floor.parts.store.released(LinkId("multi")))
        again = floor.win("A", number, dealt, "royal_flush")
        assert (again.status_code, again.json["claim"]["status"]) == (200, "rejected")
        floor.quiet()
    assert floor.meter("m")["status"] == "running"


def test_the_true_hand_can_be_claimed_after_a_rejected_miscall(casino: Open) -> None:
    floor = casino()
    floor.measure("A")
    number = floor.bets("A")
    dealt = floor.tick()
    floor.win("A", number, dealt, "royal_flush")
    floor.reject(f"A.{number}.1")
    reply = floor.win("A", number, dealt, "straight_flush")
    assert (reply.status_code, reply.json["claim"]["id"]) == (201, f"A.{number}.1.2")
    assert floor.win("A", number, dealt, "straight_flush").status_code == 200
    floor.verify(f"A.{number}.1.2")
    floor.close("A", number)
    assert floor.settled(f"A.{number}.1.2") == [1_001_000]
    floor.audit()


def test_a_claim_whose_registration_was_paid_on_cannot_be_rejected_without_undoing_that(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    a, b = floor.bets("A"), floor.bets("B")
    first, second = floor.tick(), floor.tick()
    floor.win("A", a, second, "straight_flush")  # dealt second, registered first
    floor.win("B", b, first, "royal_flush")
    floor.verify("A.1.1")
    floor.verify("B.1.1")
    floor.result("A", a, {1: NOTHING}, second)  # contradicts A's claim, which now waits for the House
    floor.close("B", b)
    floor.beats("A", "B")
    assert floor.settled("B.1.1") == [10_020_000]  # on A's registration
    reply = floor.reject("A.1.1")
    assert (reply.status_code, reply.json["code"]) == (409, "award_made")
    assert floor.undo("multi", "m", "shift", "pit").status_code == 200
    assert floor.reject("A.1.1").status_code == 200
    assert floor.order("multi", "B.1.1").status_code == 200
    assert floor.settled("B.1.1") == [10_020_000]
    floor.audit()


def test_settlements_are_undone_one_after_the_other(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    shown = []
    for table in ("A", "B"):
        claim = floor.won(table, "straight_flush")
        floor.verify(claim)
        floor.over("A", "B")
        shown.append(floor.settled(claim))
    assert floor.void("A", 1, None, "shift").status_code == 200  # B's settlement rests on A's
    assert floor.claim("A.1.1")["status"] == "cancelled"
    assert floor.settled("B.1.1") == [1_002_000]
    floor.audit()


def test_a_verified_fixed_award_needs_no_result_once_its_round_is_over(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    claim = f"A.{number}.1"
    assert floor.win("A", number, floor.tick(), "four_of_a_kind").status_code == 201
    floor.verify(claim)
    floor.close("A", number)
    assert floor.settled(claim) == [200_000]
    floor.audit()


def test_a_second_list_of_folds_pays_nobody_twice(casino: Open) -> None:
    floor = casino()
    floor.measure("P")
    number = floor.bets("P", 3)
    assert floor.win("P", number, floor.tick(), "akq_spades").status_code == 201
    floor.verify(f"P.{number}.1")
    folds = {"boxes": [3], "by": "supervisor"}
    path = f"/v1/tables/P/rounds/{number}/folds"
    assert floor.post(path, folds).status_code == 200
    envy = f"P.{number}.2.envy1"
    assert floor.settled(envy) == [25_000]
    assert floor.paid_at_table("P", envy, "dealer").status_code == 200
    floor.bets("P")
    floor.quiet()
    attending = Attending(floor.parts.deciding)
    attending.forget(LinkId("three"), floor.parts.store.released(LinkId("three")))
    assert floor.post(path, folds).status_code == 200
    floor.quiet()
    assert kinds(floor, "three").count("envy_awarded") == 1
    assert floor.claim(envy)["status"] == "paid"


def test_a_trigger_that_nobody_receives_for_is_no_contradiction(casino: Open) -> None:
    floor = casino()
    floor.measure("P")
    number = floor.bets("P", [{"box": 1, "progressive_cents": 0}, {"box": 2, "progressive_cents": 0}])
    dealt = floor.tick()
    reply = floor.win("P", number, dealt, "akq_spades")
    assert reply.json["claim"]["kind"] == "trigger"
    shows = {1: ["AS", "KS", "QS"], 2: NOTHING_TOO}
    assert floor.result("P", number, shows, dealt).status_code == 200
    floor.quiet()
    assert floor.get("/v1/alarms")["alarms"] == []


def test_an_undo_that_names_its_settlement_undoes_no_other(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    royal, flush = floor.dealt({"A": "royal_flush", "B": "straight_flush"})
    floor.over("A", "B")
    floor.settled(royal, flush)
    undo = {"by": ["shift", "pit"], "reason": "the cameras", "claims": [royal, flush]}
    for _ in range(2):  # the second is a copy
        assert floor.post("/v1/links/multi/meters/m/undo", undo).status_code == 200
    assert kinds(floor).count("settlement_undone") == 1
    assert floor.order("multi", flush, royal).status_code == 200
    corrected = floor.settled(royal, flush)
    late = floor.post("/v1/links/multi/meters/m/undo", undo)
    assert (late.status_code, late.json["code"]) == (409, "nothing_to_undo")
    assert floor.settled(royal, flush) == corrected
    floor.audit()
