"""`jackpot run`: the whole product on one machine, as one command, supervised as one.

Embedded Redis unless one is named, SQLite unless a database is named, API, worker and beat. A child
that dies is restarted and reported; Ctrl-C or SIGTERM stops all; nothing outlives the command.
"""

import fcntl
import os
import shutil
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import FrameType

from controller.errors import JackpotError, StartRefused, StoreUnavailable
from controller.settings import Settings, variable
from controller.store.connection import connect, require_durable
from controller.store.link_store import LinkStore
from deploy import embedded_redis
from deploy.child import Child
from deploy.prepare import apply_floor, first_keys, floor_text, prepare_database

READY_SECONDS = 60
WATCH_SECONDS = 0.2
STOP_SECONDS = 10.0


class Supervisor:
    """Starts the parts in order, watches them, stops them in reverse."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._data = settings.data_path
        self._children: list[Child] = []
        self._stopping = False

    def run(self) -> None:
        """Serve until told to stop."""
        self._data.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self._data / "log").mkdir(exist_ok=True)
        with _only_one(self._data / "lock") as self._lock:
            _require_free_port(self._settings.host, self._settings.port)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._on_signal)
            try:
                self._serve()
            finally:
                self._stop()

    def _serve(self) -> None:
        settings = self._start_redis()
        prepare_database(settings)
        content, source = floor_text(settings)
        applied = apply_floor(settings, content, source)
        environment = self._environment(settings)
        for name in ("api", "worker", "beat"):
            self._launch(name, [sys.executable, "-m", "deploy.cli", name], environment)
        self._wait_ready(settings)
        if self._stopping:
            return
        # Last of all: keys are shown once, so they are made only when they can be shown.
        _say_where(settings, source, applied.version, first_keys(settings, content))
        while not self._stopping:
            for child in self._children:
                child.check()
            time.sleep(WATCH_SECONDS)

    def _start_redis(self) -> Settings:
        if self._settings.redis_url:
            client = connect(self._settings.redis_url)
            if self._settings.require_durable_redis:
                require_durable(client)
            return self._settings
        command, url = embedded_redis.prepare(self._data / "redis")
        self._launch("redis", command, dict(os.environ), holds=(self._lock,))
        store = LinkStore(connect(url))
        # No deadline: a large append-only file takes its time to load.
        while self._children[0].running and not self._stopping:
            try:
                store.ping()
                return replace(self._settings, redis_url=url)
            except StoreUnavailable:
                time.sleep(0.05)
        raise StartRefused(f"Redis did not start; see {self._data / 'log' / 'redis.log'}")

    def _environment(self, settings: Settings) -> dict[str, str]:
        multiprocess = self._data / "metrics"
        shutil.rmtree(multiprocess, ignore_errors=True)
        multiprocess.mkdir()
        return {
            **os.environ,
            variable("redis_url"): settings.redis_url,
            variable("database_url"): settings.ledger_url,
            variable("data_dir"): str(self._data),
            "PROMETHEUS_MULTIPROC_DIR": str(multiprocess),
        }

    def _launch(
        self, name: str, command: list[str], environment: dict[str, str], holds: tuple[int, ...] = ()
    ) -> None:
        log = self._data / "log" / f"{name}.log"
        if log.exists():
            log.replace(log.with_suffix(".previous.log"))
        child = Child(name, command, environment, log, _report, holds=holds)
        child.start()
        self._children.append(child)

    def _wait_ready(self, settings: Settings) -> None:
        url = f"http://{settings.host}:{settings.port}/readyz"
        deadline = time.monotonic() + READY_SECONDS
        while not self._stopping and not _answers(url):
            if time.monotonic() > deadline:
                raise StartRefused(f"the API is not ready after {READY_SECONDS} s; see {self._data / 'log'}")
            for child in self._children:
                child.check()
            time.sleep(0.1)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _stop(self) -> None:
        if self._children:
            _report("stopping")
        for child in reversed(self._children):
            child.stop(STOP_SECONDS)
        if self._children:
            _report("stopped; every meter is on disk")


class _only_one:  # noqa: N801 - reads as a phrase where it is used
    """A lock on the data directory, held by us and by the Redis that writes there, until both are gone."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> int:
        self._file = self._path.open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return self._file.fileno()
        except OSError:
            raise StartRefused(
                f"another `jackpot run` is using {self._path.parent}; stop it, or set JACKPOT_DATA_DIR"
            ) from None

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _require_free_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise StartRefused(
                f"cannot listen on {host}:{port}: {error.strerror}. "
                "Stop whatever uses the port, or choose another with JACKPOT_PORT"
            ) from None


def _answers(url: str) -> bool:
    try:
        # Past any proxy that the environment names: this is our own loopback address.
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _report(message: str) -> None:
    print(f"{datetime.now().astimezone():%H:%M:%S} {message}", flush=True)  # noqa: T201 - a terminal program


def _say_where(settings: Settings, source: str, version: int, keys: dict[str, str]) -> None:
    base = f"http://{settings.host}:{settings.port}"
    lines = [
        "",
        f"The jackpot controller is running with {source} (version {version}).",
        "",
        f"  Start page    {base}/",
        f"  A sign        {base}/signage/three-card"
        if source == "the sample floor"
        else f"  Signs         {base}/",
        f"  Meters        {base}/v1/meters",
        f"  API docs      {base}/docs",
        f"  Data and logs {settings.data_path}",
        "",
    ]
    if keys:
        lines += ["Keys, shown once and stored only as hashes (`jackpot keys issue` makes new ones):", ""]
        lines += [f"  {subject:<10} {key}" for subject, key in keys.items()]
        lines.append("")
    lines.append("Ctrl-C stops everything.")
    print("\n".join(lines), flush=True)  # noqa: T201 - a terminal program


def supervise(settings: Settings) -> int:
    """Run until stopped; the exit code."""
    try:
        Supervisor(settings).run()
    except JackpotError as error:
        print(f"jackpot run: {error}", file=sys.stderr)  # noqa: T201 - a terminal program
        return 1
    return 0
