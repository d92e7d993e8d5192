"""What signage reads."""

import hashlib

import msgspec

from api.routing import Access, Call, Reply, Routes
from controller.clock import to_text
from controller.errors import Code, Refused
from controller.ids import LinkId
from controller.jackpots.book import next_value, read_waiting
from controller.jackpots.policy import Policy
from controller.jackpots.state import read_notices
from controller.money import displayed
from controller.store.link_store import MeterState

routes = Routes("meters")


class PendingWin(msgspec.Struct, frozen=True, kw_only=True):
    """A hand that waits to be verified, ordered or settled."""

    table: str
    round: int
    box: int
    hand: str


class MeterView(msgspec.Struct, frozen=True, kw_only=True):
    """A meter as a sign shows it. While it is won, `displayed_cents` is frozen, `pending` names the hands
    that wait and `next_cents` is the value that comes after them."""

    id: str
    link: str
    displayed_cents: int
    next_cents: int | None
    status: str
    cycle: int
    seq: int
    as_of: str
    pending: list[PendingWin] = []
    notices: list[str] = []
    """What the sign says about the link or its tables: no progressive bets, a box out of use."""


class MetersAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every meter of the floor."""

    meters: list[MeterView]


@routes.add(
    "GET",
    "/v1/meters",
    access=Access.PUBLIC,
    answers={200: MetersAnswer, 304: None},
    hot=True,
    query={"link": "Only the meters of this link."},
    refusals=(Code.LINK_UNKNOWN, Code.STORE_UNAVAILABLE),
)
def get_meters(call: Call) -> Reply:
    """All meters. With If-None-Match, 304 while nothing that a sign shows has changed."""
    wanted = call.query.get("link")
    floor = call.parts.floor.known().floor
    if wanted is not None and wanted not in floor.links_by_id:
        raise Refused(Code.LINK_UNKNOWN, f"link: there is no link {wanted!r} on this floor")
    snapshot = call.parts.meters.snapshot()
    states = [state for state in snapshot.states if wanted is None or state.link == wanted]
    return _tagged(call, states, MetersAnswer(meters=_views(call, states, snapshot.read_at)))


@routes.add(
    "GET",
    "/v1/meters/{meter}",
    access=Access.PUBLIC,
    answers={200: MeterView, 304: None},
    refusals=(Code.METER_UNKNOWN, Code.STORE_UNAVAILABLE),
)
def get_meter(call: Call) -> Reply:
    """One meter."""
    name = call.path["meter"]
    snapshot = call.parts.meters.snapshot()
    states = [state for state in snapshot.states if state.id == name]
    if not states:
        raise Refused(Code.METER_UNKNOWN, f"meter: there is no meter {name!r} on this floor")
    return _tagged(call, states, _views(call, states, snapshot.read_at)[0])


def _views(call: Call, states: list[MeterState], read_at: int) -> list[MeterView]:
    as_of, floor = to_text(read_at), call.parts.floor.known().floor
    return [_view(state, floor.policy_of(LinkId(state.link)), as_of) for state in states]


def _view(state: MeterState, policy: Policy, as_of: str) -> MeterView:
    status = state.shown_status
    known = status == "won" and state.pot.frozen and state.pot.effect_seq <= state.released
    waiting = read_waiting(state.waiting) if known else []
    if status == "running" and state.suspension:
        status = "suspended"
    return MeterView(
        id=state.id,
        link=state.link,
        displayed_cents=displayed(state.shown_value),
        next_cents=displayed(next_value(state.pot, waiting, policy)) if waiting else None,
        status=status,
        cycle=state.pot.cycle,
        seq=state.seq,
        as_of=as_of,
        pending=[PendingWin(table=w.table, round=w.round, box=w.box, hand=w.hand) for w in waiting],
        notices=_notices(state),
    )


def _notices(state: MeterState) -> list[str]:
    return [f"{table}: {text}" if table else text for table, text in read_notices(state.notices).items()]


def _tagged(call: Call, states: list[MeterState], body: object) -> Reply:
    # A weak tag over what decides the picture: `as_of` moves on with every reading and is left out.
    decisive = [
        (s.id, s.value, s.shown_value, s.shown_status, s.pot.cycle, s.seq, s.waiting, s.suspension, s.notices)
        for s in states
    ]
    tag = f'W/"{hashlib.sha256(repr(decisive).encode()).hexdigest()[:24]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    offered = [part.strip() for part in call.if_none_match.split(",")]
    return Reply(304, None, headers) if tag in offered else Reply(200, body, headers)
