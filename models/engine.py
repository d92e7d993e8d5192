"""Engines and transactions, in one place: what SQLite and PostgreSQL must be told to be safe."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from controller.errors import LedgerUnavailable

BUSY_SECONDS = 10
STATEMENT_SECONDS = 60


def open_engine(url: str) -> Engine:
    """An engine whose commits are on disk when they return, whose waits are bounded."""
    if url.startswith("postgresql:"):
        url = url.replace("postgresql:", "postgresql+psycopg:", 1)
    if url.startswith("sqlite"):
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    # A server that restarts leaves dead connections behind: look before use.
    return create_engine(
        url,
        pool_pre_ping=True,
        pool_size=20,
        pool_timeout=BUSY_SECONDS,
        connect_args={
            "connect_timeout": BUSY_SECONDS,
            "tcp_user_timeout": BUSY_SECONDS * 1000,
            "options": f"-c statement_timeout={STATEMENT_SECONDS}s",
        },
    )


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # The driver's own BEGIN is deferred: two writers would meet only at commit, too late to retry.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any) -> None:
    immediate = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


class Ledger:
    """Access to SQL: short transactions, rolled back unless they end well."""

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that only reads."""
        with translated(), Session(self.engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that commits at the end of the block, or not at all."""
        engine = self.engine.execution_options(writes=True)
        with translated(), Session(engine) as session, session.begin():
            yield session


@contextmanager
def translated() -> Iterator[None]:
    """Turns 'cannot be reached' into our own error; a wrong statement stays what it is: a bug."""
    try:
        yield
    except OperationalError as error:
        raise LedgerUnavailable(str(error.orig)) from error
    except PoolTimeout as error:
        raise LedgerUnavailable(str(error)) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise LedgerUnavailable(str(error.orig)) from error
        raise
