"""Amounts. Cents at the borders, micro-cents inside; integers everywhere, rounding in one place.

Rates are parts per million of the bet, so a bet in whole cents times a rate is a whole number of
micro-cents: nothing is rounded until a value is shown or paid.
"""

from typing import NewType

Cents = NewType("Cents", int)
MicroCents = NewType("MicroCents", int)

MICRO_PER_CENT = 1_000_000
PPM = 1_000_000
"""Parts per million: a rate of 1_000_000 is the whole bet."""

AMOUNT_MAX_CENTS = 10**10
"""No single bet, reset or cap is larger: $100 million. Requests beyond it are refused."""

BET_MAX_CENTS = 10**6
"""No progressive bet is larger: $10,000. It keeps a link's turnover within 64 bits for ever, in practice."""


def to_micro(cents: int) -> MicroCents:
    """Whole cents as micro-cents.

    >>> to_micro(5)
    5000000
    """
    return MicroCents(cents * MICRO_PER_CENT)


def displayed(value: int) -> Cents:
    """What a sign shows and a winner is paid: rounded down; the fraction stays in the meter.

    >>> displayed(1_999_999)
    1
    """
    return Cents(value // MICRO_PER_CENT)


def share(stake: int, rate_ppm: int) -> MicroCents:
    """A rate's exact part of a stake in cents.

    >>> share(500, 150_000)
    75000000
    """
    return MicroCents(stake * rate_ppm)


def decimal_text(cents: int) -> str:
    """Cents as people write them.

    >>> decimal_text(123456789)
    '1,234,567.89'
    >>> decimal_text(-5)
    '-0.05'
    """
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole:,}.{rest:02d}"
