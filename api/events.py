"""Many events of one table in one request: what a table that was cut off sends when it is back."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from api.claims import WinAnswer, decided, register_win
from api.keyring import require_operator
from api.problems import Problem, problem_of
from api.routing import LARGE_BODY, Access, Call, Reply, Routes
from controller.betting.messages import EVENTS_MAX, BetsAnswer, BetsEvent, RoundBets
from controller.errors import Code, Refused
from controller.results.messages import ResultAnswer, RoundResult, RoundVoid, VoidAnswer
from controller.wins.messages import (
    CloseEvent,
    DecisionAnswer,
    ResultEvent,
    RoundWin,
    VoidEvent,
    WinEvent,
)

routes = Routes("tables")

Body = TypeVar("Body", bound=msgspec.Struct)
Event = BetsEvent | WinEvent | ResultEvent | VoidEvent | CloseEvent


class EventsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Many events of one table, applied in order."""

    events: Annotated[list[Event], Meta(min_length=1, max_length=EVENTS_MAX)]


class EventAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one event: the answer or the problem that its own route would have given."""

    status: int
    answer: BetsAnswer | None = None
    win: WinAnswer | None = None
    result: ResultAnswer | None = None
    void: VoidAnswer | None = None
    closed: DecisionAnswer | None = None
    problem: Problem | None = None


class EventsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer per event, in order."""

    answers: list[EventAnswer]


@routes.add(
    "POST",
    "/v1/tables/{table}/events",
    access=Access.TABLE,
    body=EventsRequest,
    body_limit=LARGE_BODY,
    answers={200: EventsAnswer},
    hot=True,
    refusals=(Code.TABLE_UNKNOWN, Code.LINK_CLOSED, Code.FLOOR_CHANGING, Code.STORE_UNAVAILABLE),
)
def post_events(call: Call) -> Reply:
    """Bets, wins, results, voids and ends of rounds, in order. Stops at the first refusal; the rest is
    `not_attempted`. Does not wait for the ledger: what it has not reached yet is answered with 202."""
    answers: list[EventAnswer] = []
    for is_bets, group in groupby(call.body.events, key=lambda event: isinstance(event, BetsEvent)):
        events = list(group)
        answers += _bets(call, events) if is_bets else _others(call, events)
        if answers[-1].problem is not None:
            break
    left = len(call.body.events) - len(answers)
    skipped = _problem(Refused(Code.NOT_ATTEMPTED, "an earlier event of this request was refused"))
    return Reply(200, EventsAnswer(answers=answers + [skipped] * left))


def _bets(call: Call, events: list[BetsEvent]) -> list[EventAnswer]:
    rounds = [
        (event.round, RoundBets(bets_closed_at=event.bets_closed_at, boxes=event.boxes)) for event in events
    ]
    return [
        _problem(result)
        if isinstance(result, Refused)
        else EventAnswer(status=201 if result[0] else 200, answer=result[1])
        for result in call.parts.rounds.record_many(call.path["table"], rounds)
    ]


def _others(call: Call, events: list[Event]) -> Iterator[EventAnswer]:
    for event in events:
        try:
            yield _ANSWERED[type(event)](call, event)
        except Refused as refused:
            yield _problem(refused)
            return


def _problem(refused: Refused) -> EventAnswer:
    problem = problem_of(refused)
    return EventAnswer(status=problem.status, problem=problem)


def _win(call: Call, event: WinEvent) -> EventAnswer:
    reply = register_win(call, call.path["table"], event.round, _own(RoundWin, event), wait=False)
    return EventAnswer(status=reply[0], win=reply[1])


def _result(call: Call, event: ResultEvent) -> EventAnswer:
    own = _own(RoundResult, event)
    recorded = call.parts.round_ends.record_result(call.path["table"], event.round, own)
    return EventAnswer(status=200, result=recorded)


def _void(call: Call, event: VoidEvent) -> EventAnswer:
    own = _own(RoundVoid, event)
    if own.authorised_by and call.caller is not None:
        require_operator(call.caller)
    return EventAnswer(status=200, void=call.parts.round_ends.void(call.path["table"], event.round, own))


def _close(call: Call, event: CloseEvent) -> EventAnswer:
    done = call.parts.presence.close_round(call.path["table"], event.round)
    status, decision = decided(call, *done, wait=False)
    return EventAnswer(status=status, closed=decision)


_ANSWERED: dict[type, Callable[..., EventAnswer]] = {
    WinEvent: _win,
    ResultEvent: _result,
    VoidEvent: _void,
    CloseEvent: _close,
}


def _own(kind: type[Body], event: msgspec.Struct) -> Body:
    """The body that the event's own route would have been sent."""
    return kind(**{name: getattr(event, name) for name in kind.__struct_fields__})
