"""The figures as a table, and where and with what they were found."""

import os
import platform
import re
import statistics
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from deploy.bench.contestants import Contestant, Proof

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
PACKAGES = ("granian", "flask", "msgspec", "redis", "hiredis", "sqlalchemy", "psycopg")
HEADER = ("", "what", "per second", "lowest – highest", "ratio", "p50 ms", "p99 ms", "unexpected", "limit")


def table(contestants: list[Contestant]) -> str:
    """An aligned Markdown table."""
    by_key = {contestant.key: contestant for contestant in contestants}
    rows = [HEADER, *(_row(contestant, by_key) for contestant in contestants)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    texts = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])


def missed(contestant: Contestant, by_key: dict[str, Contestant]) -> bool:
    """Whether a contestant has a limit, can be compared, and is below it."""
    other = by_key.get(contestant.against)
    return (
        other is not None and contestant.limit is not None and contestant.ratio_to(other) < contestant.limit
    )


def _row(contestant: Contestant, by_key: dict[str, Contestant]) -> tuple[str, ...]:
    rates = contestant.rates()
    other = by_key.get(contestant.against)
    limit = ""
    if contestant.limit is not None and other is not None:
        verdict = "**MISSED**" if missed(contestant, by_key) else "kept"
        limit = f"≥ {contestant.limit:.2f} of {contestant.against}: {verdict}"
    return (
        contestant.key,
        contestant.title,
        f"{contestant.rate():,.0f} {contestant.unit}",
        f"{min(rates):,.0f} – {max(rates):,.0f}",
        f"{contestant.ratio_to(other):.2f} of {contestant.against}" if other else "",
        f"{contestant.p50_ms():.2f}",
        f"{contestant.p99_ms():.2f}",
        str(contestant.other),
        limit,
    )


def surroundings(folder: Path, servers: list[str], threads: str, load: float) -> list[str]:
    """The command, the machine and the versions, one sentence each."""
    cores = len(os.sched_getaffinity(0))
    kernel = platform.release().partition("-")[0]
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [
        f"`make bench` on {datetime.now(UTC):%Y-%m-%d}, {threads}.",
        f"{cores} cores for servers and load together, {_cpu_model()}, Linux {kernel}.",
        f"Load average before the run: {load:.1f}.",
        f"An fdatasync of 200 bytes takes {_sync_ms(folder):.2f} ms (median).",
        f"Python {platform.python_version()}, {packages}; {', '.join(servers)}.",
    ]


def write(path: Path, about: list[str], figures: str, proofs: list[Proof]) -> None:
    """Put the figures between the markers of the document; the prose around them stays."""
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{path} must hold {BEGIN} and {END} once each")
    body = "\n".join(
        [*(f"- {line}" for line in about), "", figures, "", *(f"- {p.sentence()}." for p in proofs)]
    )
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    path.write_text(pattern.sub(lambda _: f"{BEGIN}\n{body}\n{END}", text), encoding="utf-8")


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _sync_ms(folder: Path) -> float:
    times = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(200):
            started = time.perf_counter()
            file.write(b"x" * 200)
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - started) * 1_000)
    return statistics.median(times)
