"""POST …/result and …/void: a whole round settled, recorded once, and taken back."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from api.parts import Parts
from controller.ids import UNLINKED, LinkId
from models.archive import balances
from models.audit import check_link
from tests.api.conftest import BETS, Post, read
from tests.api.test_bets import LINK, drain, snapshot

ROUND = "/v1/tables/TCP-01/rounds/1"
NOT_LEDGERED = 202
"""No worker runs here: recorded, and the ledger has not been reached."""
DEALT = "2026-01-02T03:04:20Z"
PLACED = {
    "bets_closed_at": "2026-01-02T03:04:05Z",
    "boxes": [
        {"box": 1, "player": "a", "ante_cents": 1000, "pair_plus_cents": 500, "progressive_cents": 500},
        {"box": 2, "player": "b", "ante_cents": 2000, "progressive_cents": 500},
        {"box": 3, "player": "c", "pair_plus_cents": 700},
    ],
}
RESULT: dict[str, Any] = {
    "dealer": ["QS", "7D", "2C"],
    "boxes": [
        {"box": 1, "cards": ["AS", "KS", "QH"], "decision": "play", "play_cents": 1000, "dealt_at": DEALT},
        {"box": 2, "cards": ["AH", "KH", "QD"], "decision": "fold", "dealt_at": DEALT},
        {"box": 3, "cards": ["9S", "9H", "10D"]},
    ],
}
VOID = {"reason": "foreign_card", "voided_at": "2026-01-02T03:05:00Z"}


def settle(post: Post, result: dict[str, Any] | None = None, placed: dict[str, Any] | None = None) -> Any:
    assert post(f"{ROUND}/bets", placed or PLACED).status_code in (200, 201)
    return post(f"{ROUND}/result", result or RESULT)


def lines(answer: Any) -> list[tuple[int, str, int, int, str, str]]:
    return [
        (r["box"], r["bet"], r["stake_cents"], r["returned_cents"], r["outcome"], r["rule"])
        for r in answer["settlement"]
    ]


def test_a_result_settles_every_bet_and_cites_the_paragraph(post: Post) -> None:
    reply = settle(post)
    assert reply.status_code == 200, reply.json
    assert lines(reply.json) == [
        (1, "ante", 1000, 2000, "won", "TCP 3.15.1"),
        (1, "play", 1000, 2000, "won", "TCP 3.15.1"),
        (1, "ante_bonus", 0, 1000, "won", "TCP 4.3"),
        (1, "pair_plus", 500, 3000, "won", "TCP 4.2"),
        (1, "progressive", 500, 1500, "won", "TCP 4.4"),
        (2, "ante", 2000, 0, "lost", "TCP 3.12.1"),
        (2, "progressive", 500, 0, "lost", "TCP 3.12.1"),
        (3, "pair_plus", 700, 1400, "won", "TCP 4.2"),
    ]
    assert (
        reply.json["settlement"][3]["sentence"] == "Pair Plus 5.00: a straight, ace high: 5 to 1, 30.00 back."
    )
    assert reply.json["claims"] == [
        {
            "box": 1,
            "player": "a",
            "hand": "straight",
            "amount_cents": 1500,
            "meter": None,
            "share_ppm": None,
            "rule": "TCP 4.4",
        }
    ]


def test_a_major_is_a_claim_on_its_meter_and_gives_envy_to_the_others(post: Post) -> None:
    boxes = [
        {**RESULT["boxes"][0], "cards": ["AS", "KS", "QS"]},
        {"box": 2, "cards": ["9C", "4H", "3D"], "decision": "play", "dealt_at": DEALT},
        RESULT["boxes"][2],
    ]
    answer = settle(post, {"dealer": ["JS", "7D", "2C"], "boxes": boxes}).json
    [claim] = answer["claims"]
    assert (claim["meter"], claim["share_ppm"], claim["amount_cents"]) == ("tcp-major", 1_000_000, None)
    assert answer["envy"] == [
        {
            "box": 2,
            "player": "b",
            "amount_cents": 25_000,
            "hand_box": 1,
            "hand": "akq_spades",
            "rule": "TCP 4.7",
        }
    ]


def test_a_retry_gets_the_recorded_answer_before_and_after_the_ledger_has_it(
    post: Post, parts: Parts, client: FlaskClient, keys: dict[str, str]
) -> None:
    first = settle(post)
    assert post(f"{ROUND}/result", RESULT).data == first.data
    drain(parts)
    assert post(f"{ROUND}/result", RESULT).data == first.data
    post("/v1/tables/TCP-01/rounds/2/bets", BETS)
    drain(parts)
    assert parts.store.records(LINK, "TCP-01", 1).result is None
    assert post(f"{ROUND}/result", RESULT).data == first.data
    found = read(client, ROUND, keys["TCP-01"])
    assert (found["state"], found["result"]) == ("closed", first.json)
    assert check_link(parts.ledger, LINK) == 4


@pytest.mark.parametrize("ledgered", [False, True])
def test_a_different_result_is_409_with_what_was_recorded(
    post: Post, parts: Parts, *, ledgered: bool
) -> None:
    settle(post)
    if ledgered:
        post("/v1/tables/TCP-01/rounds/2/bets", BETS)
        drain(parts)
    before = snapshot(parts)
    other = post(f"{ROUND}/result", {**RESULT, "dealer": ["KS", "7D", "2C"]})
    assert (other.status_code, other.json["code"]) == (409, "exists_with_different_body")
    assert other.json["ended"]["result"]["dealer"] == RESULT["dealer"]
    assert snapshot(parts) == before


def test_a_result_of_a_round_that_the_store_let_go_of_is_taken_once(post: Post, parts: Parts) -> None:
    post(f"{ROUND}/bets", PLACED)
    post("/v1/tables/TCP-01/rounds/2/bets", BETS)
    drain(parts)
    first = post(f"{ROUND}/result", RESULT)
    assert first.status_code == 200
    assert post(f"{ROUND}/result", RESULT).data == first.data
    drain(parts)
    assert parts.store.records(LINK, "TCP-01", 1).result is None
    assert post(f"{ROUND}/result", RESULT).data == first.data


def box(number: int = 0, **changes: object) -> dict[str, Any]:
    boxes = [dict(item) for item in RESULT["boxes"]]
    boxes[number] |= changes
    boxes[number] = {k: v for k, v in boxes[number].items() if v is not None}
    return {**RESULT, "boxes": boxes}


def incident(**facts: object) -> dict[str, Any]:
    return {**RESULT, "incidents": [facts]}


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        (box(cards=["AS", "KS", "1H"]), 422, "cards_wrong", "boxes[0].cards[2]"),
        (box(cards=["AS", "KS"]), 400, "body_invalid", "boxes[0].cards"),
        (box(cards=["AS", "KS", "QS", "JS"]), 400, "body_invalid", "boxes[0].cards"),
        (box(cards=["QS", "KS", "2H"]), 422, "card_repeated", "cards"),
        (box(cards=["AS", "AS", "2H"]), 422, "card_repeated", "cards"),
        (box(cards=None), 422, "cards_wrong", "boxes[0].cards"),
        (box(shown=False), 422, "cards_wrong", "boxes[0].shown"),
        (box(decision=None), 422, "decision_wrong", "boxes[0].decision"),
        (box(decision="fold"), 422, "decision_wrong", "boxes[0].play_cents"),
        (box(decision="maybe"), 400, "body_invalid", "boxes[0].decision"),
        (box(dealt_at=None), 422, "deal_time_missing", "boxes[0].dealt_at"),
        (box(2, decision="fold"), 422, "decision_wrong", "boxes[2].decision"),
        (box(2, play_cents=5), 422, "decision_wrong", "boxes[2].play_cents"),
        (box(2, box=4), 422, "box_without_bets", "boxes[2].box"),
        (box(2, box=1), 422, "box_repeated", "boxes[2].box"),
        ({**RESULT, "boxes": RESULT["boxes"][:2]}, 422, "result_incomplete", "boxes"),
        ({**RESULT, "community": ["3S", "4S"]}, 422, "cards_wrong", "community"),
        ({**RESULT, "dealer": ["3S"]}, 400, "body_invalid", "dealer"),
        (incident(what="party"), 400, "body_invalid", "incidents[0].what"),
        (incident(what="dealing_error"), 422, "incident_incomplete", "incidents[0].options"),
        (incident(what="foreign_card"), 422, "round_must_be_voided", "incidents[0]"),
        (
            incident(what="player_cards_wrong", boxes=[7], reconstructed=False),
            422,
            "box_without_bets",
            "incidents[0].boxes",
        ),
    ],
)
def test_a_bad_result_is_a_4xx_that_names_the_field_and_changes_nothing(
    post: Post, parts: Parts, body: object, status: int, code: str, field: str
) -> None:
    post(f"{ROUND}/bets", PLACED)
    before = snapshot(parts)
    reply = post(f"{ROUND}/result", body)
    assert (reply.status_code, reply.json["code"]) == (status, code), reply.json
    assert field in [error["field"] for error in reply.json["errors"]]
    assert snapshot(parts) == before


def test_a_result_without_bets_is_404(post: Post) -> None:
    assert post(f"{ROUND}/result", RESULT).json["code"] == "round_unknown"
    assert post(f"{ROUND}/void", VOID).json["code"] == "round_unknown"


def displayed(client: FlaskClient) -> int:
    found: int = read(client, "/v1/meters/tcp-major")["displayed_cents"]
    return found


def test_5_15_a_hand_taken_out_gets_its_bets_back_and_its_contribution_is_owed(
    post: Post, parts: Parts, client: FlaskClient
) -> None:
    post(f"{ROUND}/bets", PLACED)
    shown = displayed(client)
    body = {
        "dealer": RESULT["dealer"],
        "boxes": RESULT["boxes"][1:],
        "incidents": [{"what": "player_cards_wrong", "boxes": [1], "reconstructed": False}],
    }
    answer = post(f"{ROUND}/result", body).json
    assert [line for line in lines(answer) if line[0] == 1] == [
        (1, "ante", 1000, 1000, "returned", "TCP 5.15"),
        (1, "pair_plus", 500, 500, "returned", "TCP 5.15"),
        (1, "progressive", 500, 500, "returned", "TCP 5.15"),
    ]
    assert answer["remarks"][0]["rule"] == "TCP 5.15"
    assert displayed(client) == shown
    drain(parts)
    assert balances(parts.ledger, LINK)["owed/tcp-major"] == -75_000_000
    assert balances(parts.ledger, LINK)["bets"] == -500_000_000
    post("/v1/tables/TCP-01/rounds/2/bets", BETS)
    assert displayed(client) == shown, "coming contributions repay first"
    post("/v1/tables/TCP-01/rounds/3/bets", BETS)
    assert displayed(client) == shown + 75
    drain(parts)
    assert balances(parts.ledger, LINK)["owed/tcp-major"] == 0
    assert check_link(parts.ledger, LINK) == 5


def test_5_21_a_void_returns_every_bet_and_takes_every_contribution_back(
    post: Post, parts: Parts, client: FlaskClient, keys: dict[str, str]
) -> None:
    post(f"{ROUND}/bets", PLACED)
    shown = displayed(client)
    reply = post(f"{ROUND}/void", VOID)
    assert reply.status_code == NOT_LEDGERED, reply.json
    assert reply.json["rule"] == "TCP 5.8.1"
    assert {line[5] for line in lines(reply.json)} == {"TCP 5.21"}
    assert sum(line[3] for line in lines(reply.json)) == 1000 + 500 + 500 + 2000 + 500 + 700
    assert displayed(client) == shown
    drain(parts)
    held = {a: b for a, b in balances(parts.ledger, LINK).items() if b}
    assert held == {
        "meter/tcp-major": (2_000_000 + 150) * 10**6,
        "owed/tcp-major": -150 * 10**6,
        "house": -2_000_000 * 10**6,
    }
    assert post(f"{ROUND}/void", VOID).data == reply.data
    late = post(f"{ROUND}/result", RESULT)
    assert (late.status_code, late.json["code"]) == (409, "round_voided")
    other = post(f"{ROUND}/void", {**VOID, "reason": "not_shuffled"})
    assert (other.status_code, other.json["code"]) == (409, "exists_with_different_body")
    assert read(client, ROUND, keys["TCP-01"])["state"] == "voided"
    assert check_link(parts.ledger, LINK) == 3


def test_a_void_after_a_result_takes_back_only_what_the_result_left(post: Post, parts: Parts) -> None:
    body = {
        "dealer": RESULT["dealer"],
        "boxes": RESULT["boxes"][1:],
        "incidents": [{"what": "player_cards_wrong", "boxes": [1], "reconstructed": False}],
    }
    settle(post, body)
    assert post(f"{ROUND}/void", VOID).status_code == NOT_LEDGERED
    drain(parts)
    held = balances(parts.ledger, LINK)
    assert (held["bets"], held["owed/tcp-major"], held["reserve/tcp-major"]) == (0, -150_000_000, 0)


def test_5_19_a_round_stands_once_the_next_has_begun_judged_by_voided_at_not_by_arrival(
    post: Post, parts: Parts
) -> None:
    post(f"{ROUND}/bets", PLACED)
    for number, closed_at in ((2, "2026-01-02T03:06:00Z"), (3, "2026-01-02T03:09:00Z")):
        post(f"/v1/tables/TCP-01/rounds/{number}/bets", {**BETS, "bets_closed_at": closed_at})
    before = snapshot(parts)
    late = post(f"{ROUND}/void", {**VOID, "voided_at": "2026-01-02T03:07:00Z"})
    assert (late.status_code, late.json["code"]) == (409, "round_stands")
    assert late.json["errors"][0]["field"] == "voided_at"
    assert snapshot(parts) == before
    drain(parts)
    assert post(f"{ROUND}/void", {**VOID, "voided_at": "2026-01-02T03:07:00Z"}).json["code"] == "round_stands"
    assert post(f"{ROUND}/void", VOID).status_code == NOT_LEDGERED


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({**VOID, "reason": "card_face_up"}, "void_not_allowed", "reason"),
        ({**VOID, "reason": "interruption"}, "incident_incomplete", "outcome_established"),
        ({**VOID, "reason": "interruption", "outcome_established": True}, "void_not_allowed", "reason"),
        ({**VOID, "reason": "house_decision", "decided_by": "x"}, "incident_incomplete", "note"),
        ({**VOID, "reason": "boredom"}, "body_invalid", "reason"),
        ({"reason": "foreign_card"}, "body_invalid", "voided_at"),
    ],
)
def test_a_void_needs_a_reason_that_the_rules_know(
    post: Post, parts: Parts, body: object, code: str, field: str
) -> None:
    post(f"{ROUND}/bets", PLACED)
    before = snapshot(parts)
    reply = post(f"{ROUND}/void", body)
    assert reply.json["code"] == code, reply.json
    assert reply.json["errors"][0]["field"] == field
    assert snapshot(parts) == before


def test_5_23_the_house_voids_what_the_rules_do_not_foresee(post: Post) -> None:
    post(f"{ROUND}/bets", PLACED)
    reply = post(
        f"{ROUND}/void", {**VOID, "reason": "house_decision", "decided_by": "shift-1", "note": "flood"}
    )
    assert (reply.status_code, reply.json["rule"]) == (NOT_LEDGERED, "TCP 5.23")
    assert reply.json["sentence"] == "decided by shift-1: flood: the round is void."


def test_mlp_a_folded_straight_flush_is_a_claim_on_a_tenth_of_the_meter(post: Post) -> None:
    path = "/v1/tables/MLP-01/rounds/1"
    placed = {**PLACED, "boxes": [{"box": 1, "ante_cents": 500, "progressive_cents": 500}]}
    post(f"{path}/bets", placed, key="MLP-01")
    folded = {"box": 1, "cards": ["9C", "8C", "7C"], "decision": "fold", "dealt_at": DEALT}
    body = {"dealer": ["KS", "7D", "2C"], "boxes": [folded]}
    assert post(f"{path}/result", body, key="MLP-01").json["errors"][0]["field"] == "community"
    answer = post(f"{path}/result", {**body, "community": ["TC", "JC"]}, key="MLP-01").json
    assert [(c["hand"], c["meter"], c["share_ppm"]) for c in answer["claims"]] == [
        ("straight_flush", "mlp-major", 100_000)
    ]


def test_gtp_odds_return_the_wager(post: Post) -> None:
    path = "/v1/tables/GTP-01/rounds/1"
    placed = {**PLACED, "boxes": [{"box": 1, "ante_cents": 500, "progressive_cents": 100}]}
    post(f"{path}/bets", placed, key="GTP-01")
    shown = {"box": 1, "cards": ["9C", "9S", "9D"], "decision": "fold", "dealt_at": DEALT}
    answer = post(f"{path}/result", {"dealer": ["KS", "7D", "2C"], "boxes": [shown]}, key="GTP-01").json
    assert lines(answer)[1] == (1, "progressive", 100, 6000, "won", "GTP pay table")


def test_ntp_settles_several_players_on_one_box_and_journals_it(post: Post, parts: Parts) -> None:
    path = "/v1/tables/NTP-01/rounds/1"
    players = [
        {"player": "a", "seated": True, "initial_cents": 1000, "tie_cents": 200},
        {"player": "b", "seated": False, "initial_cents": 501, "three_pictures_cents": 100},
    ]
    side = [{"player": "c", "seated": False, "tie_cents": 300}]
    placed = {**PLACED, "boxes": [{"box": 1, "bets": players}, {"box": 2, "bets": side}]}
    assert post(f"{path}/bets", placed, key="NTP-01").status_code == 201
    body = {"dealer": ["6S", "KD", "TC"], "boxes": [{"box": 1, "cards": ["6H", "KS", "QD"]}]}
    answer = post(f"{path}/result", body, key="NTP-01").json
    assert lines(answer) == [
        (1, "initial", 1000, 1500, "won", "NTP 4.1"),
        (1, "tie", 200, 1800, "won", "NTP 3.13.4"),
        (1, "initial", 501, 751, "won", "NTP 4.1"),
        (1, "three_pictures", 100, 0, "lost", "NTP 4.1"),
        (2, "tie", 300, 300, "returned", "NTP 5.14"),
    ]
    drain(parts, UNLINKED)
    assert check_link(parts.ledger, LinkId(UNLINKED)) == 3


def test_events_of_every_kind_are_applied_in_order_until_one_is_refused(post: Post) -> None:
    bets = {"type": "bets", "round": 1, **PLACED}
    result = {"type": "result", "round": 1, **RESULT}
    void = {"type": "void", "round": 2, **VOID}
    events = [bets, result, {**bets, "round": 2}, {"type": "close", "round": 2}, void, {**bets, "round": 1}]
    reply = post("/v1/tables/TCP-01/events", {"events": events})
    answers = reply.json["answers"]
    assert [answer["status"] for answer in answers] == [201, 200, 201, 202, 200, 200]
    assert lines(answers[1]["result"])[0] == (1, "ante", 1000, 2000, "won", "TCP 3.15.1")
    assert answers[4]["void"]["rule"] == "TCP 5.8.1"
    assert answers[5]["answer"] == answers[0]["answer"]
    wrong = {"type": "win", "round": 1, "box": 2, "dealt_at": DEALT, "hand": "pair"}
    reply = post("/v1/tables/TCP-01/events", {"events": [wrong, {**bets, "round": 3}]})
    problems = [answer["problem"]["code"] for answer in reply.json["answers"]]
    assert problems == ["hand_pays_nothing", "not_attempted"]
