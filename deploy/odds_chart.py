"""The chart of `jackpot odds`: expected return of a bet against the meter, as SVG text."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from pathlib import Path

from controller.errors import JackpotError
from controller.games.odds import MeterTerms, ProgressiveBet, break_even, expected_return, long_run
from deploy.odds_report import Question, money, percent, up

_WIDTH, _HEIGHT = 900, 520
_TOP, _BOTTOM = 136, 436
# Colours that keep their contrast on both backgrounds, from one box to many.
_LINES = ("#2f7fd6", "#2a93c4", "#25a3a8", "#3aa878", "#6fa33a", "#b08d1f", "#d2701f")
_STYLE = """
    .back { fill: #ffffff } .text { fill: #1f2328 } .soft { fill: #59636e }
    .grid { stroke: #d8dee4; stroke-width: 1 } .axis { stroke: #59636e; stroke-width: 1 }
    .mark { stroke: #59636e; stroke-width: 1.2; stroke-dasharray: 4 4 }
    .even { stroke: #cf222e; stroke-width: 1.4; stroke-dasharray: 7 4 } .eventext { fill: #cf222e }
    text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif }
    .title { font-size: 18px; font-weight: 600 } .small { font-size: 12px }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 } .text { fill: #e6edf3 } .soft { fill: #9198a1 }
      .grid { stroke: #262c34 } .axis, .mark { stroke: #9198a1 }
      .even { stroke: #ff7b72 } .eventext { fill: #ff7b72 }
    }
"""


@dataclass(frozen=True, slots=True)
class _Panel:
    """A plot: pixels from left to right, values in cents from low to high, returns in parts of the bet."""

    left: int
    right: int
    low: Fraction
    high: Fraction
    bottom: Fraction
    top: Fraction

    def x(self, value: Fraction) -> float:
        return float(self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left))

    def y(self, part: Fraction) -> float:
        return float(_BOTTOM - (part - self.bottom) / (self.top - self.bottom) * (_BOTTOM - _TOP))


def _step(span: Fraction, wanted: int) -> Fraction:
    """A round distance between ticks: 1, 2 or 5 times a power of ten, at most `wanted` of them in a span.

    >>> _step(Fraction(9_000), 6)
    Fraction(2000, 1)
    """
    power = Fraction(1, 10**6)
    while True:
        for times in (1, 2, 5):
            if span / (power * times) <= wanted:
                return power * times
        power *= 10


def _ticks(low: Fraction, high: Fraction, wanted: int) -> list[Fraction]:
    step = _step(high - low, wanted)
    first = -(-low // step)
    return [step * n for n in range(first, high // step + 1)]


def _text(x: float, y: float, words: str, *, kind: str = "soft small", anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _rule(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _percent_tick(part: Fraction) -> str:
    """A percentage without needless zeros."""
    return percent(part).rstrip("%").rstrip("0").rstrip(".") + "%"


def _axes(panel: _Panel, x_ticks: int, label: str) -> Iterator[str]:
    for part in _ticks(panel.bottom, panel.top, 7):
        y = panel.y(part)
        yield _rule("grid", panel.left, y, panel.right, y)
        yield _text(panel.left - 8, y + 4, _percent_tick(part), anchor="end")
    for value in _ticks(panel.low, panel.high, x_ticks):
        x = panel.x(value)
        yield _rule("grid", x, _TOP, x, _BOTTOM)
        yield _text(x, _BOTTOM + 19, up(value).removesuffix(".00"))
    yield _rule("axis", panel.left, _BOTTOM, panel.right, _BOTTOM)
    yield _rule("axis", panel.left, _TOP, panel.left, _BOTTOM)
    yield _text((panel.left + panel.right) / 2, _BOTTOM + 44, label)


@dataclass(frozen=True, slots=True)
class _Chart:
    """One pay table's return against one meter."""

    question: Question
    bet: ProgressiveBet
    meter: MeterTerms

    @property
    def boxes(self) -> range:
        return range(1, len(_LINES) + 1) if self.bet.has_envy else range(1, 2)

    def part(self, value: Fraction, boxes: int) -> Fraction:
        values = {**self.bet.resets(), **self.question.values, self.meter.id: value}
        return expected_return(self.bet, values, boxes).total / self.bet.bet_cents

    def even(self, boxes: int) -> Fraction:
        return break_even(self.bet, self.meter.id, boxes, self.question.values)

    def marks(self) -> list[tuple[str, Fraction]]:
        """Values worth a vertical line, least first."""
        average = next(m.at_hit for m in long_run(self.bet, 1).meters if m.meter.id == self.meter.id)
        found = [("reset", Fraction(self.meter.reset_cents)), ("average at a hit", average)]
        if self.meter.cap_cents is not None:
            found.append(("cap", Fraction(self.meter.cap_cents)))
        if self.meter.id in self.question.values:
            found.append(("as asked", self.question.values[self.meter.id]))
        return sorted(found, key=lambda mark: mark[1])

    def whole(self) -> _Panel:
        """From an empty meter to beyond everything that is marked."""
        far = max(self.even(1), *(value for _, value in self.marks()), Fraction(1)) * Fraction(6, 5)
        step = _step(far, 10)
        high = -(-far // step) * step
        top = max(self.part(high, self.boxes[-1]), Fraction(1))
        step = _step(top, 7)
        right = 556 if self.bet.has_envy else 836
        return _Panel(78, right, Fraction(0), high, Fraction(0), -(-top // step) * step)

    def near(self) -> _Panel:
        """Around the break-even values, so that each number of boxes has a line to be seen."""
        first, last = self.even(self.boxes[-1]), self.even(1)
        margin = (last - first) / 5
        low, high = max(first - margin, Fraction(0)), last + margin
        bottom, top = self.part(low, 1), self.part(high, self.boxes[-1])
        return _Panel(648, 856, low, high, bottom, top)

    def lines(self, panel: _Panel, width: str) -> Iterator[str]:
        for boxes in self.boxes:
            ends = [(panel.x(v), panel.y(self.part(v, boxes))) for v in (panel.low, panel.high)]
            (x1, y1), (x2, y2) = ends
            colour = f'stroke="{_LINES[boxes - 1]}" stroke-width="{width}" stroke-linecap="round"'
            yield f'<line {colour} x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'

    def whole_panel(self) -> Iterator[str]:
        panel = self.whole()
        currency = self.question.link.currency
        yield from _axes(panel, 6 if self.bet.has_envy else 9, f"value of {self.meter.id} ({currency})")
        even = self.even(1)
        marks = [(title, value, "mark", "soft small") for title, value in self.marks()]
        if even > 0:
            title = "break-even, 1 box" if self.bet.has_envy else "break-even"
            marks.append((title, even, "even", "eventext small"))
            yield _rule("even", panel.left, panel.y(Fraction(1)), panel.right, panel.y(Fraction(1)))
        yield from self.lines(panel, "2" if not self.bet.has_envy else "1.2")
        # One row of words for each mark, the least value highest: no line crosses another mark's words.
        for row, (title, value, rule, kind) in enumerate(sorted(marks, key=lambda mark: mark[1])):
            x, height = panel.x(value), _TOP - 10 - 17 * (len(marks) - 1 - row)
            words = f"{title} {up(value) if rule == 'even' else money(value)}"
            outside = x + 7 * len(words) > _WIDTH
            yield _rule(rule, x, height - 9, x, _BOTTOM)
            yield _text(
                x + (-6 if outside else 6), height, words, kind=kind, anchor="end" if outside else "start"
            )
        if even > 0:
            x, y = panel.x(even), panel.y(Fraction(1))
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="#cf222e"/>'

    def near_panel(self) -> Iterator[str]:
        panel = self.near()
        yield from _axes(panel, 3, "around break-even, by boxes in play")
        yield _rule("even", panel.left, panel.y(Fraction(1)), panel.right, panel.y(Fraction(1)))
        yield from self.lines(panel, "2")
        for boxes in self.boxes:
            x, y = panel.x(self.even(boxes)), panel.y(Fraction(1))
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{_LINES[boxes - 1]}"/>'
            end = panel.y(self.part(panel.high, boxes))
            yield _text(panel.right + 8, end + 4, str(boxes), kind="text small", anchor="start")


def chart(question: Question, bet: ProgressiveBet, meter: MeterTerms) -> str:
    """A picture of 900 by 520 that adapts to light and dark pages."""
    own = _Chart(question, bet, meter)
    title = f"{question.link.title}: expected return of a bet of {up(Fraction(bet.bet_cents))}"
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    middle = f"translate(22 {(_TOP + _BOTTOM) // 2}) rotate(-90)"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="back" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
        _text(24, 34, title, kind="text title", anchor="start"),
        *own.whole_panel(),
        *(own.near_panel() if bet.has_envy and own.even(own.boxes[-1]) > 0 else ()),
        f'<g transform="{middle}">{_text(0, 0, "return of the bet")}</g>',
        _text(24, _HEIGHT - 14, _foot(question, bet), anchor="start"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _foot(question: Question, bet: ProgressiveBet) -> str:
    counted = f"Exact by enumeration of all {bet.lines[0].total:,} hands"
    return f"{bet.pay_table.title}. {counted}. {question.floor.casino}."


def write_charts(question: Question, path: Path) -> list[Path]:
    """Every chart of a link: in this file, or, where there are several, in files with longer names."""
    found = {
        f"-{bet.pay_table.id}-{meter.id}": chart(question, bet, meter)
        for bet in question.bets()
        for meter in bet.meters
    }
    if len(found) == 1:
        found = {"": next(iter(found.values()))}
    written = []
    for suffix, picture in found.items():
        target = path.with_name(f"{path.stem}{suffix}{path.suffix}")
        try:
            target.write_text(picture, encoding="utf-8")
        except OSError as error:
            raise JackpotError(f"the chart cannot be written: {error}") from error
        written.append(target)
    return written
