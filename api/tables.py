"""What table controllers call."""

import msgspec

from api.keyring import require_operator
from api.routing import Access, Call, Reply, Routes
from controller.betting.messages import Ack, BetsAnswer, RoundBets
from controller.errors import Code
from controller.jackpots.claims import FINAL
from controller.results.messages import (
    BoxReturn,
    ResultAnswer,
    ReturnAnswer,
    RoundAnswer,
    RoundResult,
    RoundVoid,
    VoidAnswer,
)

routes = Routes("tables")

_BET_REFUSALS = (
    Code.TABLE_UNKNOWN,
    Code.BOX_UNKNOWN,
    Code.BOX_REPEATED,
    Code.BET_KIND_WRONG,
    Code.PROGRESSIVE_AMOUNT_WRONG,
    Code.PROGRESSIVE_NOT_OFFERED,
    Code.EXISTS_WITH_DIFFERENT_BODY,
    Code.ROUND_NUMBER_PASSED,
    Code.ROUND_NUMBER_TOO_FAR,
    Code.METER_LIMIT_REACHED,
    Code.TABLE_WAS_OFFLINE,
    Code.TABLE_SUSPENDED,
    Code.BOX_SUSPENDED,
    Code.PROGRESSIVE_SUSPENDED,
    Code.LINK_CLOSED,
    Code.FLOOR_CHANGING,
    Code.STORE_UNAVAILABLE,
    Code.LEDGER_UNAVAILABLE,
)


_END_REFUSALS = (
    Code.TABLE_UNKNOWN,
    Code.ROUND_UNKNOWN,
    Code.BOX_WITHOUT_BETS,
    Code.INCIDENT_INCOMPLETE,
    Code.INCIDENT_NOT_FORESEEN,
    Code.EXISTS_WITH_DIFFERENT_BODY,
    Code.ROUND_CHANGING,
    Code.LINK_CLOSED,
    Code.FLOOR_CHANGING,
    Code.STORE_UNAVAILABLE,
)


_AWARD_REFUSALS = (Code.AWARD_MADE, Code.AWARD_PAID, Code.SECOND_PERSON_NEEDED)


class OpenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A table is open; this is the number of its next round."""

    table: str
    next_round: int
    ack: Ack


@routes.add(
    "POST",
    "/v1/tables/{table}/open",
    access=Access.TABLE,
    answers={200: OpenAnswer},
    refusals=(Code.TABLE_UNKNOWN, Code.LINK_CLOSED, Code.FLOOR_CHANGING, Code.STORE_UNAVAILABLE),
)
def open_table(call: Call) -> Reply:
    """Open a table and learn the number of its next round."""
    table = call.path["table"]
    next_round, ack = call.parts.rounds.open_table(table)
    return Reply(200, OpenAnswer(table=table, next_round=next_round, ack=ack))


@routes.add(
    "POST",
    "/v1/tables/{table}/rounds/{round}/bets",
    access=Access.TABLE,
    body=RoundBets,
    answers={201: BetsAnswer, 200: BetsAnswer},
    refusals=_BET_REFUSALS,
    hot=True,
)
def post_bets(call: Call) -> Reply:
    """Record a round's bets at 'no more bets'. The same body again gets the recorded answer (200)."""
    new, answer = call.parts.rounds.record_bets(call.path["table"], call.path["round"], call.body)
    return Reply(201 if new else 200, answer)


@routes.add(
    "POST",
    "/v1/tables/{table}/rounds/{round}/result",
    access=Access.TABLE,
    body=RoundResult,
    answers={200: ResultAnswer, 202: ResultAnswer},
    refusals=(
        *_END_REFUSALS,
        Code.RESULT_INCOMPLETE,
        Code.DECISION_WRONG,
        Code.CARDS_WRONG,
        Code.CARD_REPEATED,
        Code.DEAL_TIME_MISSING,
        Code.BOX_REPEATED,
        Code.ROUND_MUST_BE_VOIDED,
        Code.ROUND_VOIDED,
    ),
    hot=True,
)
def post_result(call: Call) -> Reply:
    """Settle a round by its cards and decisions. The same body again gets the recorded answer."""
    answer = call.parts.round_ends.record_result(call.path["table"], call.path["round"], call.body)
    # What is still to be settled or paid counts once the ledger has it.
    waits = any(claim.status not in FINAL for claim in answer.registered)
    return Reply(_status(call, answer.ack.seq) if waits else 200, answer)


@routes.add(
    "POST",
    "/v1/tables/{table}/rounds/{round}/void",
    access=Access.TABLE,
    body=RoundVoid,
    answers={200: VoidAnswer, 202: VoidAnswer},
    refusals=(*_END_REFUSALS, Code.VOID_NOT_ALLOWED, Code.ROUND_STANDS, *_AWARD_REFUSALS),
)
def post_void(call: Call) -> Reply:
    """Void a round for a reason that the rules know: every bet goes back, every contribution is reversed."""
    _require_house(call)
    answer = call.parts.round_ends.void(call.path["table"], call.path["round"], call.body)
    return Reply(_status(call, answer.ack.seq), answer)


@routes.add(
    "POST",
    "/v1/tables/{table}/rounds/{round}/boxes/{box}/return",
    access=Access.TABLE,
    body=BoxReturn,
    answers={200: ReturnAnswer, 202: ReturnAnswer},
    refusals=(*_END_REFUSALS, Code.RETURN_NOT_ALLOWED, Code.ROUND_VOIDED, *_AWARD_REFUSALS),
)
def return_box(call: Call) -> Reply:
    """Give one box's bets back: its hand is out of play, its contribution reversed, its claims cancelled."""
    _require_house(call)
    place = call.path["table"], call.path["round"], call.path["box"]
    answer = call.parts.round_ends.return_box(*place, call.body)
    return Reply(_status(call, answer.ack.seq), answer)


def _require_house(call: Call) -> None:
    """A table cannot speak for the House."""
    if call.body.authorised_by and call.caller is not None:
        require_operator(call.caller)


def _status(call: Call, seq: int) -> int:
    """200 once the ledger has an entry, 202 where it does not in time."""
    floor = call.parts.floor.known().floor
    link = floor.link_of(floor.tables_by_id[call.path["table"]])
    return 200 if call.parts.deciding.is_ledgered(link, seq) else 202


@routes.add(
    "GET",
    "/v1/tables/{table}/rounds/{round}",
    access=Access.TABLE,
    answers={200: RoundAnswer},
    refusals=(Code.TABLE_UNKNOWN, Code.ROUND_UNKNOWN, Code.STORE_UNAVAILABLE, Code.LEDGER_UNAVAILABLE),
)
def get_round(call: Call) -> Reply:
    """What is recorded of a round: its bets, and how it ended."""
    return Reply(200, call.parts.round_ends.find(call.path["table"], call.path["round"]))
