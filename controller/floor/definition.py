"""What a floor is made of. Immutable, checked at construction by `controller.floor.file`.

Every link has a digest over all that decides its money and its layout. Redis keeps the digest in
force; an API node that knows another one is told so and loads the floor again.
"""

import hashlib
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.ids import UNLINKED, LinkId, MeterId
from controller.money import AMOUNT_MAX_CENTS, BET_MAX_CENTS, PPM

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}\Z")]
TableName = Annotated[str, Meta(pattern=r"^[A-Z0-9][A-Z0-9-]{0,19}\Z")]
Title = Annotated[str, Meta(min_length=1, max_length=80)]
PositiveCents = Annotated[int, Meta(ge=1, le=AMOUNT_MAX_CENTS)]
OptionalCents = Annotated[int, Meta(ge=0, le=AMOUNT_MAX_CENTS)]
RatePpm = Annotated[int, Meta(ge=0, le=PPM)]


class Game(StrEnum):
    """The rule documents that we implement."""

    TCP = "TCP"
    MLP = "MLP"
    GTP = "GTP"
    NTP = "NTP"


GAME_TITLES = {
    Game.TCP: "3 Card Poker",
    Game.MLP: "Multi-Link Progressive 3 Card Poker",
    Game.GTP: "Three-Card Poker Progressive",
    Game.NTP: "Non-Commission Three Pictures",
}

PROGRESSIVE_HANDS: dict[Game, tuple[str, ...]] = {
    # TCP 3.17, GTP pay table
    Game.TCP: ("akq_spades", "akq_other_suit", "straight_flush", "three_of_a_kind", "straight"),
    Game.GTP: ("akq_spades", "akq_other_suit", "straight_flush", "three_of_a_kind", "straight"),
    # MLP 3.17
    Game.MLP: ("royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush"),
    Game.NTP: (),
}
"""Hands that a progressive pay table may name, best first."""


class PayLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one hand pays: exactly one of a share of a meter, a fixed amount, or odds."""

    hand: str
    meter: Name | None = None
    share_ppm: Annotated[int, Meta(ge=1, le=PPM)] | None = None
    fixed_cents: PositiveCents | None = None
    odds_to_one: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    wager_returned: bool = False
    envy_cents: OptionalCents = 0
    rule: Title


class PayTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A progressive pay table, best hand first."""

    id: Name
    game: Game
    title: Title
    lines: Annotated[list[PayLine], Meta(min_length=1, max_length=20)]


class Meter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One level of a link's jackpot, with the parameters that decide its money."""

    id: Name
    title: Title
    reset_cents: OptionalCents
    opening_cents: OptionalCents
    rate_ppm: RatePpm
    reserve_ppm: RatePpm = 0
    cap_cents: PositiveCents | None = None


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Tables that share jackpots. One pay table per game; all of them name the same meters."""

    id: Name
    title: Title
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}\Z")]
    pay_tables: Annotated[list[Name], Meta(min_length=1, max_length=4)]
    progressive_bet_cents: Annotated[int, Meta(ge=1, le=BET_MAX_CENTS)]
    meters: Annotated[list[Meter], Meta(min_length=1, max_length=8)]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table: its game, its link if it has one, and the boxes of its layout."""

    id: TableName
    game: Game
    link: Name | None = None
    boxes: Annotated[int, Meta(ge=1, le=12)]


class Floor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """A whole casino floor, as the file describes it."""

    version: Literal[1]
    casino: Title
    pay_tables: Annotated[list[PayTable], Meta(max_length=100)]
    links: Annotated[list[Link], Meta(max_length=100)]
    tables: Annotated[list[Table], Meta(min_length=1, max_length=2000)]

    @cached_property
    def tables_by_id(self) -> dict[str, Table]:
        """Tables by name."""
        return {table.id: table for table in self.tables}

    @cached_property
    def links_by_id(self) -> dict[str, Link]:
        """Links by name."""
        return {link.id: link for link in self.links}

    @cached_property
    def pay_tables_by_id(self) -> dict[str, PayTable]:
        """Pay tables by name."""
        return {pay_table.id: pay_table for pay_table in self.pay_tables}

    @cached_property
    def meter_links(self) -> dict[MeterId, LinkId]:
        """Which link each meter belongs to; meter names are unique on a floor."""
        return {MeterId(meter.id): LinkId(link.id) for link in self.links for meter in link.meters}

    @cached_property
    def link_ids(self) -> tuple[LinkId, ...]:
        """Every link that has a journal: the named ones, and the one of unlinked tables."""
        return (*(LinkId(link.id) for link in self.links), UNLINKED)

    def link_of(self, table: Table) -> LinkId:
        """The link whose journal records this table's rounds."""
        return LinkId(table.link) if table.link else UNLINKED

    @cached_property
    def _digests(self) -> dict[LinkId, str]:
        return {link: hashlib.sha256(self._definition(link)).hexdigest() for link in self.link_ids}

    def digest(self, link: LinkId) -> str:
        """The digest of all that decides a link's money and layout."""
        return self._digests[link]

    def _definition(self, link: LinkId) -> bytes:
        own = self.links_by_id.get(link)
        pay_tables = [self.pay_tables_by_id[name] for name in own.pay_tables] if own else []
        tables = sorted((t for t in self.tables if self.link_of(t) == link), key=lambda t: t.id)
        return msgspec.json.encode([own, pay_tables, tables], order="sorted")
