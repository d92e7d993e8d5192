"""Meters for signs, the OpenAPI document, problem codes, health and metrics."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from openapi_spec_validator import validate

from api.app import ROUTES, create_app
from api.parts import Parts
from api.problems import MEANINGS
from controller.errors import Code, JackpotError, StartRefused
from controller.ids import LinkId
from controller.store.connection import connect, require_durable
from deploy.prepare import apply_floor, first_keys
from models.in_force import FloorVersions
from tests.api.conftest import BETS, Post, assembled
from tests.support.servers import redis_server, server_binaries
from tests.unit.test_floor_file import SAMPLE


def test_meters_carry_a_sequence_number_and_the_time_of_reading(client: FlaskClient) -> None:
    body = client.get("/v1/meters").json
    assert body is not None
    assert [m["id"] for m in body["meters"]] == ["tcp-major", "mlp-major", "gtp-major"]
    assert all(
        m["status"] == "running" and m["seq"] == 1 and m["as_of"].endswith("Z") for m in body["meters"]
    )


def test_an_unchanged_meter_is_304_until_it_changes(client: FlaskClient, post: Post) -> None:
    first = client.get("/v1/meters")
    same = client.get("/v1/meters", headers={"If-None-Match": first.headers["ETag"]})
    assert (same.status_code, same.data) == (304, b"")
    one = client.get("/v1/meters/mlp-major")
    post("/v1/tables/TCP-01/rounds/1/bets", BETS)
    changed = client.get("/v1/meters", headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    other_link = client.get("/v1/meters/mlp-major", headers={"If-None-Match": f'"x", {one.headers["ETag"]}'})
    assert other_link.status_code == 304


def test_meters_of_one_link(client: FlaskClient) -> None:
    found = client.get("/v1/meters?link=multi-link").json
    assert found is not None
    assert [m["id"] for m in found["meters"]] == ["mlp-major"]
    for path, field in (("/v1/meters?link=x", "link"), ("/v1/meters/x", "meter")):
        missing = client.get(path)
        assert missing.status_code == 404
        assert missing.json is not None
        assert missing.json["detail"].startswith(field)
    assert client.get("/v1/meters?surprise=1").status_code == 400


def test_the_openapi_document_is_valid_and_complete(client: FlaskClient) -> None:
    document = client.get("/openapi.json").json
    assert document is not None
    validate(document)
    documented = {(m.upper(), p) for p, item in document["paths"].items() for m in item}
    assert documented == {(route.method, route.path) for route in ROUTES}


def test_every_code_has_a_status_and_a_meaning_and_is_declared_by_a_route_or_is_general() -> None:
    assert set(MEANINGS) == set(Code)
    assert all(400 <= status < 600 and title and meaning for status, title, meaning in MEANINGS.values())


def test_unknown_routes_and_methods_are_problems_too(client: FlaskClient) -> None:
    for reply, code in (
        (client.get("/nothing"), "not_found"),
        (client.delete("/v1/meters"), "method_not_allowed"),
    ):
        assert reply.content_type == "application/problem+json"
        assert reply.json is not None
        assert reply.json["code"] == code


def test_health_and_readiness(client: FlaskClient) -> None:
    assert client.get("/healthz").json == {"status": "alive"}
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json["parts"]) == (200, {"redis": "ok", "ledger": "ok", "floor": "ok"})  # type: ignore[index]


def test_a_closed_link_is_503_with_its_reason_and_other_links_go_on(
    client: FlaskClient, post: Post, parts: Parts
) -> None:
    parts.store.close_link(LinkId("three-card"), "the ledger disagrees", "{}")
    refused = post("/v1/tables/TCP-01/rounds/1/bets", BETS)
    assert (refused.status_code, refused.json["code"], refused.headers["Retry-After"]) == (
        503,
        "link_closed",
        "1",
    )
    assert "the ledger disagrees" in refused.json["detail"]
    assert post("/v1/tables/MLP-01/rounds/1/bets", BETS, key="MLP-01").status_code == 201
    assert client.get("/v1/meters/tcp-major").json["status"] == "closed"  # type: ignore[index]
    assert 'jackpot_link_closed{link="three-card"} 1.0' in client.get("/metrics").text


def test_a_node_that_knows_an_older_floor_learns_of_the_new_one(parts: Parts, post: Post) -> None:
    post("/v1/tables/TCP-01/rounds/1/bets", BETS)
    apply_floor(parts.settings, SAMPLE + "  - {id: TCP-09, game: TCP, link: three-card, boxes: 7}\n", "new")
    assert post("/v1/tables/TCP-01/rounds/2/bets", BETS).status_code == 201
    assert post("/v1/tables/TCP-09/rounds/1/bets", BETS, key="operator").status_code == 201


def test_metrics_tell_backlog_meters_and_requests(client: FlaskClient, post: Post) -> None:
    post("/v1/tables/TCP-01/rounds/1/bets", BETS)
    text = client.get("/metrics").text
    assert 'jackpot_journal_backlog_entries{link="three-card"} 2.0' in text
    assert 'jackpot_meter_value_cents{link="three-card",meter="tcp-major"} 2.000075e+06' in text
    assert 'route="/v1/tables/{table}/rounds/{round}/bets",status="201"' in text


@pytest.mark.parametrize("path", ["/", "/docs", "/signage/three-card"])
def test_pages_are_served_with_a_policy_that_allows_nothing_from_elsewhere(
    client: FlaskClient, path: str
) -> None:
    reply = client.get(path)
    assert reply.status_code == 200
    assert reply.headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert re.findall(r"""(?:src|href)=["'](?![/#])[^"']*""", reply.text) == []


def test_sql_down_does_not_stop_bets_and_redis_down_is_a_503(tmp_path: Path) -> None:
    with (
        redis_server(server_binaries()["valkey-9"], tmp_path / "redis") as url,
        assembled(url, tmp_path) as parts,
    ):
        client = create_app(parts).test_client()
        headers = {"Authorization": f"Bearer {first_keys(parts.settings, SAMPLE)['TCP-01']}"}
        path = "/v1/tables/TCP-01/rounds/{}/bets"
        assert client.post(path.format(1), json=BETS, headers=headers).status_code == 201
        parts.ledger.engine.dispose()
        database = tmp_path / "ledger.sqlite"
        database.rename(tmp_path / "away")
        database.mkdir()
        assert client.get("/readyz").json["parts"]["ledger"] == "LedgerUnavailable"  # type: ignore[index]
        parts.keyring._read_at = float("-inf")  # long enough that keys and floor are looked up again
        parts.floor._checked_at = float("-inf")
        for number in (2, 3, 4):
            assert client.post(path.format(number), json=BETS, headers=headers).status_code == 201
        parts.store._client.shutdown(nosave=True)
        refused = client.post(path.format(5), json=BETS, headers=headers)
        assert (refused.status_code, refused.json["code"]) == (503, "store_unavailable")  # type: ignore[index]
        assert client.get("/readyz").status_code == 503


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("progressive_bet_cents: 100", "progressive_bet_cents: 200"), "in force"),
        (("id: TCP-02, game: TCP, link: three-card", "id: TCP-02, game: TCP"), "cannot be moved"),
        (("rate_ppm: 200_000", "rate_ppm: 200_001"), "in force"),
    ],
)
def test_a_refused_floor_changes_nothing_anywhere(
    parts: Parts, change: tuple[str, str], message: str
) -> None:
    before = [parts.store.head(link) for link in parts.floor.known().floor.link_ids]
    assert change[0] in SAMPLE
    with pytest.raises(JackpotError, match=message):
        apply_floor(parts.settings, SAMPLE.replace(*change, 1), "changed")
    assert FloorVersions(parts.ledger).version() == 1
    assert [parts.store.head(link) for link in parts.floor.known().floor.link_ids] == before


def test_a_link_cannot_be_left_out_of_a_floor(parts: Parts) -> None:
    start, end = SAMPLE.index("  - id: three-card-progressive"), SAMPLE.index("# A table without a link")
    text = SAMPLE[:start] + SAMPLE[end:]
    lines = [line for line in text.splitlines() if "GTP-0" not in line]
    with pytest.raises(JackpotError, match="cannot be left out"):
        apply_floor(parts.settings, "\n".join(lines), "shorter")


def test_an_acknowledgement_is_printable(post: Post) -> None:
    refused = post("/v1/links/three-card/alarms/1/acknowledge", {"by": "\x00"}, key="operator")
    assert (refused.status_code, refused.json["errors"][0]["field"]) == (400, "by")


def test_a_redis_that_may_lose_what_it_answered_is_refused(tmp_path: Path) -> None:
    for setting in (("--appendfsync", "everysec"), ("--maxmemory-policy", "allkeys-lru")):
        with redis_server(server_binaries()["valkey-9"], tmp_path / setting[1], *setting) as url:
            client = connect(url)
            with pytest.raises(StartRefused, match=setting[0].removeprefix("--")):
                require_durable(client)
            client.close()
