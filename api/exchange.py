"""One request to one route: parse, authenticate, call, encode, count. Knows WSGI's environment, not Flask.

Flask's views and the fast lane both end here, so a route answers the same whichever door it came in by.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from api.keyring import require_operator, require_table
from api.metrics import REQUESTS, SECONDS
from api.parts import Parts
from api.problems import MEDIA_TYPE, decode_body, invalid, problem_of
from api.routing import Access, Call, Reply, Route, encode
from controller.betting.messages import ROUND_MAX
from controller.errors import Code, LedgerUnavailable, Refused, StoreUnavailable
from models.keys import Caller

log = logging.getLogger(__name__)

Environ = dict[str, Any]
JSON = "application/json"
DATA_HEADERS = {"Content-Type": JSON, "X-Content-Type-Options": "nosniff"}
_NUMBERS = ("round", "seq", "box")
_NAME_MAX = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """Bytes for the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def status_line(self) -> str:
        """The status as WSGI wants it."""
        return f"{self.status} {HTTPStatus(self.status).phrase}"


@dataclass(slots=True)
class Exchange:
    """A route, ready to answer requests."""

    parts: Parts
    route: Route
    _decoder: "msgspec.json.Decoder[Any] | None" = field(init=False)
    _seconds: Callable[[float], None] = field(init=False)
    _counters: dict[int, Callable[[], None]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        # Here and not at the first request: msgspec completes a type's description at its first use, and
        # two threads that meet there crash the process.
        self._decoder = msgspec.json.Decoder(self.route.body) if self.route.body else None
        self._seconds = SECONDS.labels(route=self.route.path).observe

    def __call__(self, environ: Environ, path: dict[str, str]) -> Answer:
        """The answer to one request. Whatever goes wrong is an answer, too."""
        started = time.perf_counter()
        reply = self._reply(environ, path)
        body = b"" if reply.body is None else encode(reply.body)
        answer = Answer(reply.status, {**DATA_HEADERS, **reply.headers}, body)
        self._seconds(time.perf_counter() - started)
        self._count(reply.status)
        return answer

    def _reply(self, environ: Environ, path: dict[str, str]) -> Reply:
        route = self.route
        try:
            return route.handler(self._call(environ, path))
        except Refused as refused:
            return refusal(refused)
        except StoreUnavailable as error:
            log.error("store unavailable", extra={"route": route.path, "detail": str(error)})  # noqa: TRY400
            return refusal(Refused(Code.STORE_UNAVAILABLE, "Redis does not answer"))
        except LedgerUnavailable as error:
            log.error("ledger unavailable", extra={"route": route.path, "detail": str(error)})  # noqa: TRY400
            return refusal(Refused(Code.LEDGER_UNAVAILABLE, "SQL does not answer"))
        except Exception as error:  # noqa: BLE001 - the last door: logged whole, answered without details
            return unexpected(route.path, error)

    def _call(self, environ: Environ, path: dict[str, str]) -> Call:
        values: dict[str, Any] = {
            name: _number(name, text) if name in _NUMBERS else _name(name, text)
            for name, text in path.items()
        }
        caller = _authenticate(self.parts, self.route, environ, values)
        body = decode_body(_body(self.route, environ), self._decoder) if self._decoder else None
        text = environ.get("QUERY_STRING", "")
        query = _query(self.route, text) if text else {}
        return Call(self.parts, values, body, caller, query, environ.get("HTTP_IF_NONE_MATCH", ""))

    def _count(self, status: int) -> None:
        counter = self._counters.get(status)
        if counter is None:
            child = REQUESTS.labels(route=self.route.path, method=self.route.method, status=str(status))
            counter = self._counters[status] = child.inc
        counter()


def refusal(refused: Refused) -> Reply:
    """A refusal as a problem document."""
    problem = problem_of(refused)
    headers = {"Content-Type": MEDIA_TYPE}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.status == 503:
        headers["Retry-After"] = "1"
    return Reply(problem.status, problem, headers)


def unexpected(where: str, error: Exception) -> Reply:
    """A bug, told to us and not to the caller."""
    log.error("unexpected error", exc_info=error, extra={"route": where})
    return refusal(Refused(Code.INTERNAL_ERROR, "unexpected; what was recorded is answered as recorded"))


def _authenticate(parts: Parts, route: Route, environ: Environ, path: dict[str, Any]) -> Caller | None:
    if route.access is Access.PUBLIC:
        return None
    caller = parts.keyring.caller(environ.get("HTTP_AUTHORIZATION", ""))
    if route.access is Access.OPERATOR:
        require_operator(caller)
    else:
        parts.floor.require_table(path["table"])
        require_table(caller, path["table"])
    return caller


def _body(route: Route, environ: Environ) -> bytes:
    limit = route.body_limit
    declared = environ.get("CONTENT_LENGTH") or ""
    if not (declared.isdigit() and int(declared) > limit):
        body: bytes = environ["wsgi.input"].read(limit + 1)
        if len(body) <= limit:
            return body
    raise Refused(Code.BODY_TOO_LARGE, f"body: expected at most {limit} bytes")


def _query(route: Route, text: str) -> dict[str, str]:
    query = dict(parse_qsl(text, keep_blank_values=True))
    unknown = sorted(set(query) - set(route.query))
    if unknown:
        raise invalid(unknown[0], "unknown query parameter")
    return {name: _name(name, value) for name, value in query.items()}


def _name(name: str, text: str) -> str:
    """No control characters, which PostgreSQL cannot hold, and no more than any name has."""
    if not text.isprintable() or len(text) > _NAME_MAX:
        raise invalid(name, f"expected a name, got {text[:40]!r}")
    return text


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and 1 <= int(text) <= ROUND_MAX):
        raise invalid(name, f"expected a whole number from 1 to {ROUND_MAX}, got {text[:40]!r}")
    return int(text)
