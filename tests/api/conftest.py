"""The real application over a real Redis and a real database, called through Flask's test client."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from flask.testing import FlaskClient

from api.app import create_app
from api.parts import Parts, assemble
from controller.settings import Settings
from deploy.prepare import apply_floor, first_keys, prepare_database
from tests.unit.test_floor_file import SAMPLE

BETS = {
    "bets_closed_at": "2026-01-02T03:04:05.000006Z",
    "boxes": [{"box": 1, "ante_cents": 1000, "progressive_cents": 500}],
}


@pytest.fixture
def parts(redis_url: str, tmp_path: Path) -> Iterator[Parts]:
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    with assembled(redis_url, tmp_path) as made:
        yield made


@contextmanager
def assembled(
    redis_url: str, tmp_path: Path, floor: str = SAMPLE, ledger_wait_ms: int = 0
) -> Iterator[Parts]:
    """Every real part over this Redis, with a floor in force. Nothing waits for a worker."""
    settings = Settings(redis_url=redis_url, data_dir=str(tmp_path), ledger_wait_ms=ledger_wait_ms)
    prepare_database(settings)
    apply_floor(settings, floor, "sample")
    made = assemble(settings)
    yield made
    made.store._client.close()
    made.ledger.engine.dispose()


@pytest.fixture
def keys(parts: Parts) -> dict[str, str]:
    return first_keys(parts.settings, SAMPLE)


@pytest.fixture
def client(parts: Parts) -> FlaskClient:
    return create_app(parts).test_client()


Post = Callable[..., Any]


@pytest.fixture
def post(client: FlaskClient, keys: dict[str, str]) -> Post:
    """Post as a table: `post(path, body, key=…)`."""

    def call(path: str, body: object = None, *, key: str = "TCP-01", raw: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {keys.get(key, key)}"}
        if raw is not None:
            return client.post(path, data=raw, headers=headers, content_type="application/json")
        return client.post(path, json=body, headers=headers)

    return call


def read(client: FlaskClient, path: str, key: str = "") -> Any:
    """The JSON that a GET answers."""
    return client.get(path, headers={"Authorization": f"Bearer {key}"} if key else {}).json
