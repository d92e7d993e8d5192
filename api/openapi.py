"""The OpenAPI 3.1 document, made from the routes and their types. Nothing is written twice."""

import re
from importlib.metadata import version
from typing import Any

import msgspec

from api.problems import MEANINGS, MEDIA_TYPE, Problem
from api.routing import Access, Route
from controller.errors import Code

_PATH_TYPES: dict[str, dict[str, Any]] = {
    "round": {"type": "integer", "minimum": 1, "maximum": 2**53 - 1},
    "seq": {"type": "integer", "minimum": 1, "maximum": 2**53 - 1},
    "box": {"type": "integer", "minimum": 1, "maximum": 2**53 - 1},
}
_ALWAYS = (Code.INTERNAL_ERROR,)
_WITH_KEY = (Code.CREDENTIALS_MISSING, Code.CREDENTIALS_INVALID, Code.NOT_PERMITTED)
_WITH_BODY = (Code.BODY_INVALID, Code.BODY_TOO_LARGE)


def document(routes: list[Route]) -> dict[str, Any]:
    """The whole contract."""
    types = [t for route in routes for t in (route.body, *route.answers.values()) if t is not None]
    _, schemas = msgspec.json.schema_components([*types, Problem], ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Linked jackpot controller",
            "version": version("linked-jackpot-controller"),
            "description": "Meters, contributions and alarms of linked progressive jackpots on table games. "
            "Money is in minor units, times are RFC 3339 in UTC with microseconds, "
            "errors are RFC 9457 problem documents with a stable code.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def refusals_of(route: Route) -> list[Code]:
    """Every code that a route may answer, the general ones included."""
    codes = set(route.refusals) | set(_ALWAYS)
    if route.access is not Access.PUBLIC:
        codes |= set(_WITH_KEY) | {Code.LEDGER_UNAVAILABLE}
    if route.body is not None:
        codes |= set(_WITH_BODY)
    if any(name in _PATH_TYPES for name in path_names(route)):
        codes.add(Code.BODY_INVALID)
    return sorted(codes, key=lambda code: (MEANINGS[code][0], code))


def path_names(route: Route) -> list[str]:
    """The variables of a route's path."""
    return re.findall(r"\{(\w+)\}", route.path)


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary.split(". ")[0].rstrip(".") + ".",
        "description": route.summary,
        "operationId": route.handler.__name__,
        "tags": [route.tag],
        "parameters": [
            *(
                {"name": n, "in": "path", "required": True, "schema": _PATH_TYPES.get(n, {"type": "string"})}
                for n in path_names(route)
            ),
            *(
                {"name": n, "in": "query", "required": False, "schema": {"type": "string"}, "description": d}
                for n, d in route.query.items()
            ),
        ],
        "responses": _responses(route),
    }
    if route.access is not Access.PUBLIC:
        operation["security"] = [{"key": []}]
    if route.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(route.body)}},
        }
    return operation


def _responses(route: Route) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, kind in route.answers.items():
        answer: dict[str, Any] = {"description": _first_line(kind) if kind else "Nothing has changed."}
        if kind is not None:
            answer["content"] = {"application/json": {"schema": _ref(kind)}}
        responses[str(status)] = answer
    by_status: dict[int, list[Code]] = {}
    for code in refusals_of(route):
        by_status.setdefault(MEANINGS[code][0], []).append(code)
    for status, codes in by_status.items():
        if str(status) in responses:
            continue
        responses[str(status)] = {
            "description": "; ".join(f"`{code}`: {MEANINGS[code][1]}" for code in codes),
            "content": {MEDIA_TYPE: {"schema": _ref(Problem)}},
        }
    return responses


def _ref(kind: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _first_line(kind: type) -> str:
    return (kind.__doc__ or kind.__name__).strip().split("\n")[0]
