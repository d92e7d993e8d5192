"""`python -m deploy.bench`: measure, print the table, write it into docs/performance.md."""

import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import click

from controller.settings import Settings, load_settings
from deploy.bench import report, settling, wins, workload
from deploy.bench.contestants import Account, Contestant, measure, prove
from deploy.bench.generators import BenchError, Generators, Target
from deploy.bench.servers import Api, Meters, Peer, serve

DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"
ROUNDS, SECONDS = 7, 2.5
QUICK_ROUNDS, QUICK_SECONDS = 3, 0.6
NO_COMPILER = """\
*** NO C COMPILER: neither cc nor gcc nor clang was found.
*** The script alone (d1, d2) is not measured, so c has nothing to be compared with. HTTP is measured by a
*** load generator in Python, which takes much of the cores that the servers need. Nothing is written down.
"""


class Bench:
    """One run: the servers, the contestants, the accounts."""

    def __init__(self, stack: ExitStack, folder: Path, settings: Settings, only: set[str]) -> None:
        self.generators = Generators(folder)
        self._stack = stack
        self._folder = folder
        self.accounts: dict[str, Account] = {}
        meters = Meters(stack, folder / "product", settings)
        self.accounts["product"] = Account("The product", meters.values, meters.settle)
        self.api = Api(stack, folder, meters)
        self.servers = [meters.version()]
        self.contestants = [c for c in self._of_product(meters) if not only or c.key in only]
        if self.generators.compiler and (not only or only & {"d1", "d2"}):
            self._add_script(settings, only)
        if not only or "f" in only:
            self._add_peer(settings)
        self.contestants.sort(key=lambda c: c.key)

    def _of_product(self, meters: Meters) -> list[Contestant]:
        noop = Target(serve(self._stack, self._folder, self.api, "deploy.bench.noop:app"), ("200",))
        bets = Target(self.api.port, ("201",))
        events = Target(self.api.port, ("200", '"status":201', str(workload.EVENTS)))
        signs = Target(self.api.port, ("200",))
        http = self.generators.http
        count = workload.CONNECTIONS
        return [
            Contestant(
                "a", "Flask handler that does nothing", "requests", workload.noop_lines(), partial(http, noop)
            ),
            Contestant(
                "b",
                "bets of one round, durable",
                "rounds",
                workload.bets_lines(meters.keys, count),
                partial(http, bets),
                "product",
                against="a",
                limit=0.35,
            ),
            Contestant(
                "b1",
                "the same, one connection",
                "rounds",
                workload.bets_lines(meters.keys, 1),
                partial(http, bets),
                "product",
            ),
            Contestant(
                "c",
                f"{workload.EVENTS} rounds per request, durable",
                "rounds",
                workload.events_lines(meters.keys),
                partial(http, events),
                "product",
                events=workload.EVENTS,
                against="d2",
                limit=0.6,
            ),
            Contestant(
                "e", "all meters", "requests", workload.meters_lines(), partial(http, signs), against="a"
            ),
        ]

    def _add_script(self, settings: Settings, only: set[str]) -> None:
        meters = Meters(self._stack, self._folder / "script", settings)
        self.accounts["script"] = Account("The script alone", meters.values, meters.settle)
        for key, rounds, title in (
            ("d1", 1, "script alone from C, one round per call"),
            ("d2", workload.EVENTS, f"script alone from C, {workload.EVENTS} rounds per call"),
        ):
            target = Target(meters.port, (str(rounds),), meters.password)
            lines = workload.script_lines(meters.epochs(), rounds)
            shoot = partial(self.generators.script, target)
            contestant = Contestant(key, title, "rounds", lines, shoot, "script", events=rounds)
            if not only or key in only:
                self.contestants.append(contestant)

    def _add_peer(self, settings: Settings) -> None:
        peer = Peer(self._stack, self._folder, self.api, settings)
        self.accounts["peer"] = Account("The row-lock version", peer.values)
        self.servers.append(peer.version())
        self.contestants.append(
            Contestant(
                "f",
                "row lock: SQLAlchemy ORM, PostgreSQL, durable",
                "rounds",
                workload.bets_lines({}, workload.CONNECTIONS),
                partial(self.generators.http, Target(peer.port, ("201",))),
                "peer",
                against="a",
            )
        )


@click.command()
@click.option("--quick", is_flag=True, help="Half a minute instead of three; writes nothing.")
@click.option("--strict", is_flag=True, help="A missed limit is a failure.")
@click.option("--only", default="", help="Only these lines, e.g. a,b; writes nothing.")
def main(*, quick: bool, strict: bool, only: str) -> None:
    """Measure the product against its limits, its parts and a row-lock peer."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wanted = {key for key in only.split(",") if key}
    try:
        settings = load_settings()
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    try:
        with tempfile.TemporaryDirectory(prefix="jackpot-bench-") as name, ExitStack() as stack:
            sys.exit(_run(stack, Path(name), settings, wanted, quick=quick, strict=strict))
    except BenchError as error:
        raise click.ClickException(str(error)) from error


def _run(
    stack: ExitStack, folder: Path, settings: Settings, only: set[str], *, quick: bool, strict: bool
) -> int:
    started = time.monotonic()
    load = os.getloadavg()[0]
    bench = Bench(stack, folder, settings, only)
    if not bench.generators.compiler:
        print(NO_COMPILER, file=sys.stderr)
    threads = f"{settings.api_processes} processes × {settings.api_threads} threads"
    about = report.surroundings(folder, bench.servers, threads, load)
    rounds, seconds = (QUICK_ROUNDS, QUICK_SECONDS) if quick else (ROUNDS, SECONDS)
    measure(bench.contestants, bench.accounts, rounds, seconds)
    proofs = prove(bench.contestants, bench.accounts)
    figures = report.table(bench.contestants)
    if not only:
        figures += f"\n\n{settling.table()}\n\n{wins.table(folder / 'wins')}"
    print("\n".join([*about, "", figures, "", *(proof.sentence() for proof in proofs)]))
    failures = [c for c in bench.contestants if c.other]
    for contestant in failures:
        print(f"*** {contestant.key}: {contestant.other} UNEXPECTED ANSWERS: {contestant.complaint}")
    print(f"({time.monotonic() - started:.0f} s)")
    wrong = bool(failures) or not all(proof.exact for proof in proofs)
    if not (wrong or quick or only) and bench.generators.compiler:
        report.write(DOCUMENT, about, figures, proofs)
    by_key = {contestant.key: contestant for contestant in bench.contestants}
    late = strict and any(report.missed(contestant, by_key) for contestant in bench.contestants)
    return 1 if wrong or late else 0


if __name__ == "__main__":
    main()
