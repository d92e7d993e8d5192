"""The whole product as a user starts it: `jackpot run` in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.embedded_redis import free_port

START_SECONDS = 60
READY = "Ctrl-C stops everything."


class Product:
    """`jackpot run` on a port and a data directory of its own. It may be stopped and started again."""

    def __init__(self, data_dir: Path, port: int | None = None, **settings: str) -> None:
        self.port = port or free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.keys: dict[str, str] = {}
        self.output = ""
        own = {"data_dir": str(data_dir), "port": str(self.port), **settings}
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JACKPOT_", "PROMETHEUS_"))}
        self._environment = {**inherited, **{f"JACKPOT_{name.upper()}": value for name, value in own.items()}}
        self._rounds: dict[str, int] = {}

    def launch(self) -> None:
        """Start the process; its output is read as it comes."""
        self.output = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deploy.cli", "run"],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self.output += line

    def start(self) -> None:
        """Start it and wait until it says that it serves."""
        self.launch()
        self.wait_until(
            lambda: READY in self.output or self._process.poll() is not None, "the product is ready"
        )
        assert READY in self.output, self.output
        self.keys |= dict(re.findall(r"^  (\S+)\s+(jpk_\S+)$", self.output, re.MULTILINE))

    def stop(self) -> int:
        """Ctrl-C; the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        return self.wait()

    def kill(self) -> None:
        """kill -9 of the supervisor itself."""
        self._process.kill()
        self.wait()

    def wait(self) -> int:
        """The exit code, once it has ended."""
        code = self._process.wait(START_SECONDS)
        self._reader.join()
        return code

    def wait_for_line(self, text: str, times: int = 1) -> None:
        """Wait until it has reported something, so many times."""
        self.wait_until(lambda: self.output.count(text) >= times, f"{text!r} reported {times} times")

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something to become true; generous, because machines are noisy."""
        deadline = time.monotonic() + START_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {START_SECONDS} s: {what}\n{self.output}")
            time.sleep(0.05)

    def read(self, path: str, subject: str = "") -> str:
        """What a GET answers, with a key if one is named."""
        headers = {"Authorization": f"Bearer {self.keys[subject]}"} if subject else {}
        request = urllib.request.Request(self.base + path, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as reply:
            return str(reply.read().decode())

    def get(self, path: str, subject: str = "") -> Any:
        """The JSON that a GET answers."""
        return json.loads(self.read(path, subject))

    def post(self, path: str, subject: str, body: object) -> Any:
        """Post with the key of a table or of the operator; the JSON of the answer."""
        headers = {"Authorization": f"Bearer {self.keys[subject]}"}
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    def bet(self, table: str, boxes: int, progressive_cents: int = 500) -> Any:
        """Record the table's next round, with a progressive bet on so many boxes."""
        number = self._rounds[table] = self._rounds.get(table, 0) + 1
        rows = [
            {"box": box, "ante_cents": 1000, "progressive_cents": progressive_cents}
            for box in range(1, boxes + 1)
        ]
        body = {"bets_closed_at": "2026-01-02T03:04:05Z", "boxes": rows}
        return self.post(f"/v1/tables/{table}/rounds/{number}/bets", table, body)

    def ready(self) -> bool:
        """Whether it can take bets now."""
        try:
            return bool(self.get("/readyz")["ready"])
        except OSError:
            return False

    def drained(self, link: str) -> bool:
        """Whether the ledger has all of a link's journal."""
        return f'jackpot_journal_backlog_entries{{link="{link}"}} 0.0' in self.read("/metrics")

    def children(self) -> dict[str, int]:
        """The process of each part, by name."""
        names = {"valkey-server": "redis", "granian": "api", " worker ": "worker", " beat ": "beat"}
        found: dict[str, int] = {}
        for task in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((task / "stat").read_text().rpartition(")")[2].split()[1])
                command = (task / "cmdline").read_text().replace("\0", " ")
            except (OSError, ValueError):
                continue
            if parent == self._process.pid:
                found |= {name: int(task.name) for mark, name in names.items() if mark in command}
        return found


@contextmanager
def running(data_dir: Path, **settings: str) -> Iterator[Product]:
    """The product, ready; stopped at the end whatever happens."""
    product = Product(data_dir, None, **settings)
    try:
        product.start()
        yield product
    finally:
        product.stop()
