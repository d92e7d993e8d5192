"""What tables and the House send about wins and presence. The API's contract is made of these."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.betting.messages import Ack, Instant, Round
from controller.games.irregularities import Words
from controller.results.messages import CardText, HandText, RoundResult, RoundVoid

Person = Words
People = Annotated[list[Person], Meta(min_length=1, max_length=4)]
Reason = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
Note = Annotated[str, Meta(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
ClaimName = Annotated[str, Meta(min_length=1, max_length=60)]


class _Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A request."""


class RoundWin(_Body, frozen=True, kw_only=True):
    """A hand that a progressive would pay: its cards, or its name where the table does not read cards."""

    box: Annotated[int, Meta(ge=1, le=12)]
    dealt_at: Instant
    """The moment of the box's third card."""
    cards: HandText | UnsetType = UNSET
    community: Annotated[list[CardText], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    hand: Annotated[str, Meta(min_length=1, max_length=40)] | UnsetType = UNSET


class WinEvent(RoundWin, frozen=True, kw_only=True, tag="win", tag_field="type"):
    """A claim inside a request of many events."""

    round: Round


class ResultEvent(RoundResult, frozen=True, kw_only=True, tag="result", tag_field="type"):
    """A round's result inside a request of many events."""

    round: Round


class VoidEvent(RoundVoid, frozen=True, kw_only=True, tag="void", tag_field="type"):
    """A void inside a request of many events."""

    round: Round


class CloseEvent(_Body, frozen=True, kw_only=True, tag="close", tag_field="type"):
    """The end of a round inside a request of many events."""

    round: Round


class NamedRoundBody(_Body, frozen=True, kw_only=True):
    """A round that is unfinished, or not acknowledged to the table."""

    round: Round
    bets_closed_at: Instant


class LastExchange(_Body, frozen=True, kw_only=True):
    """The four timestamps of the table's last heartbeat and our answer to it."""

    sent_at: Instant
    received_at: Instant
    answered_at: Instant
    got_at: Instant


class Heartbeat(_Body, frozen=True, kw_only=True):
    """A table is here."""

    sent_at: Instant
    rounds: Annotated[list[NamedRoundBody], Meta(max_length=50)]
    """Every round that is unfinished or not yet acknowledged to the table."""
    last_ack: Ack | UnsetType = UNSET
    last_exchange: LastExchange | UnsetType = UNSET


class ClockView(msgspec.Struct, frozen=True, kw_only=True):
    """A table's clock as we know it: add the offset to get ours; the truth lies within the uncertainty."""

    offset_micros: int
    uncertainty_micros: int


class Payout(msgspec.Struct, frozen=True, kw_only=True):
    """An award that is to be paid at the table."""

    claim: str
    round: int
    box: int
    amount_cents: int


class HeartbeatAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the table should know. `received_at` and `answered_at` belong into its next `last_exchange`."""

    table: str
    received_at: str
    answered_at: str
    taken: bool
    """False: a newer heartbeat was here before."""
    next_round: int
    clock: ClockView | None
    suspension: str
    boxes_off: list[int]
    notice: str
    payouts: list[Payout]


class Verified(_Body, frozen=True, kw_only=True):
    """A supervisor has seen the hand."""

    by: Person
    note: Note = ""


class Rejected(_Body, frozen=True, kw_only=True):
    """A claim is not what it says."""

    by: Person
    reason: Reason


class Paid(_Body, frozen=True, kw_only=True):
    """An award was paid by these people."""

    by: People
    notice: Note = ""
    """The regulator's reference, where notice comes before payment."""
    note: Note = ""


class Folded(_Body, frozen=True, kw_only=True):
    """Which boxes folded, by a supervisor's word, where a round's result does not come."""

    boxes: Annotated[list[Annotated[int, Meta(ge=1, le=12)]], Meta(max_length=12)]
    by: Person


class Ordered(_Body, frozen=True, kw_only=True):
    """The House's order of all claims that wait on a meter."""

    claims: Annotated[list[ClaimName], Meta(min_length=1, max_length=100)]
    by: Person
    reason: Reason


class Proceed(_Body, frozen=True, kw_only=True):
    """Go on without a silent table."""

    table: Annotated[str, Meta(max_length=20)]
    by: Person
    reason: Reason


class Undone(_Body, frozen=True, kw_only=True):
    """Undo a meter's last settlement: two people."""

    by: People
    reason: Reason
    claims: Annotated[list[ClaimName], Meta(max_length=100)] | UnsetType = UNSET
    """The settlement that is meant, by its claims in the order in which they were settled: a request that
    comes twice, or late, then undoes no other."""


class Suspension(_Body, frozen=True, kw_only=True):
    """What a table or link takes from now on (5.17.2)."""

    state: Literal["running", "closed", "no_progressive"]
    boxes_off: Annotated[list[Annotated[int, Meta(ge=1, le=12)]], Meta(max_length=12)] = []
    notice: Note = ""
    """Shown at the table and on the sign."""
    by: Person
    reason: Reason


class LinkSuspension(_Body, frozen=True, kw_only=True):
    """Whether a link takes progressive bets."""

    state: Literal["running", "no_progressive"]
    notice: Note = ""
    by: Person
    reason: Reason


class Outage(_Body, frozen=True, kw_only=True):
    """A claim's hand was dealt during a fault: it is paid on the value registered before it (5.17.1)."""

    began_at: Instant
    by: Person
    reason: Reason


class Closing(_Body, frozen=True, kw_only=True):
    """A round is over, or a table closes."""


class DecisionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A decision is in the journal; `ledgered` says whether the ledger has it."""

    ack: Ack
    ledgered: bool
    code: str | None = None
    """`recorded_not_ledgered` with 202."""
