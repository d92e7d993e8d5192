"""Claims: what tables report, and what supervisors, the House and finance decide."""

import msgspec

from api.routing import Access, Call, Reply, Routes
from controller.betting.messages import Ack
from controller.clock import to_micros, to_text
from controller.errors import Code, Refused
from controller.ids import LinkId
from controller.jackpots.claims import Claim, Status
from controller.jackpots.settling import waits_for
from controller.store.win_store import Done
from controller.wins.messages import (
    DecisionAnswer,
    Folded,
    Ordered,
    Outage,
    Paid,
    Proceed,
    Rejected,
    RoundWin,
    Undone,
    Verified,
)
from models.claims import LedgeredClaim, find_claim, list_claims

routes = Routes("claims")

_DECISION_REFUSALS = (
    Code.LINK_UNKNOWN,
    Code.LINK_CLOSED,
    Code.FLOOR_CHANGING,
    Code.ROUND_CHANGING,
    Code.STORE_UNAVAILABLE,
    Code.LEDGER_UNAVAILABLE,
)
_CLAIM_REFUSALS = (Code.CLAIM_UNKNOWN, Code.CLAIM_STATE_WRONG, *_DECISION_REFUSALS)


class ClaimView(msgspec.Struct, frozen=True, kw_only=True):
    """A claim, trigger or envy award. `waits_for` is what stands between a pending claim and its award."""

    id: str
    kind: str
    status: str
    table: str
    round: int
    box: int
    player: str | None
    hand: str
    rule: str
    meter: str | None
    share_ppm: int | None
    amount_cents: int | None
    wager_cents: int
    shown_cents: int | None
    """What the sign showed, or would have shown, when it was settled."""
    dealt_at: str | None
    dealt_between: tuple[str, str] | None
    """The deal by our clock: the table's clock is known no better than this."""
    needs_house: list[str]
    late: bool
    waits_for: list[str]
    source: str | None
    verified_by: str | None
    paid_by: list[str]
    note: str | None
    registered_at: str | None


class WinAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A registered claim. 202: recorded, but the ledger has not been reached in time."""

    claim: ClaimView
    ledgered: bool
    code: str | None = None
    """`recorded_not_ledgered` with 202."""


class ClaimsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Claims, newest first."""

    claims: list[ClaimView]


def claim_view(claim: Claim, waits: list[str], registered_at: int | None = None) -> ClaimView:
    """A claim for people; one that waits for nothing any more is due."""
    pending = claim.pending and claim.kind == "major"
    timed = claim.dealt_at != 0
    return ClaimView(
        **{
            name: getattr(claim, name)
            for name in ClaimView.__struct_fields__
            if name in Claim.__struct_fields__ and name not in ("status", "dealt_at")
        },
        status=Status.DUE if pending and not waits and claim.status is Status.VERIFIED else claim.status,
        dealt_at=to_text(claim.dealt_at) if timed else None,
        dealt_between=(to_text(claim.earliest), to_text(claim.latest)) if timed else None,
        needs_house=[str(doubt) for doubt in claim.doubts],
        waits_for=waits,
        registered_at=to_text(registered_at) if registered_at else None,
    )


def _live_view(call: Call, link: LinkId, claim: Claim, registered_at: int | None = None) -> ClaimView:
    """A claim with what it waits for now."""
    if not claim.pending:
        return claim_view(claim, [], registered_at)
    state = call.parts.wins.state(link)
    current = state.claims.get(claim.id, claim)
    policy = call.parts.floor.known().floor.policy_of(link)
    waits = waits_for(current, state, policy) if current.pending and current.kind == "major" else []
    return claim_view(current, waits, registered_at)


def acknowledged(call: Call, link: LinkId, done: Done | None) -> Reply:
    """The reply to a decision."""
    return Reply(*decided(call, link, done))


def unledgered_code(ledgered: bool) -> str | None:  # noqa: FBT001
    """What a 202 says."""
    return None if ledgered else "recorded_not_ledgered"


def decided(call: Call, link: LinkId, done: Done | None, *, wait: bool = True) -> tuple[int, DecisionAnswer]:
    """A decision's answer: 200 once the ledger has it, 202 where it does not in time."""
    if done is None:
        head = call.parts.store.head(link)
        if head is None:
            raise Refused(Code.LINK_UNKNOWN, f"link: there is no link {link!r}")
        ack = Ack(epoch=head.epoch, seq=head.seq, hash=head.head)
    else:
        ack = Ack(epoch=done.epoch, seq=done.seq, hash=done.head)
    ledgered = call.parts.deciding.is_ledgered(link, ack.seq, wait=wait)
    answer = DecisionAnswer(ack=ack, ledgered=ledgered, code=unledgered_code(ledgered))
    return 200 if ledgered else 202, answer


@routes.add(
    "POST",
    "/v1/tables/{table}/rounds/{round}/wins",
    access=Access.TABLE,
    body=RoundWin,
    answers={201: WinAnswer, 200: WinAnswer, 202: WinAnswer},
    refusals=(
        Code.TABLE_UNKNOWN,
        Code.ROUND_UNKNOWN,
        Code.ROUND_VOIDED,
        Code.BOX_WITHOUT_BETS,
        Code.NOT_ELIGIBLE,
        Code.HAND_PAYS_NOTHING,
        Code.CARDS_WRONG,
        Code.CARD_REPEATED,
        Code.PROGRESSIVE_NOT_OFFERED,
        Code.EXISTS_WITH_DIFFERENT_BODY,
        *_DECISION_REFUSALS,
    ),
)
def post_win(call: Call) -> Reply:
    """Claim a hand that a progressive pays. The same body again gets the claim as it stands (200)."""
    return Reply(*register_win(call, call.path["table"], call.path["round"], call.body))


def register_win(
    call: Call, table: str, number: int, body: RoundWin, *, wait: bool = True
) -> tuple[int, WinAnswer]:
    """Register a claim and wait for the ledger; the status of the answer, and the answer."""
    registered = call.parts.claims.claim(table, number, body)
    ledgered = call.parts.deciding.is_ledgered(registered.link, registered.seq, wait=wait)
    status = (201 if registered.is_new else 200) if ledgered else 202
    view = _live_view(call, registered.link, registered.claim)
    return status, WinAnswer(claim=view, ledgered=ledgered, code=unledgered_code(ledgered))


@routes.add(
    "POST",
    "/v1/tables/{table}/rounds/{round}/folds",
    access=Access.OPERATOR,
    body=Folded,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.TABLE_UNKNOWN, Code.ROUND_UNKNOWN, Code.ROUND_VOIDED, *_CLAIM_REFUSALS),
)
def list_folds(call: Call) -> Reply:
    """A supervisor says who folded, where a round's result does not come: envy bonuses need no more."""
    done = call.parts.claims.list_folds(call.path["table"], call.path["round"], call.body)
    return acknowledged(call, *done)


@routes.add(
    "GET",
    "/v1/claims",
    access=Access.OPERATOR,
    answers={200: ClaimsAnswer},
    query={
        "status": "Only these, parted by commas: registered, verified, awarded, paid, rejected, cancelled.",
        "kind": "Only these: major, minor, trigger, envy.",
        "link": "Only this link.",
        "table": "Only this table.",
    },
    refusals=(Code.STORE_UNAVAILABLE, Code.LEDGER_UNAVAILABLE),
)
def get_claims(call: Call) -> Reply:
    """Claims as the ledger has them, newest first; pending ones with what they wait for."""
    columns = {"table": "table_id"}
    wanted = {columns.get(name, name): value for name, value in call.query.items()}
    return Reply(200, ClaimsAnswer(claims=_views(call, list_claims(call.parts.ledger, **wanted))))


def _views(call: Call, found: list[LedgeredClaim]) -> list[ClaimView]:
    floor = call.parts.floor.known().floor
    states = {
        link: call.parts.wins.state(LinkId(link))
        for link in {item.link for item in found if item.claim.pending}
    }
    views = []
    for item in found:
        claim, waits = item.claim, []
        if item.link in states:
            state = states[item.link]
            claim = state.claims.get(claim.id, claim)
            if claim.pending and claim.kind == "major":
                waits = waits_for(claim, state, floor.policy_of(LinkId(item.link)))
        views.append(claim_view(claim, waits, item.registered_at))
    return views


@routes.add(
    "GET",
    "/v1/claims/{claim}",
    access=Access.OPERATOR,
    answers={200: ClaimView},
    refusals=(Code.CLAIM_UNKNOWN, Code.STORE_UNAVAILABLE, Code.LEDGER_UNAVAILABLE),
)
def get_claim(call: Call) -> Reply:
    """One claim."""
    found = find_claim(call.parts.ledger, call.path["claim"])
    if found is None:
        raise Refused(Code.CLAIM_UNKNOWN, f"claim {call.path['claim']} is unknown")
    return Reply(200, _live_view(call, LinkId(found.link), found.claim, found.registered_at))


@routes.add(
    "POST",
    "/v1/claims/{claim}/verify",
    access=Access.OPERATOR,
    body=Verified,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=_CLAIM_REFUSALS,
)
def verify_claim(call: Call) -> Reply:
    """A supervisor has seen the hand; of an envy award, that its players are different."""
    return acknowledged(call, *call.parts.house.verify(call.path["claim"], call.body))


@routes.add(
    "POST",
    "/v1/claims/{claim}/reject",
    access=Access.OPERATOR,
    body=Rejected,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=_CLAIM_REFUSALS,
)
def reject_claim(call: Call) -> Reply:
    """A claim is not what it says: the meter goes on as if it had never come."""
    return acknowledged(call, *call.parts.house.reject(call.path["claim"], call.body))


@routes.add(
    "POST",
    "/v1/claims/{claim}/pay",
    access=Access.OPERATOR,
    body=Paid,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.SECOND_PERSON_NEEDED, Code.NOTICE_NEEDED, *_CLAIM_REFUSALS),
)
def pay_claim(call: Call) -> Reply:
    """An award was paid by these people; above the link's threshold by two."""
    return acknowledged(call, *call.parts.house.pay(call.path["claim"], call.body))


@routes.add(
    "POST",
    "/v1/tables/{table}/claims/{claim}/paid",
    access=Access.TABLE,
    body=Paid,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.TABLE_UNKNOWN, Code.SECOND_PERSON_NEEDED, Code.NOTICE_NEEDED, *_CLAIM_REFUSALS),
)
def paid_at_table(call: Call) -> Reply:
    """The dealer has paid a small award of this table."""
    paid = call.parts.house.pay(call.path["claim"], call.body, by_table=call.path["table"])
    return acknowledged(call, *paid)


@routes.add(
    "POST",
    "/v1/claims/{claim}/outage",
    access=Access.OPERATOR,
    body=Outage,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=_CLAIM_REFUSALS,
)
def declare_outage(call: Call) -> Reply:
    """A hand was dealt during a fault: it is paid on the value registered before it (5.17.1)."""
    began = to_micros(call.body.began_at)
    return acknowledged(call, *call.parts.house.declare_outage(call.path["claim"], call.body, began))


@routes.add(
    "POST",
    "/v1/links/{link}/order",
    access=Access.OPERATOR,
    body=Ordered,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.ORDER_WRONG, *_CLAIM_REFUSALS),
)
def order_claims(call: Call) -> Reply:
    """The House's order of all claims that wait on a meter: conclusive, and not a waiver of the watermark."""
    link = LinkId(call.path["link"])
    return acknowledged(call, link, call.parts.house.order(link, call.body))


@routes.add(
    "POST",
    "/v1/links/{link}/proceed",
    access=Access.OPERATOR,
    body=Proceed,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.TABLE_HOLDS_NOTHING, Code.HOLD_LIMIT_NOT_REACHED, *_DECISION_REFUSALS),
)
def proceed(call: Call) -> Reply:
    """Settle without a table that has been silent for the link's hold limit."""
    link = LinkId(call.path["link"])
    return acknowledged(call, link, call.parts.house.proceed(link, call.body))


@routes.add(
    "POST",
    "/v1/links/{link}/meters/{meter}/undo",
    access=Access.OPERATOR,
    body=Undone,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(
        Code.METER_UNKNOWN,
        Code.NOTHING_TO_UNDO,
        Code.AWARD_PAID,
        Code.SECOND_PERSON_NEEDED,
        *_DECISION_REFUSALS,
    ),
)
def undo_settlement(call: Call) -> Reply:
    """Undo a meter's last settlement, to settle again in the true order: two people, before payment."""
    link = LinkId(call.path["link"])
    return acknowledged(call, link, call.parts.house.undo(link, call.path["meter"], call.body))
