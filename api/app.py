"""The WSGI application: Flask around the routes and pages, with a fast lane for what every table sends.

Flask's dispatch costs more than recording a round's bets does (docs/performance.md). Routes declared
`hot` are therefore matched before Flask sees the request; the same `Exchange` answers either way.
"""

from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from api import claims, events, meters, operations, pages, presence, tables
from api.exchange import JSON, Environ, Exchange, refusal, unexpected
from api.metrics import exposition
from api.openapi import document
from api.parts import Parts
from api.routing import Reply, Route, encode
from controller.errors import Code, Refused

ROUTES: list[Route] = [
    route
    for module in (tables, events, presence, claims, meters, operations)
    for route in module.routes.routes
]
PAGE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
}
StartResponse = Callable[[str, list[tuple[str, str]]], object]


def create_app(parts: Parts) -> Flask:
    """The application over these parts."""
    app = Flask("api", static_folder="static", template_folder="templates")
    exchanges = [Exchange(parts, route) for route in ROUTES]
    for exchange in exchanges:
        route = exchange.route
        app.add_url_rule(
            route.path.replace("{", "<").replace("}", ">"),
            endpoint=f"{route.method} {route.path}",
            view_func=_view(exchange),
            methods=[route.method],
        )
    contract = encode(document(ROUTES))
    app.add_url_rule("/openapi.json", view_func=lambda: Response(contract, mimetype=JSON), endpoint="openapi")
    app.add_url_rule("/metrics", view_func=lambda: _metrics(parts), endpoint="metrics")
    pages.register(app, parts, ROUTES)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, lambda error: _response(unexpected(request.path, error)))
    app.after_request(_secure)
    app.wsgi_app = FastLane(app.wsgi_app, [e for e in exchanges if e.route.hot])  # type: ignore[method-assign]
    return app


class FastLane:
    """Answers hot routes itself and leaves everything else to the application behind it."""

    def __init__(self, behind: Callable[[Environ, Any], Iterable[bytes]], hot: list[Exchange]) -> None:
        self._behind = behind
        self._by_shape: dict[tuple[str, int], list[tuple[list[str], Exchange]]] = {}
        for exchange in hot:
            segments = exchange.route.path.split("/")
            self._by_shape.setdefault((exchange.route.method, len(segments)), []).append((segments, exchange))

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """One request."""
        given = environ["PATH_INFO"].split("/")
        for segments, exchange in self._by_shape.get((environ["REQUEST_METHOD"], len(given)), ()):
            path: dict[str, str] = {}
            for wanted, text in zip(segments, given, strict=True):
                if wanted[:1] == "{" and text:
                    path[wanted[1:-1]] = text
                elif wanted != text:
                    break
            else:
                answer = exchange(environ, path)
                headers = list(answer.headers.items())
                if answer.status != 304:
                    headers.append(("Content-Length", str(len(answer.body))))
                start_response(answer.status_line, headers)
                return (answer.body,)
        return self._behind(environ, start_response)


def _view(exchange: Exchange) -> Callable[..., Response]:
    def view(**path: str) -> Response:
        answer = exchange(request.environ, path)
        return Response(answer.body, answer.status, answer.headers)

    return view


def _metrics(parts: Parts) -> Response:
    text, content_type = exposition(parts)
    return Response(text, content_type=content_type)


def _http_error(error: HTTPException) -> Response:
    by_status = {404: Code.NOT_FOUND, 405: Code.METHOD_NOT_ALLOWED, 413: Code.BODY_TOO_LARGE}
    code = by_status.get(error.code or 500, Code.BODY_INVALID)
    if (error.code or 500) >= 500:
        return _response(unexpected(request.path, error))
    return _response(refusal(Refused(code, f"{request.method} {request.path}: {error.description}")))


def _response(reply: Reply) -> Response:
    return Response(encode(reply.body), reply.status, reply.headers)


def _secure(response: Response) -> Response:
    response.headers.update(PAGE_HEADERS)
    return response
