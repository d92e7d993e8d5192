"""Tables' presence, and what the House suspends."""

from api.claims import acknowledged
from api.routing import Access, Call, Reply, Routes
from controller.errors import Code
from controller.ids import LinkId
from controller.wins.messages import DecisionAnswer, Heartbeat, HeartbeatAnswer, LinkSuspension, Suspension

routes = Routes("presence")

_REFUSALS = (
    Code.TABLE_UNKNOWN,
    Code.LINK_CLOSED,
    Code.FLOOR_CHANGING,
    Code.ROUND_CHANGING,
    Code.STORE_UNAVAILABLE,
    Code.LEDGER_UNAVAILABLE,
)


@routes.add(
    "POST",
    "/v1/tables/{table}/heartbeat",
    access=Access.TABLE,
    body=Heartbeat,
    answers={200: HeartbeatAnswer},
    refusals=(Code.TABLE_UNKNOWN, Code.FLOOR_CHANGING, Code.STORE_UNAVAILABLE),
    hot=True,
)
def post_heartbeat(call: Call) -> Reply:
    """A table is here: which of its rounds are not over or not acknowledged, and what its clock showed."""
    return Reply(200, call.parts.presence.heartbeat(call.path["table"], call.body))


@routes.add(
    "POST",
    "/v1/tables/{table}/rounds/{round}/close",
    access=Access.TABLE,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.ROUND_UNKNOWN, *_REFUSALS),
)
def close_round(call: Call) -> Reply:
    """A round is over and brings no more claims."""
    return acknowledged(call, *call.parts.presence.close_round(call.path["table"], call.path["round"]))


@routes.add(
    "POST",
    "/v1/tables/{table}/close",
    access=Access.TABLE,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.ROUND_OPEN, *_REFUSALS),
)
def close_table(call: Call) -> Reply:
    """A table closes: nothing waits for it any more. Opening it again makes it live."""
    return acknowledged(call, *call.parts.presence.close_table(call.path["table"]))


@routes.add(
    "POST",
    "/v1/tables/{table}/suspend",
    access=Access.OPERATOR,
    body=Suspension,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=_REFUSALS,
)
def suspend_table(call: Call) -> Reply:
    """Close a table, disallow boxes, or take no progressive bets there, with a notice; or resume (5.17.2)."""
    return acknowledged(call, *call.parts.presence.suspend(call.path["table"], call.body))


@routes.add(
    "POST",
    "/v1/links/{link}/suspend",
    access=Access.OPERATOR,
    body=LinkSuspension,
    answers={200: DecisionAnswer, 202: DecisionAnswer},
    refusals=(Code.LINK_UNKNOWN, *_REFUSALS),
)
def suspend_link(call: Call) -> Reply:
    """Take no progressive bets on a link, with a notice on its signs; or resume."""
    link = LinkId(call.path["link"])
    return acknowledged(call, link, call.parts.presence.suspend_link(link, call.body))
