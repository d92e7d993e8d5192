"""Pages for people: the sign of a link, and the browsable contract. They load nothing from elsewhere."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from flask import Flask, Response, make_response, render_template
from markupsafe import Markup, escape

from api.openapi import document, path_names, refusals_of
from api.parts import Parts
from api.problems import MEANINGS
from api.routing import Route
from controller.floor.definition import GAME_TITLES, Floor, Link, PayLine, PayTable
from controller.money import decimal_text

Schema = dict[str, Any]
Schemas = dict[str, Schema]

_HANDS = {"akq_spades": "A-K-Q of Spades", "akq_other_suit": "A-K-Q of Another Suit"}
_SYMBOLS = {**dict.fromkeys(("AUD", "CAD", "HKD", "NZD", "SGD", "TWD", "USD"), "$"), "EUR": "€", "GBP": "£"}
_PPM_PER_PERCENT = 10_000


def register(app: Flask, parts: Parts, routes: list[Route]) -> None:
    """Add the pages to the application."""
    contract = document(routes)

    def index() -> str:
        floor = parts.floor.known().floor
        return render_template("index.html", casino=floor.casino, links=floor.links)

    def signage(link: str) -> Response:
        known = parts.floor.known()
        found = known.floor.links_by_id.get(link)
        if found is None:
            return make_response(render_template("missing.html", what=link, links=known.floor.links), 404)
        page = render_template(
            "signage.html",
            casino=known.floor.casino,
            link=found,
            symbol=_symbol(found),
            bet=_money(found, found.progressive_bet_cents),
            floor_version=known.version,
            pay_tables=[_pay_table(found, known.floor.pay_tables_by_id[name]) for name in found.pay_tables],
        )
        # A sign hangs for months: it asks for this number now and then, and loads anew when it has risen.
        return make_response(page, {"Cache-Control": "no-cache", "Floor-Version": str(known.version)})

    def docs() -> str:
        return render_template(
            "docs.html",
            info=contract["info"],
            routes=routes,
            operations=contract["paths"],
            schemas=contract["components"]["schemas"],
            meanings=MEANINGS,
            refusals_of=refusals_of,
            path_names=path_names,
            fields_of=_fields,
            limits_of=_limits,
            kind_of=_kind,
            types_of=_reachable,
            curl_of=_curl(parts.floor.known().floor, contract["components"]["schemas"]),
            prose=_prose,
        )

    app.add_url_rule("/", view_func=index, endpoint="index")
    app.add_url_rule("/signage/<link>", view_func=signage, endpoint="signage")
    app.add_url_rule("/docs", view_func=docs, endpoint="docs")


# The sign.


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a pay table in words."""

    hand: str
    pays: str
    bet_back: bool
    envy: str


@dataclass(frozen=True, slots=True)
class ShownPayTable:
    """A pay table in words."""

    game: str
    lines: list[ShownLine]


def _pay_table(link: Link, pay_table: PayTable) -> ShownPayTable:
    lines = [
        ShownLine(
            hand=_hand(line.hand),
            pays=_pays(link, line),
            bet_back=line.wager_returned,
            envy=_money(link, line.envy_cents) if line.envy_cents else "",
        )
        for line in pay_table.lines
    ]
    return ShownPayTable(GAME_TITLES[pay_table.game], lines)


def _hand(name: str) -> str:
    return _HANDS.get(name) or " ".join(
        word if word in ("a", "of") else word.capitalize() for word in name.split("_")
    )


def _pays(link: Link, line: PayLine) -> str:
    if line.share_ppm is not None:
        title = next(meter.title for meter in link.meters if meter.id == line.meter)
        return f"{_percent(line.share_ppm)} of {title}"
    if line.fixed_cents is not None:
        return _money(link, line.fixed_cents)
    return f"{line.odds_to_one} to 1"


def _percent(ppm: int) -> str:
    whole, rest = divmod(ppm, _PPM_PER_PERCENT)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".") + "%"


def _symbol(link: Link) -> str:
    return _SYMBOLS.get(link.currency, f"{link.currency}\N{NO-BREAK SPACE}")


def _money(link: Link, cents: int) -> str:
    return f"{_symbol(link)}{decimal_text(cents)}"


# The contract.


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


def _fields(schema: Schema) -> list[ShownField]:
    required = schema.get("required", [])
    return [
        ShownField(name, _kind(own), name in required, _limits(own), own.get("description", ""))
        for name, own in schema.get("properties", {}).items()
    ]


def _kind(schema: Schema) -> list[Piece]:
    if "$ref" in schema:
        name = _target(schema)
        return [Piece(name, name)]
    if "anyOf" in schema:
        options = [_kind(option) for option in schema["anyOf"]]
        return [piece for option in options for piece in (Piece(" or "), *option)][1:]
    if "enum" in schema:
        return [Piece(" or ".join(json.dumps(value) for value in schema["enum"]))]
    if "items" in schema:
        return [Piece("list of "), *_kind(schema["items"])]
    if isinstance(schema.get("additionalProperties"), dict):
        return [Piece("map of names to "), *_kind(schema["additionalProperties"])]
    return [Piece(schema.get("format") or schema.get("type") or "any")]


def _limits(schema: Schema) -> str:
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


def _reachable(schemas: Schemas, name: str) -> list[str]:
    """A type and every type that it is made of, each once, in the order of reading."""
    found = [name]
    for known in found:
        mentioned = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schemas[known]))
        found.extend(other for other in dict.fromkeys(mentioned) if other not in found)
    return found


def _target(schema: Schema) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def _curl(floor: Floor, schemas: Schemas) -> Callable[[Route, str], str]:
    """Writes a route as a command that works on this floor as it stands."""
    samples = _samples(floor)

    def curl(route: Route, base: str) -> str:
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

    return curl


_OPTIONAL_SHOWN = ("ante_cents", "progressive_cents")


def _samples(floor: Floor) -> dict[str, object]:
    """Values by the names of fields and parameters, taken from the floor in force."""
    table = next((t for t in floor.tables if t.link), floor.tables[0])
    samples: dict[str, object] = {
        "table": table.id,
        "round": 1,
        "seq": 1,
        "state": "open",
        "by": "Pit manager",
        "bets_closed_at": "2026-11-18T08:00:00Z",
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
    if name in samples:
        return samples[name]
    if "$ref" in schema:
        return _example(schemas, schemas[_target(schema)], name, samples)
    if "properties" in schema:
        shown = (*schema.get("required", []), *_OPTIONAL_SHOWN)
        return {
            field: _example(schemas, own, field, samples)
            for field, own in schema["properties"].items()
            if field in shown
        }
    if "items" in schema:
        return [_example(schemas, schema["items"], "", samples)]
    return _plain_example(schema)


def _plain_example(schema: Schema) -> object:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None
    by_type = {"integer": schema.get("minimum", 1), "boolean": True}
    return by_type.get(schema.get("type", ""), "text")


def _prose(text: str) -> Markup:
    """Text with `code` between backticks."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped first
