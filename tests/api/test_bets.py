"""POST …/bets and …/events: the contract, and what bad input gets."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from api.parts import Parts
from controller.ids import LinkId
from tests.api.conftest import BETS, Post, read
from workers.drain import Drain

LINK = LinkId("three-card")
PATH = "/v1/tables/TCP-01/rounds/1/bets"


def snapshot(parts: Parts) -> object:
    """Everything a refused request might have changed."""
    heads = [parts.store.head(link) for link in parts.floor.known().floor.link_ids]
    return heads, parts.store.meters([LINK])


def drain(parts: Parts, link: LinkId = LINK) -> None:
    Drain(parts.store, parts.ledger, 100, 60).run(link)


def test_one_rounds_bets_raise_the_meter_by_the_configured_share(post: Post, client: FlaskClient) -> None:
    before = read(client, "/v1/meters/tcp-major")
    reply = post(PATH, BETS)
    assert reply.status_code == 201
    answer = reply.json
    assert answer["progressive_bets"] == 1
    assert answer["meters"] == [{"id": "tcp-major", "displayed_cents": 2_000_075}]
    assert answer["returned"] == []
    assert answer["ack"]["seq"] == before["seq"] + 1
    after = read(client, "/v1/meters/tcp-major")
    assert after["displayed_cents"] - before["displayed_cents"] == 75


def test_a_retry_gets_the_recorded_answer_to_the_byte_before_and_after_the_ledger_has_it(
    post: Post, parts: Parts
) -> None:
    first = post(PATH, BETS)
    for number in (2, 3):
        post(f"/v1/tables/TCP-01/rounds/{number}/bets", BETS)
    retry = post(PATH, BETS)
    assert (retry.status_code, retry.data) == (200, first.data)
    drain(parts)
    assert parts.store.record(LINK, "TCP-01", 1) is None
    late_retry = post(PATH, BETS)
    assert (late_retry.status_code, late_retry.data) == (200, first.data)


@pytest.mark.parametrize("ledgered", [False, True])
def test_a_different_body_is_409_with_what_was_recorded(post: Post, parts: Parts, *, ledgered: bool) -> None:
    first = post(PATH, BETS)
    post("/v1/tables/TCP-01/rounds/2/bets", BETS)
    if ledgered:
        drain(parts)
    before = snapshot(parts)
    other = post(PATH, {**BETS, "boxes": [{"box": 2, "progressive_cents": 500}]})
    assert (other.status_code, other.json["code"]) == (409, "exists_with_different_body")
    assert other.json["recorded"]["answer"] == first.json
    assert other.json["recorded"]["bets"]["boxes"] == BETS["boxes"]
    assert snapshot(parts) == before


def test_a_number_that_was_passed_is_409_and_raises_one_alarm(
    post: Post, parts: Parts, client: FlaskClient, keys: dict[str, str]
) -> None:
    post("/v1/tables/TCP-01/rounds/9/bets", BETS)
    for _ in range(3):
        refused = post("/v1/tables/TCP-01/rounds/8/bets", BETS)
        assert (refused.status_code, refused.json["code"]) == (409, "round_number_passed")
    drain(parts)
    [alarm] = read(client, "/v1/alarms", keys["operator"])["alarms"]
    assert alarm["subject"] == "round_number_passed/TCP-01"
    path = f"/v1/links/three-card/alarms/{alarm['seq']}/acknowledge"
    assert post(path, {"by": "Ann"}, key="operator").status_code == 200
    drain(parts)
    assert read(client, "/v1/alarms", keys["operator"]) == {"alarms": []}
    assert post(path, {"by": "Ann"}, key="operator").json["code"] == "alarm_unknown"


def test_tcp_5_4_the_returned_bet_is_in_the_answer_and_not_in_the_meter(post: Post) -> None:
    body = {**BETS, "boxes": [*BETS["boxes"], {"box": 2, "pair_plus_cents": 5, "progressive_cents": 500}]}
    answer = post(PATH, body).json
    assert answer["returned"] == [{"box": 2, "bet": "progressive", "amount_cents": 500, "rule": "TCP 5.4"}]
    assert answer["meters"][0]["displayed_cents"] == 2_000_075


def box(**fields: object) -> dict[str, object]:
    return {**BETS, "boxes": [{"box": 1, **fields}]}


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        (box(progressive_cents=500.0), 400, "body_invalid", "boxes[0].progressive_cents"),
        (box(progressive_cents="500"), 400, "body_invalid", "boxes[0].progressive_cents"),
        (box(progressive_cents=-500), 400, "body_invalid", "boxes[0].progressive_cents"),
        (box(progressive_cents=10**30), 400, "body_invalid", "boxes[0].progressive_cents"),
        (box(ante_cents=2**63), 400, "body_invalid", "boxes[0].ante_cents"),
        (box(progressive_cents=None), 400, "body_invalid", "boxes[0].progressive_cents"),
        (box(progressive_cents=True), 400, "body_invalid", "boxes[0].progressive_cents"),
        (box(progressive_cents=499), 422, "progressive_amount_wrong", "boxes[0].progressive_cents"),
        (box(surprise=1), 400, "body_invalid", "boxes[0].surprise"),
        (box(player="two words"), 400, "body_invalid", "boxes[0].player"),
        ({**BETS, "boxes": [{"box": 8}]}, 422, "box_unknown", "boxes[0].box"),
        ({**BETS, "boxes": [{"box": 0}]}, 400, "body_invalid", "boxes[0].box"),
        ({**BETS, "boxes": [{"box": 1}, {"box": 1}]}, 422, "box_repeated", "boxes[1].box"),
        ({**BETS, "boxes": []}, 400, "body_invalid", "boxes"),
        ({**BETS, "boxes": [{"progressive_cents": 500}]}, 400, "body_invalid", "boxes[0].box"),
        ({**BETS, "bets_closed_at": "yesterday"}, 400, "body_invalid", "bets_closed_at"),
        ({**BETS, "bets_closed_at": "2026-01-01T00:00:00"}, 400, "body_invalid", "bets_closed_at"),
        ({**BETS, "bets_closed_at": 5}, 400, "body_invalid", "bets_closed_at"),
        ({"boxes": BETS["boxes"]}, 400, "body_invalid", "bets_closed_at"),
        ([], 400, "body_invalid", "body"),
    ],
)
def test_a_bad_body_is_a_4xx_that_names_the_field_and_changes_nothing(
    post: Post, parts: Parts, body: object, status: int, code: str, field: str
) -> None:
    before = snapshot(parts)
    reply = post(PATH, body)
    assert (reply.status_code, reply.json["code"]) == (status, code), reply.json
    assert reply.content_type == "application/problem+json"
    assert field in [error["field"] for error in reply.json["errors"]]
    assert snapshot(parts) == before


@pytest.mark.parametrize(
    ("raw", "status", "field"),
    [
        (
            b'{"bets_closed_at":"2026-01-01T00:00:00Z","boxes":[{"box":1,"ante_cents":NaN}]}',
            400,
            "boxes[0].ante_cents",
        ),
        (b'{"boxes":[{"box":Infinity}]}', 400, "boxes[0].box"),
        (b'{"bets_closed_at":"2026-01-01T00:00:00Z","boxes":[{"box":1,"player":"\xff\xfe"}]}', 400, "body"),
        (b"\xff\xfe\x00", 400, "body"),
        (b"", 400, "body"),
        (b"{", 400, "body"),
        (b"[" * 50_000, 400, "body"),
        (b'{"a":' * 9_000, 400, "a"),
    ],
)
def test_junk_is_a_400(post: Post, parts: Parts, raw: bytes, status: int, field: str) -> None:
    before = snapshot(parts)
    reply = post(PATH, raw=raw)
    assert reply.status_code == status
    assert [error["field"] for error in reply.json["errors"]] == [field]
    assert snapshot(parts) == before


@pytest.mark.parametrize("path", [PATH, "/v1/tables/TCP-01/events"])
def test_two_megabytes_of_junk_are_a_413(post: Post, parts: Parts, path: str) -> None:
    before = snapshot(parts)
    reply = post(path, raw=b"x" * 2_000_000)
    assert (reply.status_code, reply.json["code"]) == (413, "body_too_large")
    assert snapshot(parts) == before


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "abc", "9007199254740992", "9" * 40, "٣", "1e3"])
def test_a_round_that_is_no_number_is_named(post: Post, number: str) -> None:
    reply = post(f"/v1/tables/TCP-01/rounds/{number}/bets", BETS)
    assert (reply.status_code, reply.json["errors"][0]["field"]) == (400, "round")


def test_unknown_tables_and_wrong_keys_are_refused(post: Post, client: FlaskClient, parts: Parts) -> None:
    before = snapshot(parts)
    unknown = post("/v1/tables/XXX/rounds/1/bets", BETS)
    assert (unknown.status_code, unknown.json["code"]) == (404, "table_unknown")
    foreign = post(PATH, BETS, key="TCP-02")
    assert (foreign.status_code, foreign.json["code"]) == (403, "not_permitted")
    wrong = post(PATH, BETS, key="jpk_wrong")
    assert (wrong.status_code, wrong.json["code"]) == (401, "credentials_invalid")
    missing = client.post(PATH, json=BETS)
    assert (missing.status_code, missing.json["code"]) == (401, "credentials_missing")  # type: ignore[index]
    assert snapshot(parts) == before
    assert post(PATH, BETS, key="operator").status_code == 201


def test_ntp_tables_record_their_bets_without_a_progressive(post: Post) -> None:
    boxes = [{"box": 1, "bets": [{"player": "a", "seated": True, "initial_cents": 500, "tie_cents": 100}]}]
    path = "/v1/tables/NTP-01/rounds/1/bets"
    reply = post(path, {**BETS, "boxes": boxes}, key="NTP-01")
    assert (reply.status_code, reply.json["meters"]) == (201, [])
    refused = post("/v1/tables/NTP-01/rounds/2/bets", BETS, key="NTP-01")
    assert "progressive_not_offered" in [error["code"] for error in refused.json["errors"]]


def event(number: int, **changes: object) -> dict[str, Any]:
    return {"type": "bets", "round": number, **BETS, **changes}


def test_many_events_are_applied_in_order_one_answer_each(post: Post, client: FlaskClient) -> None:
    reply = post("/v1/tables/TCP-01/events", {"events": [event(n) for n in range(1, 51)]})
    assert reply.status_code == 200
    answers = reply.json["answers"]
    assert [a["status"] for a in answers] == [201] * 50
    seqs = [a["answer"]["ack"]["seq"] for a in answers]
    assert seqs == list(range(seqs[0], seqs[0] + 50))
    assert read(client, "/v1/meters/tcp-major")["displayed_cents"] == 2_000_000 + 50 * 75


@pytest.mark.parametrize("bad", ["box", "passed", "conflict"])
def test_events_stop_at_the_first_refusal(post: Post, *, bad: str) -> None:
    post("/v1/tables/TCP-01/rounds/5/bets", BETS)
    refused = {
        "box": event(7, boxes=[{"box": 99 % 12}]),
        "passed": event(4),
        "conflict": event(5, boxes=[{"box": 2}]),
    }[bad]
    if bad == "box":
        refused["boxes"] = [{"box": 8}]
    answers = post("/v1/tables/TCP-01/events", {"events": [event(6), refused, event(8), event(9)]}).json[
        "answers"
    ]
    codes = [a["problem"]["code"] if "problem" in a else a["status"] for a in answers]
    name = {"box": "box_unknown", "passed": "round_number_passed", "conflict": "exists_with_different_body"}[
        bad
    ]
    assert codes == [201, name, "not_attempted", "not_attempted"]
    again = post("/v1/tables/TCP-01/events", {"events": [event(6), event(8)]}).json["answers"]
    assert [a["status"] for a in again] == [200, 201]


def test_events_that_replay_ledgered_rounds_go_on_after_them(post: Post, parts: Parts) -> None:
    events = [event(n) for n in range(1, 8)]
    first = post("/v1/tables/TCP-01/events", {"events": events[:5]}).json["answers"]
    drain(parts)
    again = post("/v1/tables/TCP-01/events", {"events": events}).json["answers"]
    assert [a["status"] for a in again] == [200] * 5 + [201] * 2
    assert [a["answer"] for a in again[:5]] == [a["answer"] for a in first]


def test_events_are_limited_in_number_and_named_by_index(post: Post) -> None:
    many = post("/v1/tables/TCP-01/events", {"events": [event(n) for n in range(1, 202)]})
    assert (many.status_code, many.json["errors"][0]["field"]) == (400, "events")
    wrong = post("/v1/tables/TCP-01/events", {"events": [event(1), event(2, round=0.5)]})
    assert wrong.json["errors"][0]["field"] == "events[1].round"
    kind = post("/v1/tables/TCP-01/events", {"events": [event(1, type="party")]})
    assert kind.json["errors"][0]["field"] == "events[0].type"


def test_opening_a_table_answers_the_next_round(post: Post) -> None:
    assert post("/v1/tables/TCP-01/open").json["next_round"] == 1
    post("/v1/tables/TCP-01/rounds/17/bets", BETS)
    assert post("/v1/tables/TCP-01/open").json["next_round"] == 18


def test_a_round_can_be_read_back(
    post: Post, client: FlaskClient, keys: dict[str, str], parts: Parts
) -> None:
    recorded = post(PATH, BETS).json
    headers = {"Authorization": f"Bearer {keys['TCP-01']}"}
    expected = {**recorded, "state": "open"}
    assert client.get(PATH.removesuffix("/bets"), headers=headers).json == expected
    post("/v1/tables/TCP-01/rounds/2/bets", BETS)
    drain(parts)
    again = client.get(PATH.removesuffix("/bets"), headers=headers).json
    assert again == {**expected, "state": "closed"}  # by the table's next round
    missing = client.get("/v1/tables/TCP-01/rounds/77", headers=headers)
    assert (missing.status_code, missing.json["code"]) == (404, "round_unknown")  # type: ignore[index]
