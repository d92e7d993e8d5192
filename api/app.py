"""Flask around the routes: parse, authenticate, call, encode, count. Only this module sees a request."""

import logging
import time
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from api import meters, operations, pages, tables
from api.keyring import require_operator, require_table
from api.metrics import REQUESTS, SECONDS, exposition
from api.openapi import document
from api.parts import Parts
from api.problems import MEDIA_TYPE, decode_body, invalid, problem_of
from api.routing import Access, Call, Reply, Route, encode
from controller.betting.messages import ROUND_MAX
from controller.errors import Code, LedgerUnavailable, Refused, StoreUnavailable
from models.in_force import Caller

log = logging.getLogger(__name__)

ROUTES: list[Route] = [*tables.routes.routes, *meters.routes.routes, *operations.routes.routes]
JSON = "application/json"
_NUMBERS = ("round", "seq")


def create_app(parts: Parts) -> Flask:
    """The WSGI application over these parts."""
    app = Flask("api", static_folder="static", template_folder="templates")
    for route in ROUTES:
        app.add_url_rule(
            route.path.replace("{", "<").replace("}", ">"),
            endpoint=f"{route.method} {route.path}",
            view_func=_view(parts, route),
            methods=[route.method],
        )
    contract = encode(document(ROUTES))
    app.add_url_rule("/openapi.json", view_func=lambda: Response(contract, mimetype=JSON), endpoint="openapi")
    app.add_url_rule("/metrics", view_func=lambda: _metrics(parts), endpoint="metrics")
    pages.register(app, parts, ROUTES)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)
    app.after_request(_secure)
    return app


def _view(parts: Parts, route: Route) -> Any:  # Flask's own type for views is as wide
    seconds = SECONDS.labels(route=route.path)

    def view(**path: str) -> Response:
        started = time.perf_counter()
        try:
            reply = route.handler(_call(parts, route, path))
        except Refused as refused:
            reply = _refusal(refused)
        except StoreUnavailable as error:
            log.error("store unavailable", extra={"route": route.path, "detail": str(error)})  # noqa: TRY400
            reply = _refusal(Refused(Code.STORE_UNAVAILABLE, "Redis does not answer"))
        except LedgerUnavailable as error:
            log.error("ledger unavailable", extra={"route": route.path, "detail": str(error)})  # noqa: TRY400
            reply = _refusal(Refused(Code.LEDGER_UNAVAILABLE, "SQL does not answer"))
        body = b"" if reply.body is None else encode(reply.body)
        response = Response(
            body, reply.status, reply.headers, content_type=reply.headers.get("Content-Type", JSON)
        )
        seconds.observe(time.perf_counter() - started)
        REQUESTS.labels(route=route.path, method=route.method, status=str(reply.status)).inc()
        return response

    return view


def _call(parts: Parts, route: Route, path: dict[str, str]) -> Call:
    values: dict[str, Any] = {
        name: _number(name, text) if name in _NUMBERS else text for name, text in path.items()
    }
    caller = _authenticate(parts, route, values)
    body = decode_body(_body(route), route.body) if route.body is not None else None
    query = {name: request.args[name] for name in route.query if name in request.args}
    unknown = sorted(set(request.args) - set(route.query))
    if unknown:
        raise invalid(unknown[0], "unknown query parameter")
    return Call(parts, values, body, caller, query, request.headers.get("If-None-Match", ""))


def _authenticate(parts: Parts, route: Route, path: dict[str, Any]) -> Caller | None:
    if route.access is Access.PUBLIC:
        return None
    caller = parts.keyring.caller(request.headers.get("Authorization", ""))
    if route.access is Access.OPERATOR:
        require_operator(caller)
    else:
        parts.floor.known().table(path["table"])
        require_table(caller, path["table"])
    return caller


def _body(route: Route) -> bytes:
    request.max_content_length = route.body_limit
    try:
        return request.get_data(cache=False)
    except RequestEntityTooLarge:
        raise Refused(Code.BODY_TOO_LARGE, f"body: expected at most {route.body_limit} bytes") from None


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and 1 <= int(text) <= ROUND_MAX):
        raise invalid(name, f"expected a whole number from 1 to {ROUND_MAX}, got {text[:40]!r}")
    return int(text)


def _refusal(refused: Refused) -> Reply:
    problem = problem_of(refused)
    headers = {"Content-Type": MEDIA_TYPE}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.status == 503:
        headers["Retry-After"] = "1"
    return Reply(problem.status, problem, headers)


def _metrics(parts: Parts) -> Response:
    text, content_type = exposition(parts)
    return Response(text, content_type=content_type)


def _http_error(error: HTTPException) -> Response:
    by_status = {404: Code.NOT_FOUND, 405: Code.METHOD_NOT_ALLOWED, 413: Code.BODY_TOO_LARGE}
    code = by_status.get(error.code or 500, Code.BODY_INVALID)
    if (error.code or 500) >= 500:
        return _unexpected(error)
    return _plain(_refusal(Refused(code, f"{request.method} {request.path}: {error.description}")))


def _unexpected(error: Exception) -> Response:
    log.error("unexpected error", exc_info=error, extra={"route": request.path})
    return _plain(
        _refusal(Refused(Code.INTERNAL_ERROR, "unexpected; what was recorded is answered as recorded"))
    )


def _plain(reply: Reply) -> Response:
    return Response(encode(reply.body), reply.status, reply.headers)


def _secure(response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = (
        "default-src 'self'; frame-ancestors 'self'; base-uri 'none'"
    )
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
