"""The whole product as its users start it, for a browser to look at."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import IO, Any

READY = "Ctrl-C stops everything."
START_SECONDS = 90
STOP_SECONDS = 40


class Product:
    """`jackpot run` on a port and a data directory of its own. It may be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self.keys: dict[str, str] = {}
        self._folder = folder
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._rounds: dict[str, int] = {}

    @property
    def base(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it and wait until it says that it serves."""
        output = self._folder / "output.txt"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("JACKPOT_")}
        environment |= {"JACKPOT_DATA_DIR": str(self._folder / "var"), "JACKPOT_PORT": str(self._port)}
        with output.open("wb") as file:
            self._process = self._launch(environment, file)
        deadline = time.monotonic() + START_SECONDS
        while READY not in output.read_text():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError(f"the product did not start:\n{output.read_text()}")
            time.sleep(0.1)
        # Keys are shown at the first start alone.
        self.keys |= dict(re.findall(r"^  (\S+) +(jpk_\S+)$", output.read_text(), re.MULTILINE))

    def stop(self) -> None:
        """Stop all of it, as Ctrl-C does."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def bet(self, table: str, boxes: int, progressive_cents: int = 500) -> None:
        """Record the table's next round, with a progressive bet on so many boxes."""
        number = self._rounds[table] = self._rounds.get(table, 0) + 1
        body = {
            "bets_closed_at": "2026-11-18T08:00:00Z",
            "boxes": [
                {"box": box, "ante_cents": 1000, "progressive_cents": progressive_cents}
                for box in range(1, boxes + 1)
            ],
        }
        assert self.post(table, f"/v1/tables/{table}/rounds/{number}/bets", json.dumps(body)) == 201

    def post(self, subject: str, path: str, body: str) -> int:
        """Send a request with the key of a table or of the operator; the status."""
        request = urllib.request.Request(  # our own loopback address
            self.base + path, body.encode(), {"Authorization": f"Bearer {self.keys[subject]}"}
        )
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.status)

    def meters(self, link: str) -> dict[str, Any]:
        """What the API says of a link's meters."""
        with urllib.request.urlopen(f"{self.base}/v1/meters?link={link}", timeout=10) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer

    @staticmethod
    def _launch(environment: dict[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "deploy.cli", "run"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
