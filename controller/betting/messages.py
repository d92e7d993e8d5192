"""The bets of a round as a table sends them, and the answer it gets. The API's contract is made of these."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.money import AMOUNT_MAX_CENTS

ROUND_MAX = 2**53 - 1
"""Round numbers stay exact in every client, JavaScript's included."""

EVENTS_MAX = 200
"""Rounds in one request."""

Round = Annotated[int, Meta(ge=1, le=ROUND_MAX)]
Amount = Annotated[int, Meta(ge=0, le=AMOUNT_MAX_CENTS, description="Minor units (cents).")]
Instant = Annotated[
    datetime, Meta(tz=True, description="RFC 3339 with a time zone; answered in UTC with microseconds.")
]
Player = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        description="An opaque reference of printable ASCII; never a name or a document number.",
        # Checked by `lock_bets`: msgspec would run Python's regular expressions for every player.
        extra_json_schema={"pattern": "^[!-~]*$"},
    ),
]


class PlayerBets(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """NTP: one player's bets on a box that several may share (NTP 3.7-3.9)."""

    player: Player
    seated: bool
    initial_cents: Amount | UnsetType = UNSET
    tie_cents: Amount | UnsetType = UNSET
    three_pictures_cents: Amount | UnsetType = UNSET


class BoxBets(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One box. Poker games fill the amounts; NTP fills `bets`."""

    box: Annotated[int, Meta(ge=1, le=12)]
    player: Player | UnsetType = UNSET
    ante_cents: Amount | UnsetType = UNSET
    pair_plus_cents: Amount | UnsetType = UNSET
    progressive_cents: Amount | UnsetType = UNSET
    bets: Annotated[list[PlayerBets], Meta(min_length=1, max_length=50)] | UnsetType = UNSET


class RoundBets(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A round's bets, locked at 'no more bets'."""

    bets_closed_at: Instant
    boxes: Annotated[list[BoxBets], Meta(min_length=1, max_length=12)]


class BetsEvent(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="bets", tag_field="type"
):
    """A round's bets inside a request of many events."""

    round: Round
    bets_closed_at: Instant
    boxes: Annotated[list[BoxBets], Meta(min_length=1, max_length=12)]


class Returned(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bet that does not count and goes back to the player, with the paragraph that says so."""

    box: int
    bet: str
    amount_cents: int
    rule: str


class MeterReading(msgspec.Struct, frozen=True, kw_only=True):
    """A meter as it stood after the round."""

    id: str
    displayed_cents: int


class Ack(msgspec.Struct, frozen=True, kw_only=True):
    """Proof of what was acknowledged: a table keeps the last ones and names them after an outage."""

    epoch: int
    seq: int
    hash: str


class BetsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What was recorded. A retry gets the same answer, to the byte."""

    table: str
    round: int
    recorded_at: str
    progressive_bets: int
    meters: list[MeterReading]
    returned: list[Returned]
    ack: Ack


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the journal keeps of a round's bets beside the postings."""

    table: str
    round: int
    bets_closed_at: str
    boxes: list[BoxBets]
    progressive_boxes: list[int]
    returned: list[Returned]


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What stands under a round's number: the answer that was given, and the bets that it was given for."""

    answer: BetsAnswer
    bets: Facts


# Built once, before any thread decodes: msgspec completes a type's description at its first use, and
# two threads that meet there crash the process.
read_facts = msgspec.json.Decoder(Facts).decode
