"""From a claim to its award in the ledger, through the whole product with real workers."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from controller.clock import to_text
from deploy.bench.generators import BenchError
from deploy.embedded_redis import free_port

CLAIMS = 200
START_SECONDS = 60
FLOOR = """
version: 1
casino: Bench
pay_tables:
  - id: pays
    game: TCP
    title: Bench
    lines: [{hand: akq_spades, meter: major, share_ppm: 1_000_000, rule: none}]
links:
  - id: link
    title: Link
    currency: USD
    pay_tables: [pays]
    progressive_bet_cents: 500
    meters: [{id: major, title: Major, reset_cents: 100_000, opening_cents: 100_000, rate_ppm: 150_000}]
    policy: {verification: not_required}
tables: [{id: T-1, game: TCP, link: link, boxes: 7}]
"""


class _Product:
    """`jackpot run` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        floor = folder / "floor.yaml"
        floor.write_text(FLOOR)
        self.port = free_port()
        own = {"DATA_DIR": str(folder / "var"), "PORT": str(self.port), "FLOOR_FILE": str(floor)}
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JACKPOT_", "PROMETHEUS_"))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deploy.cli", "run"],
            env={**inherited, **{f"JACKPOT_{name}": value for name, value in own.items()}},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.keys = self._started()

    def _started(self) -> dict[str, str]:
        keys: dict[str, str] = {}
        deadline = time.monotonic() + START_SECONDS
        for line in self._process.stdout or ():
            found = re.match(r"^  (\S+)\s+(jpk_\S+)$", line)
            if found:
                keys[found[1]] = found[2]
            if "Ctrl-C stops everything." in line:
                return keys
            if time.monotonic() > deadline:
                break
        raise BenchError("the product did not start")

    def call(self, method: str, path: str, key: str, body: object = None) -> Any:
        """A request with the key of a table or of the operator."""
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Authorization": f"Bearer {self.keys[key]}"}
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    def stop(self) -> None:
        """Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=START_SECONDS)


def table(folder: Path, claims: int = CLAIMS) -> str:
    """A Markdown table of what a winner waits for."""
    product = _Product(folder)
    try:
        times = [_one(product, number) for number in range(1, claims + 1)]
    finally:
        product.stop()
    rows = [
        "| one major win, real Celery workers | p50 ms | p99 ms | slowest ms |",
        "|---|---|---|---|",
    ]
    titles = (
        "claim posted → registered, frozen and in the ledger (the answer)",
        "nothing holds it any more → awarded, meter reset, in the ledger",
    )
    for title, column in zip(titles, zip(*times, strict=True), strict=True):
        ordered = sorted(column)
        p50, p99 = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
        rows.append(f"| {title} | {p50:.1f} | {p99:.1f} | {ordered[-1]:.1f} |")
    return "\n".join(rows)


def _one(product: _Product, number: int) -> tuple[float, float]:
    """Milliseconds of the claim's answer, and from the end of its round to its award in the ledger."""
    path = f"/v1/tables/T-1/rounds/{number}"
    box = {"box": 1, "ante_cents": 1000, "progressive_cents": 500}
    product.call("POST", f"{path}/bets", "T-1", {"bets_closed_at": _now(), "boxes": [box]})
    begun = time.perf_counter()
    win = {"box": 1, "dealt_at": _now(), "hand": "akq_spades"}
    answer = product.call("POST", f"{path}/wins", "T-1", win)
    claimed = time.perf_counter()
    product.call("POST", f"{path}/close", "T-1", {})
    claim = f"/v1/claims/{answer['claim']['id']}"
    deadline = time.monotonic() + START_SECONDS
    while product.call("GET", claim, "operator")["status"] != "awarded":
        if time.monotonic() > deadline:
            raise BenchError(f"claim {claim} was not settled")
    return (claimed - begun) * 1000, (time.perf_counter() - claimed) * 1000


def _now() -> str:
    return to_text(time.time_ns() // 1000)
