"""Tables' clocks: how far they are off, how sure that is, and when a hand was dealt by ours.

Times are microseconds. `offset` is what must be added to a table's time to get ours.
"""

from dataclasses import dataclass

_DRIFT = 10_000
"""A clock is off by at most one part in this many of the time since it was measured."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A table's clock as the last measured exchange tells it."""

    offset: int
    uncertainty: int

    def interval(self, table_time: int) -> tuple[int, int]:
        """Between which of our times a moment of the table's clock lies."""
        middle = table_time + self.offset
        return middle - self.uncertainty, middle + self.uncertainty

    def aged(self, age: int) -> "Clock":
        """Less sure by a hundred parts in a million of the time since it was measured: clocks drift.

        >>> Clock(5, 10).aged(1_000_000)
        Clock(offset=5, uncertainty=110)
        """
        return Clock(self.offset, self.uncertainty - (-max(0, age) // _DRIFT))


def measure(table_sent: int, received: int, answered: int, table_received: int) -> Clock | None:
    """The clock from the four timestamps of an exchange; None where they cannot be true.

    The answer cannot come before the question, on either clock. The true offset lies within half of the
    time that the messages were under way.

    >>> measure(1_000, 6_000, 6_100, 1_300)
    Clock(offset=4900, uncertainty=100)
    """
    under_way = (table_received - table_sent) - (answered - received)
    if under_way < 0 or answered < received:
        return None
    return Clock(((received - table_sent) + (answered - table_received)) // 2, (under_way + 1) // 2)


@dataclass(frozen=True, slots=True)
class DealTime:
    """When a hand was dealt by our clock, and whether that can be true at all."""

    earliest: int
    latest: int
    plausible: bool


def deal_time(
    clock: Clock, dealt_at: int, bets_closed_at: int, bets_recorded_at: int, arrived: int
) -> DealTime:
    """The interval of a deal, cut by what we know: after 'no more bets', before the claim arrived.

    A time that the cuts leave nothing of is implausible: the hand was dealt somewhere between the two.

    >>> deal_time(Clock(0, 10), 100, 95, 97, 105)
    DealTime(earliest=90, latest=105, plausible=True)
    >>> deal_time(Clock(0, 10), 500, 95, 97, 105)
    DealTime(earliest=85, latest=105, plausible=False)
    """
    closed, _ = clock.interval(bets_closed_at)
    earliest, latest = clock.interval(dealt_at)
    low, high = max(earliest, closed), min(latest, arrived)
    # The table's own two times are compared by its own clock, which needs no correction.
    if low <= high and dealt_at >= bets_closed_at:
        return DealTime(low, high, plausible=True)
    return DealTime(min(closed, bets_recorded_at, arrived), arrived, plausible=False)
