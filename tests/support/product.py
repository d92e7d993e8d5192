"""The whole product as a user starts it: `jackpot run` in a process of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.embedded_redis import free_port

START_SECONDS = 60
READY = "Ctrl-C stops everything."


class Product:
    """A running product: its address, the keys that it printed, what it reported."""

    def __init__(self, data_dir: Path, port: int, environment: dict[str, str]) -> None:
        self.data_dir = data_dir
        self.port = port
        self.base = f"http://127.0.0.1:{port}"
        self.lines: list[str] = []
        own = {"JACKPOT_DATA_DIR": str(data_dir), "JACKPOT_PORT": str(port), **environment}
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JACKPOT_", "PROMETHEUS_"))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deploy.cli", "run"],
            env={**inherited, **own},
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
            self.lines += (line.rstrip("\n") for line in iter(output.readline, ""))

    @property
    def output(self) -> str:
        """Everything printed so far."""
        return "\n".join(self.lines)

    @property
    def keys(self) -> dict[str, str]:
        """The keys that the first start printed."""
        return dict(re.findall(r"^  (\S+)\s+(jpk_\S+)$", self.output, re.MULTILINE))

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

    def wait_ready(self) -> None:
        """Wait for the banner."""
        self.wait_until(
            lambda: READY in self.output or self._process.poll() is not None, "the product is ready"
        )
        assert READY in self.output, self.output

    def stop(self) -> int:
        """Ctrl-C; the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        """The exit code, once it has ended."""
        code = self._process.wait(START_SECONDS)
        self._reader.join()
        return code

    def kill(self) -> None:
        """kill -9 of the supervisor itself."""
        self._process.kill()
        self.wait()

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
def running(data_dir: Path, port: int | None = None, **settings: str) -> Iterator[Product]:
    """The product, ready; stopped at the end whatever happens."""
    environment = {f"JACKPOT_{name.upper()}": value for name, value in settings.items()}
    product = Product(data_dir, port or free_port(), environment)
    try:
        product.wait_ready()
        yield product
    finally:
        product.stop()
