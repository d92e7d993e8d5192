"""Servers shared by all suites. Each is ours: started here, on a free port, and stopped here."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text

from controller.store.connection import connect
from controller.store.link_store import LinkStore
from models.engine import Ledger
from models.migrate import migrate
from tests.support.servers import postgres, redis_server, server_binaries

_database_numbers = itertools.count(1)


@pytest.fixture(scope="session", params=sorted(server_binaries()))
def any_redis_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Every server that the scripts must run on."""
    folder = tmp_path_factory.mktemp(str(request.param))
    with redis_server(server_binaries()[request.param], folder) as url:
        yield url


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server that `jackpot run` brings along."""
    with redis_server(server_binaries()["valkey-9"], tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def store(redis_url: str) -> Iterator[LinkStore]:
    """An empty store."""
    yield from _empty_store(redis_url)


@pytest.fixture
def any_store(any_redis_url: str) -> Iterator[LinkStore]:
    """An empty store on every kind of server."""
    yield from _empty_store(any_redis_url)


def _empty_store(url: str) -> Iterator[LinkStore]:
    with redis.Redis.from_url(url) as client:
        client.flushall()
    client = connect(url)
    yield LinkStore(client)
    client.close()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL of our own."""
    folder = Path(tempfile.mkdtemp(prefix="jackpot-postgres-"))  # pytest's own folders are for one user
    with postgres(folder) as url:
        yield url
    shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A migrated, empty database of each kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('ledger') / 'ledger.sqlite'}"
    else:
        url = new_database(request.getfixturevalue("postgres_url"))
    migrate(url)
    return url


def new_database(server_url: str) -> str:
    """A fresh database on our PostgreSQL server."""
    name = f"ledger_{next(_database_numbers)}"
    url = server_url.replace("postgresql:", "postgresql+psycopg:", 1)
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    before, _, after = server_url.partition("/postgres?")
    return f"{before}/{name}?{after}"


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    """A ledger on each kind of database."""
    opened = Ledger(ledger_url)
    yield opened
    opened.engine.dispose()


@pytest.fixture
def sqlite_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger where the kind of database does not matter."""
    url = f"sqlite:///{tmp_path_factory.mktemp('ledger') / 'ledger.sqlite'}"
    migrate(url)
    opened = Ledger(url)
    yield opened
    opened.engine.dispose()
