"""Exact odds: how often each progressive hand comes, and what the progressive bet is worth.

Everything is counted with the functions that settle rounds and computed as fractions of a cent:
nothing is rounded here. The model, where a real table is richer:

- each bet is a step of its own: it feeds the meter, then its hand is dealt. Two winners in one round
  are so rare that what the second finds in the meter is left out;
- each box is another player's and has an Ante, so each may give every other one an envy bonus;
- a box folds below Q-6-4, the best play of the Ante. A folded box receives no envy bonus (TCP 3.12.1);
  hands of a progressive pay table are far better and never folded, so a fold costs none of them.
  MLP has no envy bonus; where a casino's MLP table adds one, no box is taken to fold;
- awards are not rounded down to the cent.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from types import MappingProxyType

from controller.games.cards import DECK, QUEEN, Card, Suit
from controller.games.pay_tables import PayLine, PayTable
from controller.games.ranking import ThreeCardHand, progressive_five, progressive_three, rank_three
from controller.games.vocabulary import Game
from controller.money import PPM

ZERO = Fraction(0)
PLAYS_FROM = (QUEEN, 6, 4)
"""The least high-card hand that is played on; below it folding loses less."""

Values = Mapping[str, Fraction]
"""Meters' values in cents, by name."""


@dataclass(frozen=True, slots=True)
class MeterTerms:
    """What of a meter decides the long run."""

    id: str
    reset_cents: int
    rate_ppm: int
    reserve_ppm: int = 0
    cap_cents: int | None = None


@dataclass(frozen=True, slots=True)
class LineOdds:
    """A line of a pay table with its probabilities."""

    line: PayLine
    count: int
    """Hands that it pays, of `total`."""
    total: int
    envied: Fraction
    """The probability that one given other box holds it while the own box has not folded."""

    @property
    def probability(self) -> Fraction:
        """That a bet hits this line; its inverse is the expected number of bets between hits."""
        return Fraction(self.count, self.total)

    @property
    def share(self) -> Fraction:
        """The part of its meter that it pays; 0 where no meter decides."""
        return Fraction(self.line.share_ppm or 0, PPM)


@dataclass(frozen=True, slots=True)
class ProgressiveBet:
    """A progressive bet at the tables of one link that share one pay table."""

    pay_table: PayTable
    bet_cents: int
    meters: tuple[MeterTerms, ...]
    lines: tuple[LineOdds, ...]

    def resets(self) -> dict[str, Fraction]:
        """Every meter at its reset value."""
        return {meter.id: Fraction(meter.reset_cents) for meter in self.meters}

    def on(self, meter: str) -> tuple[LineOdds, ...]:
        """The lines that share this meter."""
        return tuple(line for line in self.lines if line.line.meter == meter)

    @property
    def has_envy(self) -> bool:
        """Whether the number of boxes matters."""
        return any(line.line.envy_cents for line in self.lines)


@dataclass(frozen=True, slots=True)
class ExpectedReturn:
    """What comes back from one bet on average, in cents, by where it comes from."""

    meters: Fraction
    fixed: Fraction
    wagers: Fraction
    envy: Fraction

    @property
    def total(self) -> Fraction:
        """All of it."""
        return self.meters + self.fixed + self.wagers + self.envy


@dataclass(frozen=True, slots=True)
class MeterLongRun:
    """One meter over many cycles; amounts in cents."""

    meter: MeterTerms
    bets_between_resets: Fraction | None
    """None where no line pays the whole meter."""
    growth: Fraction | None
    """What the bets between two resets contribute."""
    at_hit: Fraction
    """The average value that a hit finds."""
    cap_binds: bool
    """The cap is below the average that the bets would feed: the overflow grows without end."""
    reset_cost: Fraction
    """What resets cost per bet."""
    reserved: Fraction
    """What the reserve takes per bet."""

    @property
    def coverage(self) -> Fraction | None:
        """What the reserve collects between resets over the reset value; None where resets cost nothing."""
        return Fraction(self.reserved, self.reset_cost) if self.reset_cost else None

    @property
    def house_tops_up(self) -> Fraction:
        """What the house adds to resets per bet.

        A reserve that takes less than resets cost is drained again and again: in the long run the house
        pays exactly the difference. One that takes more grows, and the house pays nothing.
        """
        return max(ZERO, self.reset_cost - self.reserved)


@dataclass(frozen=True, slots=True)
class LongRun:
    """Where a bet goes in the long run, in cents per bet."""

    bet_cents: int
    meters: tuple[MeterLongRun, ...]
    returned: ExpectedReturn
    """With every meter at its average at a hit."""
    to_meters: Fraction
    to_reserves: Fraction
    house_tops_up: Fraction

    @property
    def kept(self) -> Fraction:
        """What the house keeps of a bet after meters, reserves, its part of resets and the awards it pays."""
        paid = self.returned.fixed + self.returned.wagers + self.returned.envy
        return self.bet_cents - self.to_meters - self.to_reserves - self.house_tops_up - paid


# How often each hand comes.


@cache
def hand_counts(game: Game) -> Mapping[str, int]:
    """Of all hands of a game, how many each progressive hand has; `""` counts those that are none.

    >>> dict(hand_counts(Game.TCP)) == {"akq_spades": 1, "akq_other_suit": 3, "straight_flush": 44,
    ...     "three_of_a_kind": 52, "straight": 720, "": 21280}
    True
    """
    if game is Game.NTP:
        return MappingProxyType({})
    if game is Game.MLP:
        return MappingProxyType(_five_card_counts())
    return MappingProxyType(Counter(hand for _, hand, _ in _three_card_hands()))


@cache
def _three_card_hands() -> tuple[tuple[tuple[int, int, int], str, bool], ...]:
    """Each of the 22,100 hands: places in the deck, progressive hand, whether it is played on."""
    found = []
    for a, b, c in combinations(range(len(DECK)), 3):
        hand = (DECK[a], DECK[b], DECK[c])
        rank = rank_three(hand)
        played = rank.hand > ThreeCardHand.HIGH_CARD or rank.cards >= PLAYS_FROM
        found.append(((a, b, c), progressive_three(hand, rank) or "", played))
    return tuple(found)


def _five_card_counts() -> dict[str, int]:
    """All 2,598,960 hands of five cards, one representative for each set of ranks and of suitedness.

    Five different ranks are suited in 4 of their 4^5 ways. Ranks that repeat cannot be suited, and come
    in as many ways as their suits can be chosen.
    """
    counts: Counter[str] = Counter()
    spades, other = Suit.SPADES, (Suit.SPADES, Suit.HEARTS, Suit.DIAMONDS, Suit.CLUBS)
    for ranks in combinations_with_replacement(range(2, 15), 5):
        repeats = Counter(ranks)
        if len(repeats) == 1:
            continue  # five of a kind
        ways = prod(comb(4, times) for times in repeats.values())
        a, b, c, d, e = (Card(rank, other[i % 4]) for i, rank in enumerate(ranks))
        if len(repeats) == 5:
            f, g, h, i, j = (Card(rank, spades) for rank in ranks)
            counts[progressive_five((f, g, h, i, j)) or ""] += 4
            ways -= 4
        counts[progressive_five((a, b, c, d, e)) or ""] += ways
    return dict(counts)


@cache
def _played_with() -> Mapping[tuple[int, ...], int]:
    """How many hands that are played on hold these cards, for every set of up to three cards."""
    counts: Counter[tuple[int, ...]] = Counter()
    for places, _, played in _three_card_hands():
        if played:
            counts.update(held for size in range(4) for held in combinations(places, size))
    return counts


def envied_probability(game: Game, hand: str) -> Fraction:
    """That one given other box holds a hand while the own box, from the same deck, has not folded.

    For each such hand, the own hands without its cards are counted by inclusion and exclusion.

    >>> envied_probability(Game.TCP, "akq_spades") < Fraction(1, 22_100)
    True
    """
    if game is Game.MLP:
        counts = hand_counts(game)
        return Fraction(counts.get(hand, 0), sum(counts.values()))
    played = _played_with()
    pairs = sum(
        (-1) ** size * played[held]
        for places, found, _ in _three_card_hands()
        if found == hand
        for size in range(4)
        for held in combinations(places, size)
    )
    return Fraction(pairs, comb(52, 3) * comb(49, 3))


def progressive_bet(pay_table: PayTable, bet_cents: int, meters: tuple[MeterTerms, ...]) -> ProgressiveBet:
    """A pay table's lines with their odds."""
    counts = hand_counts(pay_table.game)
    total = sum(counts.values())
    lines = tuple(
        LineOdds(
            line=line,
            count=counts[line.hand],
            total=total,
            envied=envied_probability(pay_table.game, line.hand) if line.envy_cents else ZERO,
        )
        for line in pay_table.lines
    )
    return ProgressiveBet(pay_table, bet_cents, meters, lines)


# What the bet is worth.


def expected_return(bet: ProgressiveBet, values: Values, boxes: int) -> ExpectedReturn:
    """The average that comes back from one bet, with meters at these values and this many boxes in play.

    Expectations add up whatever the cards have to do with each other: `boxes - 1` others, each with the
    same chance of a hand that gives an envy bonus.
    """
    meters = fixed = wagers = envy = ZERO
    for line in bet.lines:
        if line.line.meter is not None:
            meters += line.probability * line.share * values[line.line.meter]
        fixed += line.probability * (line.line.amount_cents(bet.bet_cents) or 0)
        wagers += line.probability * (bet.bet_cents if line.line.wager_returned else 0)
        envy += line.envied * line.line.envy_cents * (boxes - 1)
    return ExpectedReturn(meters, fixed, wagers, envy)


def break_even(bet: ProgressiveBet, meter: str, boxes: int, values: Values | None = None) -> Fraction:
    """The value of one meter at which a bet returns itself, others at `values` (at reset if not given).

    The return is a straight line in the meter's value. Zero or less: the bet returns itself at any value.
    """
    others = {**bet.resets(), **(values or {}), meter: ZERO}
    missing = bet.bet_cents - expected_return(bet, others, boxes).total
    return Fraction(missing, sum((line.probability * line.share for line in bet.on(meter)), ZERO))


# The long run.


def average_at_hit(contribution: Fraction, reset: Fraction, full: Fraction, drained: Fraction) -> Fraction:
    """The average value of a meter when a bet wins from it.

    `contribution`: what each bet adds. `full`: the probability of a line that pays the whole meter.
    `drained`: the sum of probability times share over all lines of the meter, the full ones included.

    Let V be the value that a bet's hand finds, its own contribution included. After the hand the meter is
    at `reset` with probability `full`, at (1 - s)·V after a line that pays the share s, else at V; then
    the next bet adds its contribution. Where E[V] stands still,

        E[V] = contribution + full·reset + (1 - drained)·E[V]
        E[V] = (contribution + full·reset) / drained

    The hand does not depend on V, so every line finds E[V] on average. It is also the average at the
    first full award after a reset: a function a·m + b of the value m after a reset satisfies the same
    recursion with a = full / drained and b = contribution / drained. With no partial line it becomes
    reset + contribution / full: the reset value and what the bets between two resets add.

    A cap does not move it, while the average is below the cap: what overflows comes back in the next
    cycle, and in the long run what a meter pays is what it gets.

    >>> average_at_hit(Fraction(75), Fraction(2_000_000), Fraction(1, 22_100), Fraction(1, 22_100))
    Fraction(3657500, 1)
    """
    return Fraction(contribution + full * reset, drained)


def _meter_long_run(bet: ProgressiveBet, meter: MeterTerms) -> MeterLongRun:
    lines = bet.on(meter.id)
    full = sum((line.probability for line in lines if line.share == 1), ZERO)
    drained = sum((line.probability * line.share for line in lines), ZERO)
    contribution = Fraction(bet.bet_cents * meter.rate_ppm, PPM)
    average = average_at_hit(contribution, Fraction(meter.reset_cents), full, drained)
    cap_binds = meter.cap_cents is not None and average > meter.cap_cents
    return MeterLongRun(
        meter=meter,
        bets_between_resets=Fraction(1, full) if full else None,
        growth=Fraction(contribution, full) if full else None,
        at_hit=min(average, Fraction(meter.cap_cents)) if meter.cap_cents is not None else average,
        cap_binds=cap_binds,
        reset_cost=full * meter.reset_cents,
        reserved=Fraction(bet.bet_cents * meter.reserve_ppm, PPM),
    )


def long_run(bet: ProgressiveBet, boxes: int) -> LongRun:
    """Where the bets go if all of the link's bets are on this pay table."""
    meters = tuple(_meter_long_run(bet, meter) for meter in bet.meters)
    return LongRun(
        bet_cents=bet.bet_cents,
        meters=meters,
        returned=expected_return(bet, {m.meter.id: m.at_hit for m in meters}, boxes),
        to_meters=Fraction(bet.bet_cents * sum(m.rate_ppm for m in bet.meters), PPM),
        to_reserves=sum((m.reserved for m in meters), ZERO),
        house_tops_up=sum((m.house_tops_up for m in meters), ZERO),
    )


def variations(bet: ProgressiveBet) -> Iterator[tuple[str, ProgressiveBet]]:
    """The bet as it is, and with reset, rate or reserve of its meters changed, where that is possible."""
    half = Fraction(1, 2)
    five_points = Fraction(PPM, 20)
    one = Fraction(1)
    for title, reset, rate, reserve in (
        ("as it is", one, ZERO, one),
        ("reset x 0.5", half, ZERO, one),
        ("reset x 2", Fraction(2), ZERO, one),
        ("rate - 5 points", one, -five_points, one),
        ("rate + 5 points", one, five_points, one),
        ("reserve x 0", one, ZERO, ZERO),
        ("reserve x 2", one, ZERO, Fraction(2)),
    ):
        meters = tuple(
            replace(
                meter,
                reset_cents=int(meter.reset_cents * reset),
                rate_ppm=int(meter.rate_ppm + rate),
                reserve_ppm=int(meter.reserve_ppm * reserve),
            )
            for meter in bet.meters
        )
        if _possible(meters):
            yield title, replace(bet, meters=meters)


def _possible(meters: tuple[MeterTerms, ...]) -> bool:
    within = all(m.cap_cents is None or m.reset_cents <= m.cap_cents for m in meters)
    taken = sum(m.rate_ppm + m.reserve_ppm for m in meters)
    return within and taken <= PPM and all(m.rate_ppm >= 0 for m in meters)
