"""A rule document as data: what it pays, what a fold forfeits, and the paragraph of every point it decides.

A casino's variant is another rule set in its floor file. The four standard ones are in `standard/`.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from controller.games.pay_tables import Name, OptionalCents, PositiveCents, Title
from controller.games.ranking import ThreeCardHand
from controller.games.vocabulary import Bet, Game, Point

OddsText = Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,4} to [1-9][0-9]{0,2}\Z")]
"""Odds as the documents write them: `40 to 1`, `1 to 2`."""


class Odds(NamedTuple):
    """Winnings per stake. Rounded down to the cent where they do not divide."""

    pays: int
    per: int

    def on(self, stake_cents: int) -> int:
        """The winnings, without the stake.

        >>> Odds.parse("1 to 2").on(501)
        250
        """
        return stake_cents * self.pays // self.per

    @classmethod
    def parse(cls, text: str) -> "Odds":
        """Read `40 to 1`."""
        pays, _, per = text.partition(" to ")
        return cls(int(pays), int(per))

    def __str__(self) -> str:
        return f"{self.pays} to {self.per}"


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the sign at the table says about one bet (3.3)."""

    min_cents: OptionalCents = 0
    max_cents: PositiveCents | None = None


class Fold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What becomes of the other bets of a player who folds; `stands` means settled on the hand."""

    pair_plus: Literal["lost", "stands"]
    progressive: Literal["lost", "stands"]


class PokerRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """What a three-card poker game pays."""

    ante: OddsText
    play: OddsText
    pair_plus: dict[str, OddsText]
    ante_bonus: dict[str, OddsText]
    qualifies_from: Annotated[int, Meta(ge=2, le=14)]
    fold: Fold
    community_cards: Literal[0, 2] = 0

    @cached_property
    def ante_odds(self) -> Odds:
        """The Ante's odds."""
        return Odds.parse(self.ante)

    @cached_property
    def play_odds(self) -> Odds:
        """The Play Bet's odds."""
        return Odds.parse(self.play)

    @cached_property
    def pair_plus_odds(self) -> dict[ThreeCardHand, Odds]:
        """Pair Plus by hand."""
        return _by_hand(self.pair_plus)

    @cached_property
    def ante_bonus_odds(self) -> dict[ThreeCardHand, Odds]:
        """Ante Bonus by hand."""
        return _by_hand(self.ante_bonus)


class PicturesRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """What a three-pictures game pays."""

    initial: OddsText
    initial_by_points: dict[str, OddsText] = {}
    tie: OddsText
    three_pictures: OddsText

    @cached_property
    def initial_odds(self) -> dict[int | None, Odds]:
        """The Initial Bet's odds by the winning hand's points; None is Three Pictures."""
        usual: dict[int | None, Odds] = dict.fromkeys([None, *range(10)], Odds.parse(self.initial))
        return usual | {int(points): Odds.parse(odds) for points, odds in self.initial_by_points.items()}

    @cached_property
    def tie_odds(self) -> Odds:
        """The Tie bet's odds."""
        return Odds.parse(self.tie)

    @cached_property
    def three_pictures_odds(self) -> Odds:
        """The Three Pictures bet's odds."""
        return Odds.parse(self.three_pictures)


class RuleSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """One version of one document."""

    id: Name
    game: Game
    title: Title
    version: Title
    poker: PokerRules | None = None
    pictures: PicturesRules | None = None
    paragraphs: dict[str, Title]

    @cached_property
    def _by_point(self) -> dict[Point, str]:
        return {Point(name): rule for name, rule in self.paragraphs.items()}

    def rule(self, point: Point) -> str:
        """The paragraph that decides a point."""
        return self._by_point[point]

    def knows(self, point: Point) -> bool:
        """Whether the document decides this point at all."""
        return point in self._by_point

    @property
    def poker_rules(self) -> PokerRules:
        """The pays of a poker game."""
        if self.poker is None:
            raise TypeError(f"{self.id} has no poker rules")
        return self.poker

    @property
    def pictures_rules(self) -> PicturesRules:
        """The pays of a three-pictures game."""
        if self.pictures is None:
            raise TypeError(f"{self.id} has no three-pictures rules")
        return self.pictures


LIMITED_BETS: dict[Game, tuple[Bet, ...]] = {
    **dict.fromkeys((Game.TCP, Game.MLP, Game.GTP), (Bet.ANTE, Bet.PAIR_PLUS)),
    Game.NTP: (Bet.INITIAL, Bet.TIE, Bet.THREE_PICTURES),
}
"""Bets that a table's sign may limit. The Play Bet follows the Ante, the progressive bet is prescribed."""

_ALWAYS = {
    Point.OVER_LIMIT,
    Point.UNDER_LIMIT,
    Point.WALKED_AWAY_DECIDED,
    Point.OPTIONS,
    Point.OPTION_CONTINUE,
    Point.OPTION_RECONSTRUCTED,
    Point.OPTION_RETURN,
    Point.PLAYER_CARDS_WRONG,
    Point.FOUND_LATE,
    Point.VOID_RETURNS,
    Point.HOUSE,
}
_POKER = {
    Point.FOLD,
    Point.FOLD_PAIR_PLUS,
    Point.FOLD_PROGRESSIVE,
    Point.NOT_REVEALED,
    Point.NOT_QUALIFIED,
    Point.BEATS_DEALER,
    Point.LOSES_TO_DEALER,
    Point.STAND_OFF,
    Point.PAIR_PLUS,
    Point.ANTE_BONUS,
    Point.PROGRESSIVE,
    Point.NO_ANTE,
    Point.PLAY_OVER_ANTE,
    Point.PLAY_UNDER_ANTE,
    Point.WALKED_AWAY_UNDECIDED,
}
_PICTURES = {
    Point.WIN_ON_POINTS,
    Point.HIGHER_RANK,
    Point.LOWER_RANK,
    Point.SAME_RANK,
    Point.SAME_POINTS,
    Point.NO_TIE,
    Point.THREE_PICTURES,
    Point.NO_INITIAL,
    Point.OVER_LIMIT_EXEMPT,
}
_PAYABLE = tuple(hand.name.lower() for hand in ThreeCardHand)


def rule_set_contradictions(path: str, rules: RuleSet) -> Iterator[tuple[str, str]]:
    """What is wrong with a rule set beyond the shape of its fields: paths and expectations."""
    wanted, other = ("pictures", "poker") if rules.game is Game.NTP else ("poker", "pictures")
    if getattr(rules, wanted) is None or getattr(rules, other) is not None:
        yield f"{path}.{wanted}", f"expected for {rules.game}, and no {other}"
        return
    if rules.poker is not None:
        yield from _poker_contradictions(f"{path}.poker", rules.poker, rules.game)
    if rules.pictures is not None:
        for points in rules.pictures.initial_by_points:
            if points not in tuple("0123456789"):
                yield f"{path}.pictures.initial_by_points.{points}", "expected points from 0 to 9"
    yield from _paragraph_contradictions(f"{path}.paragraphs", rules)


def _poker_contradictions(path: str, poker: PokerRules, game: Game) -> Iterator[tuple[str, str]]:
    for field, pays in (("pair_plus", poker.pair_plus), ("ante_bonus", poker.ante_bonus)):
        for hand in pays:
            if hand not in _PAYABLE:
                yield f"{path}.{field}.{hand}", f"expected one of {', '.join(_PAYABLE)}"
    if (poker.community_cards == 2) != (game is Game.MLP):
        yield f"{path}.community_cards", "expected 2 for MLP and 0 for the others"


def _paragraph_contradictions(path: str, rules: RuleSet) -> Iterator[tuple[str, str]]:
    known = set(Point)
    for name in rules.paragraphs:
        if name not in known:
            yield f"{path}.{name}", "expected a point that a document decides (docs/games.md)"
    for point in sorted(_ALWAYS | (_PICTURES if rules.game is Game.NTP else _POKER)):
        if point not in rules.paragraphs:
            yield path, f"expected the paragraph of {point}"


def _by_hand(pays: dict[str, str]) -> dict[ThreeCardHand, Odds]:
    return {ThreeCardHand[hand.upper()]: Odds.parse(odds) for hand, odds in pays.items()}
