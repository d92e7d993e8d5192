"""The browsable contract in words: JSON Schema as tables, and every route as a command that works."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from api.routing import Route
from controller.floor.definition import Floor

Schema = dict[str, Any]
Schemas = dict[str, Schema]


@dataclass(frozen=True, slots=True)
class Piece:
    """A few words of a type's description, and the type that they link to, if they do."""

    text: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class ShownField:
    """A field of a type, in words."""

    name: str
    kind: list[Piece]
    required: bool
    limits: str
    description: str


def fields(schema: Schema) -> list[ShownField]:
    """The fields of a type."""
    required = schema.get("required", [])
    return [
        ShownField(name, kind(own), name in required, limits(own), own.get("description", ""))
        for name, own in schema.get("properties", {}).items()
    ]


def kind(schema: Schema) -> list[Piece]:
    """What a field is made of."""
    if "$ref" in schema:
        name = _target(schema)
        return [Piece(name, name)]
    if "anyOf" in schema:
        options = [kind(option) for option in schema["anyOf"]]
        return [piece for option in options for piece in (Piece(" or "), *option)][1:]
    if "enum" in schema:
        return [Piece(" or ".join(json.dumps(value) for value in schema["enum"]))]
    if "items" in schema:
        pair = schema.get("prefixItems")
        return [Piece("pair of " if pair else "list of "), *kind(pair[0] if pair else schema["items"])]
    if isinstance(schema.get("additionalProperties"), dict):
        return [Piece("map of names to "), *kind(schema["additionalProperties"])]
    return [Piece(schema.get("format") or schema.get("type") or "any")]


def limits(schema: Schema) -> str:
    """What a field's value must satisfy."""
    found = [
        *_range(schema, "minimum", "maximum", ""),
        *_range(schema, "minLength", "maxLength", " characters"),
        *_range(schema, "minItems", "maxItems", " items"),
    ]
    if "pattern" in schema:
        found.append(f"`{schema['pattern']}`")
    if "default" in schema:
        found.append(f"default `{json.dumps(schema['default'])}`")
    return ", ".join(found)


def _range(schema: Schema, low: str, high: str, unit: str) -> Iterator[str]:
    least, most = schema.get(low), schema.get(high)
    if least is not None and most is not None:
        yield f"{least:,} to {most:,}{unit}"
    elif least is not None:
        yield f"at least {least:,}{unit}"
    elif most is not None:
        yield f"at most {most:,}{unit}"


def reachable(schemas: Schemas, name: str) -> list[str]:
    """A type and every type that it is made of, each once, in the order of reading."""
    found = [name]
    for known in found:
        mentioned = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schemas[known]))
        found.extend(other for other in dict.fromkeys(mentioned) if other not in found)
    return found


def _target(schema: Schema) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def curl(floor: Floor, schemas: Schemas) -> Callable[[Route, str], str]:
    """Writes a route as a command that works on this floor as it stands."""
    samples = _samples(floor)

    def command(route: Route, base: str) -> str:
        path = re.sub(r"\{(\w+)\}", lambda found: str(samples.get(found[1], found[0])), route.path)
        query = "&".join(f"{name}={samples[name]}" for name in route.query if name in samples)
        address = base.rstrip("/") + path + (f"?{query}" if query else "")
        lines = [f"curl '{address}'" if route.method == "GET" else f"curl -X {route.method} '{address}'"]
        if route.access != "public":
            lines.append('-H "Authorization: Bearer $KEY"')
        if route.body is not None:
            body = json.dumps(_example(schemas, schemas[route.body.__name__], "", samples))
            lines.append(f"-d '{body}'")
        return " \\\n  ".join(lines)

    return command


_OPTIONAL_SHOWN = {
    "BoxBets": ("ante_cents", "progressive_cents"),
    "ResultBox": ("cards", "decision", "dealt_at"),
    "RoundWin": ("cards",),
}
"""Optional fields that make the example of a type worth reading."""


def _samples(floor: Floor) -> dict[str, object]:
    """Values by the names of fields and parameters, taken from the floor in force."""
    table = next((t for t in floor.tables if t.link), floor.tables[0])
    samples: dict[str, object] = {
        "table": table.id,
        "round": 1,
        "seq": 1,
        "box": 1,
        "state": "open",
        "by": "Pit manager",
        "bets_closed_at": "2026-11-18T08:00:00Z",
        "dealt_at": "2026-11-18T08:00:20Z",
        "voided_at": "2026-11-18T08:00:40Z",
        "sent_at": "2026-11-18T08:00:41Z",
        "began_at": "2026-11-18T08:00:00Z",
        "claim": f"{table.id}.1.1",
        "dealer": ["QS", "7D", "2C"],
        "cards": ["AS", "JD", "4H"],
        "decision": "play",
        "reason": "foreign_card",
        "ante_cents": 1000,
        "progressive_cents": 0,
    }
    if table.link:
        link = floor.links_by_id[table.link]
        samples |= {
            "link": link.id,
            "meter": link.meters[0].id,
            "progressive_cents": link.progressive_bet_cents,
        }
    return samples


def _example(schemas: Schemas, schema: Schema, name: str, samples: dict[str, object]) -> object:
    """A small value of a schema: what is required, and what makes the example worth reading."""
    if name in samples and samples[name] in schema.get("enum", [samples[name]]):
        many = schema.get("type") == "array" and not isinstance(samples[name], list)
        return [samples[name]] if many else samples[name]
    if "$ref" in schema:
        return _example(schemas, schemas[_target(schema)], name, samples)
    if "properties" in schema:
        shown = (*schema.get("required", []), *_OPTIONAL_SHOWN.get(schema.get("title", ""), ()))
        return {
            field: _example(schemas, own, field, samples)
            for field, own in schema["properties"].items()
            if field in shown
        }
    if "items" in schema:
        return [_example(schemas, schema["items"], "", samples)]
    if all("$ref" in option for option in schema.get("anyOf", [{}])):
        return _example(schemas, schema["anyOf"][0], name, samples)
    return _plain_example(schema)


def _plain_example(schema: Schema) -> object:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None
    by_type = {"integer": schema.get("minimum", 1), "boolean": True}
    return by_type.get(schema.get("type", ""), "text")


def prose(text: str) -> Markup:
    """Text with `code` between backticks."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped first
