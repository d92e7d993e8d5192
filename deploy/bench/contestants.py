"""Who is measured, by what, and how: short rounds of each in turn, so that a busy machine is busy for all."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from deploy.bench.generators import Figures
from deploy.bench.workload import BET_CENTS, BETS, OPENING_CENTS, RATES_PPM, Line

WARM_UP_SECONDS = 0.7
PAUSE_SECONDS = 0.1


@dataclass
class Contestant:
    """One line of the table."""

    key: str
    title: str
    unit: str
    lines: list[Line]
    shoot: Callable[[list[Line], float], Figures]
    account: str = ""
    """Whose meters its rounds go to."""
    events: int = 1
    """Rounds, or requests, per answer."""
    against: str = ""
    limit: float | None = None
    runs: list[Figures] = field(default_factory=list)
    other: int = 0
    complaint: str = ""
    rounds_of: dict[str, int] = field(default_factory=dict)

    def run(self, seconds: float, *, counts: bool) -> None:
        """One round; a warm-up counts only for the money."""
        figures = self.shoot(self.lines, seconds)
        self.other += figures.other
        self.complaint = self.complaint or figures.complaint
        for line, acknowledged in zip(self.lines, figures.acknowledged, strict=True):
            self.rounds_of[line.link] = self.rounds_of.get(line.link, 0) + acknowledged * self.events
        if counts:
            self.runs.append(figures)

    def rates(self) -> list[float]:
        """Events per second, round by round."""
        return [run.per_second * self.events for run in self.runs]

    def rate(self) -> float:
        """The median of them."""
        return statistics.median(self.rates())

    def ratio_to(self, other: "Contestant") -> float:
        """The median of the ratios of rounds that ran next to each other."""
        pairs = zip(self.rates(), other.rates(), strict=True)
        return statistics.median(mine / theirs if theirs else 0.0 for mine, theirs in pairs)

    def p50_ms(self) -> float:
        """The median of the rounds' medians."""
        return statistics.median(run.p50_ms for run in self.runs)

    def p99_ms(self) -> float:
        """The median of the rounds' 99th percentiles."""
        return statistics.median(run.p99_ms for run in self.runs)


@dataclass(frozen=True)
class Account:
    """Meters that several contestants pay into."""

    title: str
    values: Callable[[], dict[str, int]]
    settle: Callable[[], None] = lambda: None


def measure(contestants: list[Contestant], accounts: dict[str, Account], rounds: int, seconds: float) -> None:
    """Warm everybody up, then go round; each round begins with another contestant."""
    for contestant in contestants:
        contestant.run(WARM_UP_SECONDS, counts=False)
        _settle(contestant, accounts)
    for number in range(rounds):
        first = number % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            contestant.run(seconds, counts=True)
            _settle(contestant, accounts)


def _settle(contestant: Contestant, accounts: dict[str, Account]) -> None:
    if contestant.account:
        accounts[contestant.account].settle()
    time.sleep(PAUSE_SECONDS)


@dataclass(frozen=True)
class Proof:
    """What a meter should have risen by, and what it did."""

    account: str
    link: str
    rounds: int
    expected: int
    risen: int

    @property
    def exact(self) -> bool:
        """Not a micro-cent more or less."""
        return self.expected == self.risen

    def sentence(self) -> str:
        """The sum, written out."""
        verdict = (
            "the meter rose by exactly that" if self.exact else f"WRONG: THE METER ROSE BY {self.risen:,}"
        )
        return (
            f"{self.account}, {self.link}: {self.rounds:,} acknowledged rounds × {BETS} bets × "
            f"{BET_CENTS} cents × {RATES_PPM[self.link]:,} ppm = {self.expected:,} micro-cents; {verdict}"
        )


def prove(contestants: list[Contestant], accounts: dict[str, Account]) -> list[Proof]:
    """Compare every meter with what was acknowledged, to the micro-cent."""
    proofs = []
    for key, account in accounts.items():
        values = account.values()
        for link, rate in RATES_PPM.items():
            rounds = sum(c.rounds_of.get(link, 0) for c in contestants if c.account == key)
            expected = rounds * BETS * BET_CENTS * rate
            risen = values[link] - OPENING_CENTS * 1_000_000
            proofs.append(Proof(account.title, link, rounds, expected, risen))
    return proofs
