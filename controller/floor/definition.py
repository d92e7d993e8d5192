"""What a floor is made of. Immutable, checked at construction by `controller.floor.file`.

Every link has a digest over all that decides its money and its layout. Redis keeps the digest in
force; an API node that knows another one is told so and loads the floor again.
"""

import hashlib
from functools import cached_property
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.games.pay_tables import Name, OptionalCents, PayTable, PositiveCents, Title
from controller.games.rule_sets import Limits, RuleSet
from controller.games.standard import STANDARD_OF, standard_rules
from controller.games.vocabulary import Bet, Game
from controller.ids import UNLINKED, LinkId, MeterId
from controller.jackpots.policy import DEFAULT_POLICY, Policy
from controller.money import BET_MAX_CENTS, PPM

TableName = Annotated[str, Meta(pattern=r"^[A-Z0-9][A-Z0-9-]{0,19}\Z")]
RatePpm = Annotated[int, Meta(ge=0, le=PPM)]


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
    policy: Policy = Policy()


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table: its game and rules, its link if any, the boxes of its layout, the limits on its sign."""

    id: TableName
    game: Game
    link: Name | None = None
    boxes: Annotated[int, Meta(ge=1, le=12)]
    rules: Name | None = None
    limits: dict[Bet, Limits] = {}


class Floor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """A whole casino floor, as the file describes it."""

    version: Literal[1]
    casino: Title
    rule_sets: Annotated[list[RuleSet], Meta(max_length=100)] = []
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
    def rule_sets_by_id(self) -> dict[str, RuleSet]:
        """Rule sets by name: the standard ones, and the casino's own."""
        return standard_rules() | {rules.id: rules for rules in self.rule_sets}

    def rules_of(self, table: Table) -> RuleSet:
        """The rules that a table plays by."""
        return self.rule_sets_by_id[table.rules or STANDARD_OF[table.game]]

    def pay_table_of(self, table: Table) -> PayTable | None:
        """The progressive pay table of a table on a link."""
        if table.link is None:
            return None
        offered = (self.pay_tables_by_id[name] for name in self.links_by_id[table.link].pay_tables)
        return next(pay_table for pay_table in offered if pay_table.game is table.game)

    def policy_of(self, link: LinkId) -> Policy:
        """How a link's wins are handled."""
        own = self.links_by_id.get(link)
        return own.policy if own else DEFAULT_POLICY

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
        rules = sorted({self.rules_of(t).id for t in tables})
        return msgspec.json.encode(
            [own, pay_tables, tables, [self.rule_sets_by_id[name] for name in rules]], order="sorted"
        )
