"""Clocks that are wrong, set, replaced or absurd: nothing is settled too early, nothing waits for ever."""

from datetime import datetime, timedelta

import pytest

from tests.wins.casino import Casino
from tests.wins.conftest import Open


def royal_of_a(floor: Casino, number: int) -> str:
    claim = f"A.{number}.1"
    assert floor.win("A", number, floor.tick(), "royal_flush").status_code == 201
    floor.verify(claim)
    floor.close("A", number)
    return claim


@pytest.mark.parametrize("measured_before", [True, False])
def test_a_clock_in_the_future_lets_nobody_pass(casino: Open, measured_before: bool) -> None:
    floor = casino()
    floor.measure("A", *(["B"] if measured_before else []))
    number = floor.bets("A")
    floor.clock["B"] = -60_000_000  # set a minute ahead
    floor.bets("B")
    assert floor.waits(royal_of_a(floor, number)) == ["table: B"]


def test_a_heartbeat_from_the_future_does_not_silence_the_table(casino: Open) -> None:
    floor = casino()
    floor.measure("A")
    floor.beat("A", 86_400 * 365)
    assert floor.beat("A", floor.tick()).json["taken"] is True


def test_a_replaced_device_has_no_clock_yet(casino: Open) -> None:
    floor = casino()
    floor.measure("A")
    assert floor.beat("A", floor.tick()).json["clock"] is not None
    assert floor.post("/v1/tables/A/open", None, "A").status_code == 200
    assert floor.beat("A", floor.tick()).json["clock"] is None


def test_a_clock_is_less_sure_the_longer_ago_it_was_measured(casino: Open) -> None:
    floor = casino()
    floor.measure("A", error_us=100)
    number = floor.bets("A")
    floor.tick(0.5)  # a second is a hundred microseconds
    claim = floor.win("A", number, floor.tick(), "straight_flush").json["claim"]
    low, high = (datetime.fromisoformat(text) for text in claim["dealt_between"])
    assert high - low >= timedelta(microseconds=2 * (100 + 100))


def test_a_heartbeat_that_was_sent_before_the_table_closed_does_not_bring_it_back(casino: Open) -> None:
    floor = casino()
    floor.measure("A", "B")
    at = floor.tick()
    assert floor.post("/v1/tables/B/close", None, "B").status_code == 200
    assert floor.beat("B", at).json["taken"] is False
    number = floor.bets("A")
    assert floor.settled(royal_of_a(floor, number)) == [10_010_000]


def test_a_round_that_only_heartbeats_named_can_be_ended(casino: Open) -> None:
    floor = casino()
    floor.measure("A")
    closed = floor.tick()
    floor.beat("A", floor.tick(), rounds=[(7, closed)])
    reply = floor.post("/v1/tables/A/close", None, "A")
    assert (reply.status_code, reply.json["code"]) == (409, "round_open")
    assert floor.close("A", 7).status_code == 200
    assert floor.post("/v1/tables/A/close", None, "A").status_code == 200


def test_the_house_proceeds_only_without_a_table_that_is_silent(casino: Open) -> None:
    floor = casino(hold_limit_seconds=1)
    floor.measure("A", "B")
    held = floor.bets("B")
    claim = royal_of_a(floor, floor.bets("A"))
    floor.tick(0.6)
    floor.beat("B", floor.tick(), rounds=[(held, 0.0)])
    reply = floor.proceed("multi", "B")
    assert (reply.status_code, reply.json["code"]) == (409, "hold_limit_not_reached")
    floor.tick(0.6)
    assert floor.proceed("multi", "B").status_code == 200
    assert floor.settled(claim) == [10_020_000]


def test_the_round_that_was_open_when_contact_was_lost_is_taken_once(casino: Open) -> None:
    floor = casino(grace_seconds=1)
    floor.measure("A")
    floor.close("A", floor.bets("A"))
    closed = [floor.tick(), floor.tick()]
    floor.tick(1.2)
    assert floor.post("/v1/tables/A/open", None, "A").status_code == 200
    floor.measure("A")
    assert floor.try_bets("A", at=closed[0])[1].status_code == 201
    reply = floor.try_bets("A", at=closed[1])[1]
    assert (reply.status_code, reply.json["code"]) == (409, "table_was_offline")


@pytest.mark.parametrize("when", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
def test_a_time_outside_all_calendars_is_refused_and_changes_nothing(casino: Open, when: str) -> None:
    floor = casino()
    number = floor.bets("A")
    round_ = f"/v1/tables/A/rounds/{number}"
    void = {"reason": "foreign_card", "voided_at": when}
    exchange = dict.fromkeys(("sent_at", "received_at", "answered_at", "got_at"), when)
    beat = {"sent_at": floor.text("A", 0), "rounds": [], "last_exchange": exchange}
    for path, body in (
        (f"{round_}/wins", {"box": 1, "dealt_at": when, "hand": "royal_flush"}),
        (f"{round_}/void", void),
        ("/v1/tables/A/heartbeat", beat),
        ("/v1/tables/A/heartbeat", {"sent_at": when, "rounds": []}),
    ):
        reply = floor.post(path, body, "A")
        assert (reply.status_code, reply.json["code"]) == (400, "body_invalid"), path
    assert floor.meter("m")["status"] == "running"
    assert floor.get("/v1/claims") == {"claims": []}


def test_an_exchange_that_tells_less_than_nothing_is_not_a_measurement(casino: Open) -> None:
    floor = casino()
    at = floor.tick()
    exchange = {
        "sent_at": "1971-01-01T00:00:00Z",
        "received_at": floor.text("A", at),
        "answered_at": floor.text("A", at),
        "got_at": "2999-01-01T00:00:00Z",
    }
    assert floor.beat("A", at, last_exchange=exchange).json["clock"] is None


def test_a_table_cannot_speak_for_the_house(casino: Open) -> None:
    floor = casino()
    number = floor.bets("A")
    body = {"reason": "foreign_card", "voided_at": floor.text("A", floor.tick()), "authorised_by": ["x", "y"]}
    reply = floor.post(f"/v1/tables/A/rounds/{number}/void", body, "A")
    assert (reply.status_code, reply.json["code"]) == (403, "not_permitted")


@pytest.mark.parametrize("path", ["/v1/claims/%00", "/v1/claims?link=%00", "/v1/claims/" + "x" * 300])
def test_names_that_no_database_can_hold_are_refused(casino: Open, path: str) -> None:
    floor = casino()
    headers = {"Authorization": f"Bearer {floor.keys['operator']}"}
    assert floor.client.get(path, headers=headers).status_code == 400
