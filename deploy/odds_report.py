"""`jackpot odds`: which bets a link offers, and their exact odds as text and as JSON."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from math import ceil, floor
from pathlib import Path

from controller.errors import JackpotError
from controller.floor.definition import Floor, Link
from controller.floor.file import load_floor, parse_floor
from controller.games.odds import (
    LineOdds,
    LongRun,
    MeterTerms,
    ProgressiveBet,
    break_even,
    expected_return,
    long_run,
    progressive_bet,
    variations,
)
from controller.games.pay_tables import HAND_TITLES
from controller.games.vocabulary import Game
from controller.money import AMOUNT_MAX_CENTS, decimal_text
from controller.settings import Settings
from models.engine import Ledger
from models.in_force import floor_in_force

_BOXES = 7
"""Tables show this many boxes, or as many as were asked for."""
_ROUND = 1000
"""Money per bet is shown for this many bets: two decimals of one bet would say nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: a link, boxes in play, values of meters."""

    floor: Floor
    source: str
    link: Link
    boxes: int
    values: Mapping[str, Fraction]

    def bets(self) -> list[ProgressiveBet]:
        """The link's progressive bet on each of its pay tables."""
        meters = tuple(
            MeterTerms(m.id, m.reset_cents, m.rate_ppm, m.reserve_ppm, m.cap_cents) for m in self.link.meters
        )
        return [
            progressive_bet(self.floor.pay_tables_by_id[name], self.link.progressive_bet_cents, meters)
            for name in self.link.pay_tables
        ]

    def box_counts(self, bet: ProgressiveBet) -> range:
        """Numbers of boxes that make a difference."""
        return range(1, max(_BOXES, self.boxes) + 1) if bet.has_envy else range(1, 2)


def find_floor(settings: Settings, file: Path | None) -> tuple[Floor, str]:
    """The floor of a file, the floor in force, or, where there is none yet, the sample."""
    if file is not None:
        return load_floor(file), str(file)
    if settings.database_url or (settings.data_path / "ledger.sqlite").exists():
        ledger = Ledger(settings.ledger_url)
        try:
            found = floor_in_force(ledger)
        finally:
            ledger.engine.dispose()
        if found is not None:
            return found[1], f"floor version {found[0]}, in force"
    sample = (files("deploy") / "floor.yaml").read_text(encoding="utf-8")
    return parse_floor(sample, "the sample floor"), "the sample floor: no floor is in force here"


def ask(found: tuple[Floor, str], link_id: str, boxes: int, texts: tuple[str, ...]) -> Question:
    """A question with its words understood, or an error that says what was expected."""
    link = found[0].links_by_id.get(link_id)
    if link is None:
        known = ", ".join(found[0].links_by_id) or "none"
        raise JackpotError(f"there is no link {link_id!r} on {found[1]}; its links: {known}")
    names = [meter.id for meter in link.meters]
    values = {}
    for text in texts:
        name, _, cents = text.rpartition("=")
        name = name or names[0]
        if name not in names or not (cents.isascii() and cents.isdigit()) or int(cents) > AMOUNT_MAX_CENTS:
            raise JackpotError(f"--meter: expected cents, or one of {', '.join(names)}=CENTS, got {text!r}")
        values[name] = Fraction(int(cents))
    return Question(found[0], found[1], link, boxes, values)


# Numbers as text.


def money(cents: Fraction) -> str:
    """Cents to the nearest, as people write them.

    >>> money(Fraction(1, 3)), money(Fraction(12345678, 10))
    ('0.00', '12,345.68')
    """
    return decimal_text(floor(cents + Fraction(1, 2)))


def percent(part: Fraction) -> str:
    """A part of 1 as a percentage with four decimals.

    >>> percent(Fraction(1, 3)), percent(Fraction(-1, 8))
    ('33.3333%', '-12.5000%')
    """
    sign = "-" if part < 0 else ""
    whole, rest = divmod(floor(abs(part) * 1_000_000 + Fraction(1, 2)), 10_000)
    return f"{sign}{whole}.{rest:04d}%"


def number(value: Fraction) -> str:
    """A count, with two decimals where it is not whole.

    >>> number(Fraction(22_100)), number(Fraction(22_100, 3))
    ('22,100', '7,366.67')
    """
    return money(value * 100).removesuffix(".00")


def up(cents: Fraction) -> str:
    """Cents rounded up."""
    return decimal_text(ceil(cents))


def _table(head: list[str], rows: list[list[str]], *, left: int = 1) -> Iterator[str]:
    """Columns as wide as they need to be; the first ones flush left, the others flush right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = [
            c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  " + "  ".join(cells).rstrip()


# Sections of the report.


def _pays(line: LineOdds) -> str:
    own = line.line
    back = " + bet" if own.wager_returned else ""
    if own.share_ppm is not None:
        return f"{number(line.share * 100)}% of {own.meter}{back}"
    return (
        f"{own.odds_to_one} to 1{back}" if own.odds_to_one else f"{decimal_text(own.fixed_cents or 0)}{back}"
    )


def _hands(bet: ProgressiveBet) -> Iterator[str]:
    rows = []
    for line in bet.lines:
        envy = decimal_text(line.line.envy_cents) if line.line.envy_cents else "-"
        rows.append(
            [
                HAND_TITLES[line.line.hand],
                _pays(line),
                envy,
                f"{line.count:,} of {line.total:,}",
                f"1 in {number(1 / line.probability)}",
                percent(line.probability),
            ]
        )
    hit = sum((line.probability for line in bet.lines), Fraction(0))
    rows.append(["any of them", "", "", f"{number(hit * bet.lines[0].total)} of {bet.lines[0].total:,}"])
    rows[-1] += [f"1 in {number(1 / hit)}", percent(hit)]
    yield "How often (1 in N is also the average number of bets between hits)"
    yield from _table(["hand", "pays", "envy", "hands", "odds", "probability"], rows, left=2)


def shown_values(question: Question, bet: ProgressiveBet, meter: MeterTerms) -> dict[str, Fraction]:
    """Values of a meter worth a row, by what they are, least first."""
    average = next(m.at_hit for m in long_run(bet, 1).meters if m.meter.id == meter.id)
    at_even = break_even(bet, meter.id, question.boxes, question.values)
    rows = {
        "reset": Fraction(meter.reset_cents),
        "reset x 2": Fraction(2 * meter.reset_cents),
        "average at a hit": average,
        _at_even(question, bet): at_even,
    }
    if meter.cap_cents is not None:
        rows["cap"] = Fraction(meter.cap_cents)
    if meter.id in question.values:
        rows["as asked"] = question.values[meter.id]
    return dict(sorted(((k, v) for k, v in rows.items() if v >= 0), key=lambda row: row[1]))


def _at_even(question: Question, bet: ProgressiveBet) -> str:
    return f"break-even, {_plural(question.boxes)}" if bet.has_envy else "break-even"


def _plural(boxes: int) -> str:
    return f"{boxes} box{'es' if boxes > 1 else ''}"


def _returns(question: Question, bet: ProgressiveBet, meter: MeterTerms) -> Iterator[str]:
    counts = question.box_counts(bet)
    rows = []
    for title, value in shown_values(question, bet, meter).items():
        values = {**bet.resets(), **question.values, meter.id: value}
        parts = [expected_return(bet, values, n).total / bet.bet_cents for n in counts]
        rows.append([title, money(value), *map(percent, parts)])
    heads = [_plural(n) for n in counts] if bet.has_envy else ["any boxes"]
    yield f"Expected return of a bet of {decimal_text(bet.bet_cents)} by the value of {meter.id}"
    yield from _table(["value of the meter", "", *heads], rows)
    yield ""
    yield f"Break-even of {meter.id}: the value from which a bet returns itself, rounded up to a cent"
    evens = [break_even(bet, meter.id, n, question.values) for n in counts]
    yield from _table(["", *heads], [["value", *(up(even) if even > 0 else "any" for even in evens)]])
    if meter.cap_cents is not None and min(evens) > meter.cap_cents:
        yield f"  The cap of {decimal_text(meter.cap_cents)} is lower: no displayed value reaches it."


def _long_run(question: Question, bet: ProgressiveBet, run: LongRun) -> Iterator[str]:
    for m in run.meters:
        yield f"{m.meter.id} in the long run"
        if m.bets_between_resets is not None and m.growth is not None:
            yield f"  bets between resets      {number(m.bets_between_resets):>16}"
            yield f"  growth between resets    {money(m.growth):>16}"
        yield f"  average value at a hit   {money(m.at_hit):>16}"
        if m.cap_binds:
            yield "  The cap is below what the bets feed: the overflow grows without end."
        if m.bets_between_resets is not None and m.coverage is not None:
            yield f"  reset value              {decimal_text(m.meter.reset_cents):>16}"
            yield f"  reserve between resets   {money(m.reserved * m.bets_between_resets):>16}"
            paid = (
                "pays for every reset and grows without end" if m.coverage >= 1 else "the house pays the rest"
            )
            yield f"  reserve covers           {percent(m.coverage):>16}   ({paid})"
        yield ""
    yield f"Where {_ROUND:,} bets ({decimal_text(_ROUND * bet.bet_cents)}) go, {_in_play(question, bet)}"
    yield from _table(["", "money", "of the bets"], [list(row) for row in _split(bet, run)])
    back = run.returned.total / bet.bet_cents
    yield f"  In all {percent(back)} comes back to players: a house edge of {percent(1 - back)}."
    if run.kept < 0:
        yield "  With these terms the house loses on every bet."


def _in_play(question: Question, bet: ProgressiveBet) -> str:
    if not bet.has_envy:
        return "with any number of boxes in play"
    return f"with {_plural(question.boxes)} in play"


def _split(bet: ProgressiveBet, run: LongRun) -> Iterator[tuple[str, str, str]]:
    returned = run.returned
    for title, cents in (
        ("to the meters", run.to_meters),
        ("to the reserves", run.to_reserves),
        ("resets that no reserve covers", run.house_tops_up),
        ("fixed awards and odds", returned.fixed),
        ("bets given back", returned.wagers),
        ("envy bonuses", returned.envy),
        ("kept by the house", run.kept),
    ):
        yield title, money(cents * _ROUND), percent(cents / bet.bet_cents)


def _variations(question: Question, bet: ProgressiveBet) -> Iterator[str]:
    rows = []
    for title, changed in variations(bet):
        run = long_run(changed, question.boxes)
        covers = [percent(m.coverage) if m.coverage is not None else "-" for m in run.meters]
        rows.append(
            [
                title,
                " + ".join(money(m.at_hit) for m in run.meters),
                percent(run.returned.total / bet.bet_cents),
                percent(run.kept / bet.bet_cents),
                percent(run.house_tops_up / bet.bet_cents),
                " + ".join(covers),
            ]
        )
    yield f"If the terms were others, {_in_play(question, bet)} (percentages of the bets)"
    head = ["", "average at a hit", "returned", "house keeps", "house adds to resets", "reserve covers"]
    yield from _table(head, rows)


def assumptions(question: Question, bet: ProgressiveBet) -> list[str]:
    """What the numbers take for granted."""
    game = bet.pay_table.game
    tables = [t for t in question.floor.tables if t.link == question.link.id and t.game is game]
    rules = [question.floor.rules_of(table).poker_rules for table in tables]
    found = ["Each bet feeds the meter before its hand is dealt; two winners in one round are left out."]
    if any(own.fold.progressive == "lost" for own in rules):
        found.append("A fold forfeits the progressive bet; a hand that pays is never folded.")
    if bet.has_envy and game is not Game.MLP:
        own = expected_return(bet, bet.resets(), 2).envy / bet.bet_cents
        most = sum(line.probability * line.line.envy_cents for line in bet.lines) / Fraction(bet.bet_cents)
        found += [
            "Every box is another player's, with an Ante; it folds below Q-6-4 and then has no envy bonus.",
            f"Each other box adds {percent(own)} of a bet (if nobody ever folded: {percent(most)}).",
        ]
    if bet.has_envy and game is Game.MLP:
        found.append("Every box is another player's, with an Ante, and does not fold.")
    if len(question.link.pay_tables) > 1:
        found.append("The long run is the one in which all bets of the link are on this pay table.")
    if len(question.link.meters) > 1:
        found.append("Where one meter moves, the others are as asked for, or at reset.")
    return found


def report_text(question: Question) -> str:
    """The whole report for a terminal."""
    link = question.link
    lines = [f"{link.title} ({link.id}), amounts in {link.currency}", f"From {question.source}."]
    for bet in question.bets():
        run = long_run(bet, question.boxes)
        lines += ["", f"{bet.pay_table.game}: {bet.pay_table.title} ({bet.pay_table.id})", ""]
        lines += [*_hands(bet), ""]
        for meter in bet.meters:
            lines += [*_returns(question, bet, meter), ""]
        lines += [*_long_run(question, bet, run), "", *_variations(question, bet), ""]
        lines += [f"* {sentence}" for sentence in assumptions(question, bet)]
    return "\n".join(lines)


# The same as data.


def report_json(question: Question) -> str:
    """The report as JSON. Exact numbers are text: `8045000` or `1/22100`; amounts in cents."""
    data = {
        "source": question.source,
        "link": question.link.id,
        "currency": question.link.currency,
        "bet_cents": question.link.progressive_bet_cents,
        "boxes": question.boxes,
        "pay_tables": [_bet_data(question, bet) for bet in question.bets()],
    }
    return json.dumps(data, indent=2)


def _bet_data(question: Question, bet: ProgressiveBet) -> dict[str, object]:
    counts = question.box_counts(bet)
    returns, evens = [], []
    for meter in bet.meters:
        for title, value in shown_values(question, bet, meter).items():
            values = {**bet.resets(), **question.values, meter.id: value}
            totals = {str(n): str(expected_return(bet, values, n).total) for n in counts}
            returns.append({"meter": meter.id, "at": title, "value": str(value), "by_boxes": totals})
        for n in counts:
            even = break_even(bet, meter.id, n, question.values)
            evens.append({"meter": meter.id, "boxes": n, "exact": str(even), "rounded_up": ceil(even)})
    return {
        "id": bet.pay_table.id,
        "game": bet.pay_table.game,
        "lines": [
            {
                "hand": line.line.hand,
                "count": line.count,
                "of": line.total,
                "probability": str(line.probability),
            }
            for line in bet.lines
        ],
        "returns": returns,
        "break_even": evens,
        "long_run": _run_data(long_run(bet, question.boxes)),
        "variations": [
            {"change": title, **_run_data(long_run(changed, question.boxes))}
            for title, changed in variations(bet)
        ],
        "assumptions": assumptions(question, bet),
    }


def _run_data(run: LongRun) -> dict[str, object]:
    return {
        "meters": [
            {
                "id": m.meter.id,
                "bets_between_resets": _exact(m.bets_between_resets),
                "growth": _exact(m.growth),
                "average_at_hit": _exact(m.at_hit),
                "cap_binds": m.cap_binds,
                "reserve_coverage": _exact(m.coverage),
            }
            for m in run.meters
        ],
        "to_meters": str(run.to_meters),
        "to_reserves": str(run.to_reserves),
        "house_tops_up": str(run.house_tops_up),
        "fixed": str(run.returned.fixed),
        "wagers": str(run.returned.wagers),
        "envy": str(run.returned.envy),
        "returned": str(run.returned.total),
        "kept": str(run.kept),
    }


def _exact(value: Fraction | None) -> str | None:
    return None if value is None else str(value)
