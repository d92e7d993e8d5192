"""A round's result or void as a table sends it, and the answer it gets."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.betting.messages import Ack, Amount, BetsAnswer, Facts, Instant, MeterReading
from controller.games.irregularities import Incident, IncidentFacts, Irregularity, Words
from controller.games.settlement import Entitlement, EnvyBonus, Line, Remark
from controller.games.vocabulary import Decision
from controller.jackpots.claims import Claim

CardText = Annotated[str, Meta(min_length=2, max_length=3, description="Rank and suit: AS, 10D or TD, 3C.")]
People = Annotated[list[Words], Meta(max_length=4)]
HandText = Annotated[list[CardText], Meta(min_length=3, max_length=3)]


class ResultBox(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One box at the end of a round. Without cards the hand was not shown, or was taken out of play."""

    box: Annotated[int, Meta(ge=1, le=12)]
    cards: HandText | UnsetType = UNSET
    decision: Decision | UnsetType = UNSET
    play_cents: Amount | UnsetType = UNSET
    dealt_at: Instant | UnsetType = UNSET
    walked_away: bool = False
    shown: bool = True
    """False: the player refused to reveal the hand (4.5)."""


class RoundResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A round's cards and decisions, and whatever went wrong without voiding it."""

    dealer: HandText
    community: Annotated[list[CardText], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    boxes: Annotated[list[ResultBox], Meta(max_length=12)]
    incidents: Annotated[list[Incident], Meta(max_length=12)] = []


class RoundVoid(IncidentFacts, frozen=True, kw_only=True):
    """Why a round is void, and when that was declared; with the facts that the paragraph asks for."""

    reason: Irregularity
    voided_at: Instant
    authorised_by: People = msgspec.field(default_factory=list)
    """Who of the House allows it: one person where an award was made, two where one was paid."""


class BoxReturn(IncidentFacts, frozen=True, kw_only=True):
    """Why one box's bets go back, with the facts that the paragraph asks for."""

    reason: Irregularity
    authorised_by: People = msgspec.field(default_factory=list)


class ReturnFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the journal keeps of one box's bets that went back."""

    table: str
    round: int
    box: int
    returned: BoxReturn
    rule: str
    sentence: str
    settlement: list[Line]
    documents: list[Claim] = []


class ReturnAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One box's bets went back."""

    table: str
    round: int
    box: int
    recorded_at: str
    rule: str
    sentence: str
    settlement: list[Line]
    ack: Ack


class ResultFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the journal keeps of a result: what was sent, the rules it was settled by, and the settlement."""

    table: str
    round: int
    rule_set: str
    result: RoundResult
    settlement: list[Line]
    claims: list[Entitlement]
    envy: list[EnvyBonus]
    remarks: list[Remark]
    reversed_boxes: list[int]
    """Boxes whose progressive bet went back, and whose contribution was taken back."""
    invalidated: list[int] = []
    """Boxes whose hand was taken out of play: it neither wins, triggers nor receives."""
    documents: list[Claim] = []
    """Claims, fixed awards and envy awards as they are after it."""


class VoidFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the journal keeps of a void."""

    table: str
    round: int
    rule_set: str
    void: RoundVoid
    rule: str
    sentence: str
    settlement: list[Line]
    reversed_boxes: list[int]
    documents: list[Claim] = []
    """Claims that are cancelled with it."""


class ResultAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """How every bet of the round ended. `claims` are the hands that a progressive pays, `registered` the
    claims, fixed awards and envy awards that the result made."""

    table: str
    round: int
    recorded_at: str
    settlement: list[Line]
    claims: list[Entitlement]
    envy: list[EnvyBonus]
    remarks: list[Remark]
    registered: list[Claim]
    ack: Ack


class VoidAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every bet of a void round goes back; what it contributed is taken back by new entries."""

    table: str
    round: int
    recorded_at: str
    voided_at: str
    rule: str
    sentence: str
    settlement: list[Line]
    meters: list[MeterReading]
    ack: Ack


class RoundAnswer(BetsAnswer, frozen=True, kw_only=True, omit_defaults=True):
    """A round as it stands: its bets, and how it ended if it has."""

    state: Literal["open", "closed", "voided"]
    result: ResultAnswer | None = None
    void: VoidAnswer | None = None
    returned_boxes: list[ReturnAnswer] = msgspec.field(default_factory=list)
    claims: list[Claim] = msgspec.field(default_factory=list)
    """Claims, awards and envy awards of the round as they stand."""


class RecordedEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands under a round's number instead of what was sent."""

    bets: Facts
    result: RoundResult | None = None
    void: RoundVoid | None = None


# Built once, before any thread decodes: two threads that meet at msgspec's first use of a type crash.
read_result = msgspec.json.Decoder(ResultFacts).decode
read_void = msgspec.json.Decoder(VoidFacts).decode
read_return = msgspec.json.Decoder(ReturnFacts).decode
