"""Progressive pay tables: what each hand pays, best first. The floor file holds them, by casino."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.games.vocabulary import Game
from controller.money import AMOUNT_MAX_CENTS, PPM

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}\Z")]
Title = Annotated[str, Meta(min_length=1, max_length=80)]
PositiveCents = Annotated[int, Meta(ge=1, le=AMOUNT_MAX_CENTS)]
OptionalCents = Annotated[int, Meta(ge=0, le=AMOUNT_MAX_CENTS)]

PROGRESSIVE_HANDS: dict[Game, tuple[str, ...]] = {
    # TCP 3.17, GTP pay table
    Game.TCP: ("akq_spades", "akq_other_suit", "straight_flush", "three_of_a_kind", "straight"),
    Game.GTP: ("akq_spades", "akq_other_suit", "straight_flush", "three_of_a_kind", "straight"),
    # MLP 3.17
    Game.MLP: ("royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush"),
    Game.NTP: (),
}
"""Hands that a progressive pay table may name, best first."""

HAND_TITLES = {
    "akq_spades": "A-K-Q of spades",
    "akq_other_suit": "suited A-K-Q",
    "royal_flush": "royal flush",
    "straight_flush": "straight flush",
    "four_of_a_kind": "four of a kind",
    "full_house": "full house",
    "three_of_a_kind": "three of a kind",
    "straight": "straight",
    "flush": "flush",
    "pair": "pair",
}


class PayLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one hand pays: exactly one of a share of a meter, a fixed amount, or odds."""

    hand: str
    meter: Name | None = None
    share_ppm: Annotated[int, Meta(ge=1, le=PPM)] | None = None
    fixed_cents: PositiveCents | None = None
    odds_to_one: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    wager_returned: bool = False
    funded_by: Literal["house", "meter"] = "house"
    """Who pays a fixed amount or odds; from the meter it is ordered like a major."""
    envy_cents: OptionalCents = 0
    rule: Title

    def amount_cents(self, stake_cents: int) -> int | None:
        """What the hand wins beside its wager; None where a meter decides."""
        if self.odds_to_one is not None:
            return self.odds_to_one * stake_cents
        return self.fixed_cents


class PayTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A progressive pay table, best hand first."""

    id: Name
    game: Game
    title: Title
    lines: Annotated[list[PayLine], Meta(min_length=1, max_length=20)]

    def line_of(self, hand: str | None) -> PayLine | None:
        """The line that pays a hand."""
        return next((line for line in self.lines if line.hand == hand), None)
