"""What a settlement is made of: lines, one or more per bet, each ended once and by a paragraph."""

from collections.abc import Iterator, Mapping

import msgspec

from controller.games.rule_sets import Limits, Odds, RuleSet
from controller.games.vocabulary import BET_TITLES, Bet, Outcome, Point
from controller.money import decimal_text


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A bet, or the part of it that one paragraph decided. `returned_cents` is all that the player gets."""

    box: int
    player: str | None = None
    bet: Bet
    stake_cents: int
    returned_cents: int
    outcome: Outcome
    rule: str
    sentence: str


class Entitlement(msgspec.Struct, frozen=True, kw_only=True):
    """A hand that a progressive pays. Without `amount_cents` it is a major: a share of a meter."""

    box: int
    player: str | None
    hand: str
    amount_cents: int | None
    meter: str | None
    share_ppm: int | None
    rule: str


class EnvyBonus(msgspec.Struct, frozen=True, kw_only=True):
    """What a box receives for another player's hand (TCP 4.7)."""

    box: int
    player: str | None
    amount_cents: int
    hand_box: int
    hand: str
    rule: str


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A paragraph that was noticed and changed no amount, or decided for a whole box or round."""

    box: int | None
    rule: str
    sentence: str


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """A round's end."""

    lines: list[Line]
    claims: list[Entitlement]
    envy: list[EnvyBonus]
    remarks: list[Remark]


BoxLimits = Mapping[Bet, Limits]
NO_LIMITS: BoxLimits = {}


class Seat:
    """Writes the lines of one player on one box."""

    __slots__ = ("box", "lines", "player", "remarks", "rules")

    def __init__(self, rules: RuleSet, box: int, player: str | None) -> None:
        self.rules = rules
        self.box = box
        self.player = player
        self.lines: list[Line] = []
        self.remarks: list[Remark] = []

    def won(self, bet: Bet, stake: int, odds: Odds, point: Point, why: str) -> None:
        """The stake comes back with winnings at odds."""
        back = stake + odds.on(stake)
        self._line(bet, stake, back, Outcome.WON, point, f"{why}: {odds}, {decimal_text(back)} back")

    def bonus(self, stake: int, odds: Odds, why: str) -> None:
        """The Ante Bonus: winnings on a bet that another line settles."""
        back = odds.on(stake)
        on = f"{odds} on {decimal_text(stake)}, {decimal_text(back)} paid"
        self._line(Bet.ANTE_BONUS, 0, back, Outcome.WON, Point.ANTE_BONUS, f"{why}: {on}")

    def lost(self, bet: Bet, stake: int, point: Point, why: str) -> None:
        """The stake is collected."""
        self._line(bet, stake, 0, Outcome.LOST, point, f"{why}: lost")

    def forfeited(self, bet: Bet, stake: int, point: Point) -> None:
        """The stake is collected whatever the hand is: folded, or never shown."""
        self.lost(
            bet, stake, point, f"the hand was {'not shown' if point is Point.NOT_REVEALED else 'folded'}"
        )

    def returned(self, bet: Bet, stake: int, point: Point, why: str) -> None:
        """The stake goes back, neither paid nor collected."""
        self._line(bet, stake, stake, Outcome.RETURNED, point, f"{why}: returned")

    def progressive(self, stake: int, back: int, rule: str, why: str) -> None:
        """A progressive award; its paragraph is the pay table's."""
        self.lines.append(
            Line(
                box=self.box,
                player=self.player,
                bet=Bet.PROGRESSIVE,
                stake_cents=stake,
                returned_cents=back,
                outcome=Outcome.WON,
                rule=rule,
                sentence=f"Progressive {decimal_text(stake)}: {why}.",
            )
        )

    def within(self, bet: Bet, stake: int, limits: BoxLimits) -> int:
        """The part of a bet that plays; what exceeds the maximum goes back (5.1.1)."""
        limit = limits.get(bet)
        if limit is None or not stake:
            return stake
        if stake < limit.min_cents:
            self.remark(
                Point.UNDER_LIMIT,
                f"{BET_TITLES[bet]} {decimal_text(stake)} is below the minimum of "
                f"{decimal_text(limit.min_cents)} and was not noticed in time: it plays",
            )
        if limit.max_cents is None or stake <= limit.max_cents:
            return stake
        self.over(bet, stake - limit.max_cents, limit.max_cents)
        return limit.max_cents

    def over(self, bet: Bet, excess: int, limit: int) -> None:
        """Give back what exceeds the maximum."""
        self.returned(bet, excess, Point.OVER_LIMIT, f"above the maximum of {decimal_text(limit)}")

    def remark(self, point: Point, sentence: str) -> None:
        """Note a paragraph that changes no amount."""
        self.remarks.append(Remark(box=self.box, rule=self.rules.rule(point), sentence=f"{sentence}."))

    def _line(self, bet: Bet, stake: int, back: int, outcome: Outcome, point: Point, why: str) -> None:
        subject = BET_TITLES[bet] if bet is Bet.ANTE_BONUS else f"{BET_TITLES[bet]} {decimal_text(stake)}"
        self.lines.append(
            Line(
                box=self.box,
                player=self.player,
                bet=bet,
                stake_cents=stake,
                returned_cents=back,
                outcome=outcome,
                rule=self.rules.rule(point),
                sentence=f"{subject}: {why}.",
            )
        )


def all_returned(
    box: int, player: str | None, stakes: Mapping[Bet, int], rule: str, why: str
) -> Iterator[Line]:
    """Every bet of a player goes back: a voided round, or an invalidated hand."""
    for bet, stake in stakes.items():
        if stake:
            yield Line(
                box=box,
                player=player,
                bet=bet,
                stake_cents=stake,
                returned_cents=stake,
                outcome=Outcome.RETURNED,
                rule=rule,
                sentence=f"{BET_TITLES[bet]} {decimal_text(stake)}: {why}: returned.",
            )
