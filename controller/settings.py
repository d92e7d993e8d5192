"""Every setting of the product, its environment variable, its default and its meaning, in one place.

`docs/settings.md` is written from this class (`make docs`), so a setting cannot go undocumented.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PREFIX = "JACKPOT_"


def _setting(default: object, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """What the environment says. Frozen: a running process never changes its mind."""

    redis_url: str = _setting("", "Redis that holds the meters; empty: `jackpot run` starts its own")
    broker_url: str = _setting(
        "", "Redis that carries Celery's messages; empty: the meters' server, database 1"
    )
    database_url: str = _setting("", "SQLAlchemy URL of the ledger; empty: SQLite in the data directory")
    data_dir: str = _setting("var", "Where `jackpot run` keeps its own servers' files")
    floor_file: str = _setting("", "The floor that `jackpot run` puts in force; empty: the sample floor")
    host: str = _setting("127.0.0.1", "Address that the API listens on")
    port: int = _setting(8080, "Port that the API listens on")
    api_processes: int = _setting(2, "API processes")
    api_threads: int = _setting(16, "Threads per API process")
    worker_threads: int = _setting(4, "Threads per Celery worker")
    worker_metrics_port: int = _setting(0, "Port of a worker's own /metrics; 0: none")
    drain_batch: int = _setting(500, "Journal entries per SQL transaction")
    drain_seconds: int = _setting(5, "Longest a drain task runs before it lets another link have its turn")
    sweep_seconds: int = _setting(2, "How often beat asks for a drain in case a message was lost")
    require_durable_redis: bool = _setting(
        True, "Refuse to start on a Redis that does not fsync before it answers"
    )
    ledger_wait_ms: int = _setting(
        2000, "How long answers to claims and decisions wait for the ledger before they say 202"
    )
    log_level: str = _setting("INFO", "Least severe level that is logged")

    @property
    def data_path(self) -> Path:
        """The data directory, absolute."""
        return Path(self.data_dir).resolve()

    @property
    def ledger_url(self) -> str:
        """The ledger's SQLAlchemy URL."""
        return self.database_url or f"sqlite:///{self.data_path / 'ledger.sqlite'}"

    @property
    def celery_broker_url(self) -> str:
        """The broker's URL."""
        return self.broker_url or urlsplit(self.redis_url)._replace(path="/1").geturl()


def variable(name: str) -> str:
    """The environment variable of a setting.

    >>> variable("redis_url")
    'JACKPOT_REDIS_URL'
    """
    return PREFIX + name.upper()


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment; a value of the wrong type or an unknown name is refused."""
    source = os.environ if environment is None else environment
    known = {variable(item.name): item for item in fields(Settings)}
    unknown = sorted(name for name in source if name.startswith(PREFIX) and name not in known)
    if unknown:
        raise ValueError(f"unknown setting {unknown[0]}; `jackpot settings` lists them all")
    values = {
        item.name: _parse(name, source[name], item.type) for name, item in known.items() if name in source
    }
    return Settings(**values)  # type: ignore[arg-type]


def _parse(name: str, text: str, kind: object) -> object:
    if kind is int:
        if not text.isdigit():
            raise ValueError(f"{name}: expected a whole number, got {text!r}")
        return int(text)
    if kind is bool:
        if text not in ("0", "1"):
            raise ValueError(f"{name}: expected 0 or 1, got {text!r}")
        return text == "1"
    return text
