"""A claim: a hand that a progressive would pay, from its registration to its payment.

Triggers and envy awards have the same shape: a hand without a progressive bet that gives others a bonus,
and one box's bonus. All of them are documents that the store keeps until they are final.
"""

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What a claim is paid from, and so what it waits for."""

    MAJOR = "major"
    """Paid from a meter: freezes it, and is paid in the order of the deal."""
    MINOR = "minor"
    """Paid by the house: needs the round's result and no order."""
    TRIGGER = "trigger"
    """A top hand without a progressive bet: pays nothing itself, and gives others an envy bonus."""
    ENVY = "envy"
    """One box's bonus for another player's hand."""


class Status(StrEnum):
    """How far a claim has come."""

    REGISTERED = "registered"
    VERIFIED = "verified"
    DUE = "due"
    AWARDED = "awarded"
    PAID = "paid"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


PENDING = (Status.REGISTERED, Status.VERIFIED, Status.DUE)
FINAL = (Status.PAID, Status.REJECTED, Status.CANCELLED)


class Doubt(StrEnum):
    """Why a claim waits for the House."""

    ORDER = "order"
    """Its deal time overlaps another table's, or policy asks for a confirmation."""
    TIME = "implausible_time"
    """Its deal time lies before 'no more bets' or after its own arrival."""
    BETS_LATE = "bets_after_deal"
    """Its bets reached us after the hand was dealt."""
    CONTRADICTED = "contradicted"
    """The round's result says something else."""
    UNDONE = "settlement_undone"
    """Its settlement was undone: the House says the true order."""


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One claim, trigger or envy award."""

    id: str
    kind: Kind
    table: str
    round: int
    box: int
    player: str | None = None
    hand: str
    rule: str
    status: Status
    meter: str | None = None
    share_ppm: int | None = None
    amount_cents: int | None = None
    """What it wins beside its wager: fixed from the start, or known once it is settled."""
    wager_cents: int = 0
    """The wager that is returned with it."""
    dealt_at: int = 0
    """The moment of the third card by the table's clock, in microseconds."""
    earliest: int = 0
    latest: int = 0
    """The deal by our clock lies between these."""
    doubts: list[Doubt] = []
    late: bool = False
    """It came after later-dealt hands were settled: paid on what the sign then shows, and listed."""
    decision: tuple[int, int] | None = None
    """The House's order: which decision, and the place in it."""
    outage_base_cents: int | None = None
    """The value registered before a declared fault, which this claim is paid on (5.17.1)."""
    source: str | None = None
    """Envy: the claim or trigger that it is a bonus for."""
    needs_word: bool = False
    """Envy: a box has no player's reference; a supervisor says that the players are different."""
    shown_cents: int | None = None
    """What the sign showed, or would have shown, when it was settled."""
    resulted: bool = False
    """The round's result, or a list of its folds, has been taken into account."""
    verified_by: str | None = None
    paid_by: list[str] = []
    note: str | None = None

    @property
    def pending(self) -> bool:
        """Whether it may still be awarded."""
        return self.status in PENDING

    @property
    def total_cents(self) -> int:
        """What is handed over."""
        return (self.amount_cents or 0) + self.wager_cents


def claim_id(table: str, number: int, box: int) -> str:
    """The identity of a hand's claim: idempotent by nature.

    >>> claim_id("TCP-01", 17, 3)
    'TCP-01.17.3'
    """
    return f"{table}.{number}.{box}"


def envy_id(table: str, number: int, box: int, hand_box: int) -> str:
    """The identity of one box's bonus for one hand: paid once, whatever crashes.

    >>> envy_id("TCP-01", 17, 3, 5)
    'TCP-01.17.3.envy5'
    """
    return f"{claim_id(table, number, box)}.envy{hand_box}"


read_claim = msgspec.json.Decoder(Claim).decode
write_claim = msgspec.json.Encoder().encode
