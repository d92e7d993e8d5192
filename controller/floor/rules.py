"""What a floor must satisfy beyond the shape of its fields. Each finding names a path and an expectation."""

from collections.abc import Iterator

from controller.floor.definition import Floor, Link, Meter, Table
from controller.games.pay_tables import PROGRESSIVE_HANDS, PayLine, PayTable
from controller.games.rule_sets import LIMITED_BETS, rule_set_contradictions
from controller.games.standard import standard_rules
from controller.games.vocabulary import Game
from controller.ids import UNLINKED
from controller.money import PPM
from controller.yaml_source import Finding


def contradictions(floor: Floor) -> Iterator[Finding]:
    """Every contradiction in a floor, in the order of the file."""
    yield from _repeated("rule_sets", [rules.id for rules in floor.rule_sets])
    for i, rules in enumerate(floor.rule_sets):
        if rules.id in standard_rules():
            yield f"rule_sets[{i}].id", f"expected another name, {rules.id!r} is a standard rule set"
        yield from rule_set_contradictions(f"rule_sets[{i}]", rules)
    yield from _repeated("pay_tables", [p.id for p in floor.pay_tables])
    for i, pay_table in enumerate(floor.pay_tables):
        yield from _pay_table(f"pay_tables[{i}]", pay_table)
    yield from _repeated("links", [link.id for link in floor.links])
    seen_meters: set[str] = set()
    for i, link in enumerate(floor.links):
        yield from _link(f"links[{i}]", link, floor, seen_meters)
    yield from _repeated("tables", [t.id for t in floor.tables])
    yield from _tables(floor)


def _repeated(path: str, ids: list[str]) -> Iterator[Finding]:
    for i, name in enumerate(ids):
        if name in ids[:i]:
            yield f"{path}[{i}].id", f"expected a name used once, {name!r} is already taken"


def _pay_table(path: str, pay_table: PayTable) -> Iterator[Finding]:
    allowed = PROGRESSIVE_HANDS[pay_table.game]
    if not allowed:
        yield f"{path}.game", f"expected a game with a progressive bet, {pay_table.game} has none"
        return
    positions = []
    for i, line in enumerate(pay_table.lines):
        where = f"{path}.lines[{i}]"
        if line.hand not in allowed:
            yield f"{where}.hand", f"expected one of {', '.join(allowed)}"
            return
        positions.append(allowed.index(line.hand))
        yield from _pay_line(where, line)
    if positions != sorted(set(positions)):
        yield f"{path}.lines", "expected each hand once, best first"


def _pay_line(path: str, line: PayLine) -> Iterator[Finding]:
    ways = [line.share_ppm, line.fixed_cents, line.odds_to_one]
    if sum(way is not None for way in ways) != 1:
        yield path, "expected exactly one of share_ppm, fixed_cents, odds_to_one"
    from_meter = line.share_ppm is not None or line.funded_by == "meter"
    if from_meter != (line.meter is not None):
        yield (
            f"{path}.meter",
            "expected with share_ppm or funded_by: meter, and only then: the meter that pays",
        )


def _link(path: str, link: Link, floor: Floor, seen_meters: set[str]) -> Iterator[Finding]:
    if link.id == UNLINKED:
        yield f"{path}.id", f"expected another name, {UNLINKED!r} is kept for tables without a link"
    for i, meter in enumerate(link.meters):
        where = f"{path}.meters[{i}]"
        if meter.id in seen_meters:
            yield f"{where}.id", f"expected a name used once on the floor, {meter.id!r} is already taken"
        seen_meters.add(meter.id)
        yield from _meter(where, meter)
    taken = sum(m.rate_ppm + m.reserve_ppm for m in link.meters)
    if taken > PPM:
        yield f"{path}.meters", f"expected rates and reserves of at most {PPM} ppm together, got {taken}"
    yield from _link_pay_tables(path, link, floor)


def _link_pay_tables(path: str, link: Link, floor: Floor) -> Iterator[Finding]:
    own = {meter.id for meter in link.meters}
    games: set[Game] = set()
    for i, name in enumerate(link.pay_tables):
        where = f"{path}.pay_tables[{i}]"
        pay_table = floor.pay_tables_by_id.get(name)
        if pay_table is None:
            yield where, f"expected the id of a pay table, there is no {name!r}"
            continue
        if pay_table.game in games:
            yield where, f"expected one pay table per game, {pay_table.game} has two"
        games.add(pay_table.game)
        shared = {line.meter for line in pay_table.lines if line.meter is not None}
        if shared != own:
            yield (
                where,
                f"expected a pay table over the meters {sorted(own)}, {name!r} names {sorted(shared)}",
            )


def _meter(path: str, meter: Meter) -> Iterator[Finding]:
    if meter.cap_cents is not None and meter.cap_cents < max(meter.reset_cents, meter.opening_cents):
        yield f"{path}.cap_cents", "expected at least the reset value and the opening value"


def _table(path: str, table: Table, floor: Floor) -> Iterator[Finding]:
    if table.rules is not None:
        rules = floor.rule_sets_by_id.get(table.rules)
        if rules is None or rules.game is not table.game:
            own = sorted(r.id for r in floor.rule_sets_by_id.values() if r.game is table.game)
            yield f"{path}.rules", f"expected a rule set of {table.game}: {', '.join(own)}"
    for bet, limits in table.limits.items():
        if bet not in LIMITED_BETS[table.game]:
            yield f"{path}.limits.{bet}", f"expected one of {', '.join(LIMITED_BETS[table.game])}"
        if limits.max_cents is not None and limits.max_cents < limits.min_cents:
            yield f"{path}.limits.{bet}.max_cents", "expected at least the minimum"


def _tables(floor: Floor) -> Iterator[Finding]:
    for i, table in enumerate(floor.tables):
        yield from _table(f"tables[{i}]", table, floor)
        if table.link is None:
            continue
        if table.game is Game.NTP:
            yield f"tables[{i}].link", "expected none: NTP has no progressive bet"
            return
        link = floor.links_by_id.get(table.link)
        if link is None:
            yield f"tables[{i}].link", f"expected the id of a link, there is no {table.link!r}"
            return
        games = [floor.pay_tables_by_id[name].game for name in link.pay_tables]
        if table.game not in games:
            yield f"tables[{i}].game", f"expected a game of link {table.link!r}: {', '.join(games)}"
