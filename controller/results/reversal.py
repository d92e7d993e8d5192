"""Taking contributions back: the recorded split of a round's bets, undone exactly.

What raised the meter becomes owed by it, because a sign never falls for a reversal; what went to
overflow, reserve and house comes back from there.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from controller.journal.entry import parse_amounts


@dataclass(frozen=True, slots=True)
class MeterReversal:
    """One meter's part, in micro-cents."""

    meter: str
    owed: int
    overflow: int
    reserve: int


@dataclass(frozen=True, slots=True)
class Reversal:
    """What goes back to the players, and from where."""

    staked: int
    house: int
    meters: tuple[MeterReversal, ...]


NOTHING = Reversal(0, 0, ())


def reversal_of(postings: str, meters: Iterable[str], bets: int, before: int, now: int) -> Reversal:
    """Undo `now` of a round's `bets` progressive bets, `before` of which were undone earlier.

    Every bet split alike, so parts divide exactly. Only the cap makes them differ: the bets that went
    to overflow are taken to be the first that come back.

    >>> reversal_of("bets=-1000;meter/m=100;overflow/m=20;reserve/m=30;house=850", ["m"], 2, 0, 1)
    Reversal(staked=500, house=425, meters=(MeterReversal(meter='m', owed=40, overflow=20, reserve=15),))
    """
    if now == 0:
        return NOTHING
    amounts = dict(parse_amounts(postings))

    def part(account: str) -> int:
        whole, rest = divmod(amounts.get(account, 0) * now, bets)
        if rest:
            raise ValueError(f"{account} does not divide between {bets} bets")
        return whole

    parts = []
    for meter in meters:
        contributed = _per_bet(amounts, meter, bets)
        overflow = amounts.get(f"overflow/{meter}", 0)
        back = min(overflow, contributed * (before + now)) - min(overflow, contributed * before)
        parts.append(MeterReversal(meter, contributed * now - back, back, part(f"reserve/{meter}")))
    return Reversal(-part("bets"), part("house"), tuple(parts))


def _per_bet(amounts: dict[str, int], meter: str, bets: int) -> int:
    """One bet's contribution: what raised the meter, went over its cap, or repaid what it owed."""
    total = sum(amounts.get(f"{account}/{meter}", 0) for account in ("meter", "overflow", "owed"))
    whole, rest = divmod(total, bets)
    if rest:
        raise ValueError(f"contributions to {meter} do not divide between {bets} bets")
    return whole
