"""Bets that go back: a void round, or one box whose hand is out of play. Pure."""

import msgspec
from msgspec import UNSET

from controller.betting.messages import Facts
from controller.clock import INSTANT_MAX, to_micros, to_text
from controller.errors import Code, FieldProblem, Refused
from controller.floor.definition import Floor, Table
from controller.games.irregularities import HouseDecision, Incident, Irregularity, Ruling
from controller.games.rule_sets import RuleSet
from controller.games.settlement import all_returned
from controller.games.vocabulary import Point
from controller.results.messages import BoxReturn, ResultFacts, ReturnFacts, RoundVoid, VoidFacts
from controller.results.seen import earlier_returned, ruling_on, stakes_of

NOBODY: dict[int, str] = {}


def _own_ruling(rules: RuleSet, body: RoundVoid | BoxReturn, bets: Facts, **facts: object) -> Ruling:
    given = {name: getattr(body, name) for name in Incident.__struct_fields__ if name != "what"}
    incident = msgspec.convert({**_set(given), **facts, "what": body.reason}, Incident)
    return ruling_on(rules, incident, "", bets)


def _set(facts: dict[str, object]) -> dict[str, object]:
    return {name: msgspec.to_builtins(value) for name, value in facts.items() if value is not UNSET}


def conclude_return(
    floor: Floor, table: Table, bets: Facts, result: ResultFacts | None, box: int, body: BoxReturn
) -> ReturnFacts:
    """Give one box's bets back for a reason that takes its hand out of play (5.10.3, 5.15, 5.18)."""
    rules = floor.rules_of(table)
    own = next((item for item in bets.boxes if item.box == box), None)
    if own is None:
        detail = f"box: box {box} has no bets in round {bets.round}"
        raise Refused(Code.BOX_WITHOUT_BETS, detail, [FieldProblem("box", Code.BOX_WITHOUT_BETS, detail)])
    facts: dict[str, object] = {"boxes": [box], "options": [{"box": box, "option": "return"}]}
    if body.reason is Irregularity.HOUSE_DECISION:
        facts["decision"] = HouseDecision.RETURN_BOXES
    ruling = _own_ruling(rules, body, bets, **facts)
    if box not in ruling.invalidated:
        raise Refused(
            Code.RETURN_NOT_ALLOWED,
            f"reason: {ruling.rule}: {ruling.sentence}; the box's bets do not go back",
            [FieldProblem("reason", Code.RETURN_NOT_ALLOWED, f"{ruling.rule} does not return them")],
        )
    rule = ruling.invalidated[box]
    decided = next((r for r in (result.result.boxes if result else []) if r.box == box), None)
    return ReturnFacts(
        table=table.id,
        round=bets.round,
        box=box,
        returned=body,
        rule=rule,
        sentence=f"{ruling.sentence}.",
        settlement=[
            line
            for player, stakes in stakes_of(bets, own, decided)
            for line in all_returned(box, player, stakes, rule, "hand taken out of play")
        ],
    )


def conclude_void(
    floor: Floor,
    table: Table,
    bets: Facts,
    result: ResultFacts | None,
    body: RoundVoid,
    returned: dict[int, str] = NOBODY,
) -> VoidFacts:
    """Void a round for a reason that the document knows; `Refused` where the round must go on."""
    rules = floor.rules_of(table)
    voided_micros(body)
    house = {"decision": HouseDecision.VOID} if body.reason is Irregularity.HOUSE_DECISION else {}
    ruling = _own_ruling(rules, body, bets, **house)
    if not ruling.void:
        raise Refused(
            Code.VOID_NOT_ALLOWED,
            f"reason: {ruling.rule}: {ruling.sentence}; the round is not void",
            [FieldProblem("reason", Code.VOID_NOT_ALLOWED, f"{ruling.rule} does not void the round")],
        )
    back = rules.rule(Point.VOID_RETURNS)
    decided = {box.box: box for box in (result.result.boxes if result else [])}
    lines = [
        line
        for box in bets.boxes
        if box.box not in returned
        for player, stakes in stakes_of(bets, box, decided.get(box.box))
        for line in all_returned(box.box, player, stakes, back, "the round is void")
    ]
    earlier = {*returned, *(result.reversed_boxes if result else [])}
    return VoidFacts(
        table=table.id,
        round=bets.round,
        rule_set=rules.id,
        void=body,
        rule=ruling.rule,
        sentence=f"{ruling.sentence}.",
        settlement=[*lines, *earlier_returned(bets.returned)],
        reversed_boxes=[box for box in bets.progressive_boxes if box not in earlier],
    )


def refuse_after_next_round(voided_at: int, next_round: int, next_closed_at: str, rules: RuleSet) -> None:
    """A round stands once the next has begun, judged by when the void was declared (5.8, 5.19; NTP 5.6)."""
    if to_text(voided_at) < next_closed_at:
        return
    detail = (
        f"voided_at: round {next_round} had begun by {next_closed_at}: the round stands "
        f"({rules.rule(Point.FOUND_LATE)})"
    )
    raise Refused(Code.ROUND_STANDS, detail, [FieldProblem("voided_at", Code.ROUND_STANDS, detail)])


def voided_micros(body: RoundVoid) -> int:
    """When a void was declared."""
    micros = to_micros(body.voided_at)
    if not 0 <= micros <= INSTANT_MAX:
        detail = "voided_at: expected a time from 1970 to 9998"
        raise Refused(Code.BODY_INVALID, detail, [FieldProblem("voided_at", Code.BODY_INVALID, detail)])
    return micros
