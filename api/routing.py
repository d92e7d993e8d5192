"""Routes as data: one declaration makes the Flask rule, the checks before the handler, and the contract.

A handler is a plain function of a `Call`; it never sees Flask. What a route accepts, answers and
refuses is declared beside it, and `/openapi.json` is made from nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from controller.errors import Code
from models.keys import Caller

if TYPE_CHECKING:
    from api.parts import Parts

SMALL_BODY = 64 * 1024
LARGE_BODY = 1024 * 1024


class Access(StrEnum):
    """Who may call a route."""

    PUBLIC = "public"
    TABLE = "table"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Call:
    """One request, already authenticated and parsed."""

    parts: "Parts"
    path: dict[str, Any]
    body: Any = None
    caller: Caller | None = None
    query: dict[str, str] = field(default_factory=dict)
    if_none_match: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a handler answers: a status and a value for the encoder, or bytes of another type."""

    status: int
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[Call], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """One route and its contract."""

    method: str
    path: str
    summary: str
    tag: str
    access: Access
    handler: Handler
    answers: dict[int, type | None]
    body: type | None = None
    body_limit: int = SMALL_BODY
    query: dict[str, str] = field(default_factory=dict)
    refusals: tuple[Code, ...] = ()
    hot: bool = False
    """Sent by every table for every round, or polled by every sign: answered before Flask's dispatch."""


class Routes:
    """The routes of one module, gathered by its decorators."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.routes: list[Route] = []

    def add(
        self,
        method: str,
        path: str,
        *,
        access: Access,
        answers: dict[int, type | None],
        body: type | None = None,
        body_limit: int = SMALL_BODY,
        query: dict[str, str] | None = None,
        refusals: tuple[Code, ...] = (),
        hot: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Declare a route; the handler's docstring is its summary in the contract."""

        def decorate(handler: Handler) -> Handler:
            summary = (handler.__doc__ or "").strip()
            self.routes.append(
                Route(
                    method,
                    path,
                    summary,
                    self.tag,
                    access,
                    handler,
                    answers,
                    body,
                    body_limit,
                    query or {},
                    refusals,
                    hot,
                )
            )
            return handler

        return decorate


encode = msgspec.json.Encoder().encode
