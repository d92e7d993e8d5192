"""Pages for people: the sign of a link, and the browsable contract. They load nothing from elsewhere."""

from flask import Flask, render_template

from api.openapi import path_names, refusals_of
from api.parts import Parts
from api.problems import MEANINGS
from api.routing import Route
from controller.floor.definition import GAME_TITLES, Link, PayLine, PayTable
from controller.money import PPM, decimal_text


def register(app: Flask, parts: Parts, routes: list[Route]) -> None:
    """Add the pages to the application."""

    def index() -> str:
        floor = parts.floor.known().floor
        return render_template("index.html", casino=floor.casino, links=floor.links)

    def signage(link: str) -> str | tuple[str, int]:
        floor = parts.floor.known().floor
        found = floor.links_by_id.get(link)
        if found is None:
            return render_template("missing.html", what=f"link {link!r}", links=floor.links), 404
        pay_tables = [floor.pay_tables_by_id[name] for name in found.pay_tables]
        return render_template(
            "signage.html",
            casino=floor.casino,
            link=found,
            pay_tables=[(GAME_TITLES[p.game], _pay_lines(found, p)) for p in pay_tables],
        )

    def docs() -> str:
        return render_template(
            "docs.html", routes=routes, meanings=MEANINGS, refusals_of=refusals_of, path_names=path_names
        )

    app.add_url_rule("/", view_func=index, endpoint="index")
    app.add_url_rule("/signage/<link>", view_func=signage, endpoint="signage")
    app.add_url_rule("/docs", view_func=docs, endpoint="docs")


def _pay_lines(link: Link, pay_table: PayTable) -> list[tuple[str, str, str]]:
    titles = {meter.id: meter.title for meter in link.meters}
    return [(_hand(line), _pays(line, titles), _envy(line)) for line in pay_table.lines]


def _hand(line: PayLine) -> str:
    return line.hand.replace("_", " ").replace("akq", "AKQ")


def _pays(line: PayLine, titles: dict[str, str]) -> str:
    if line.share_ppm is not None and line.meter is not None:
        return f"{line.share_ppm * 100 // PPM}% of {titles[line.meter]}"
    if line.fixed_cents is not None:
        return f"${decimal_text(line.fixed_cents)}"
    return f"{line.odds_to_one} to 1"


def _envy(line: PayLine) -> str:
    return f"${decimal_text(line.envy_cents)}" if line.envy_cents else ""
