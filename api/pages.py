"""Pages for people: the start page, the sign of a link, the contract. They load nothing from elsewhere."""

from dataclasses import dataclass

from flask import Flask, Response, make_response, render_template

from api import contract_page
from api.openapi import document, path_names, refusals_of
from api.parts import Parts
from api.problems import MEANINGS
from api.routing import Route
from controller.floor.definition import Link
from controller.games.pay_tables import PayLine, PayTable
from controller.games.vocabulary import GAME_TITLES
from controller.money import decimal_text

_HANDS = {"akq_spades": "A-K-Q of Spades", "akq_other_suit": "A-K-Q of Another Suit"}
_SYMBOLS = {**dict.fromkeys(("AUD", "CAD", "HKD", "NZD", "SGD", "TWD", "USD"), "$"), "EUR": "€", "GBP": "£"}
_PPM_PER_PERCENT = 10_000


def register(app: Flask, parts: Parts, routes: list[Route]) -> None:
    """Add the pages to the application."""
    contract = document(routes)
    schemas = contract["components"]["schemas"]

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
            schemas=schemas,
            meanings=MEANINGS,
            refusals_of=refusals_of,
            path_names=path_names,
            fields_of=contract_page.fields,
            limits_of=contract_page.limits,
            kind_of=contract_page.kind,
            types_of=contract_page.reachable,
            curl_of=contract_page.curl(parts.floor.known().floor, schemas),
            prose=contract_page.prose,
        )

    app.add_url_rule("/", view_func=index, endpoint="index")
    app.add_url_rule("/signage/<link>", view_func=signage, endpoint="signage")
    app.add_url_rule("/docs", view_func=docs, endpoint="docs")


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
