"""Checking a round's locked bets against the floor: what is refused, what is returned, what counts.

Pure. A refusal names the box and the field and changes nothing.
"""

import hashlib
from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from controller.betting.messages import BoxBets, Facts, Returned, RoundBets
from controller.clock import INSTANT_MAX, to_micros, to_text
from controller.errors import Code, FieldProblem, Refused
from controller.floor.definition import Floor, Table
from controller.games.vocabulary import Game

NO_ANTE_RULE = {
    Game.TCP: "TCP 5.4",
    Game.MLP: "MLP 5.4",
    Game.GTP: "TCP 5.4, chosen for GTP",  # GTP is silent
}
_POKER_FIELDS = ("player", "ante_cents", "pair_plus_cents", "progressive_cents")


class LockedRound(msgspec.Struct, frozen=True):
    """A round that may be recorded: ready for the store."""

    table: str
    round: int
    body_hash: str
    closed_at: int
    """'No more bets' by the table's clock, in microseconds."""
    facts: Facts
    facts_text: str


def lock_bets(floor: Floor, table: Table, number: int, body: RoundBets) -> LockedRound:
    """Check a round's bets; the result is what the store records, or `Refused` names every problem."""
    closed_at = to_micros(body.bets_closed_at)
    problems = list(_problems(floor, table, body, closed_at))
    if problems:
        raise Refused(problems[0].code, problems[0].detail, problems)
    boxes = sorted(body.boxes, key=lambda box: box.box)
    counted, returned = _qualify(table.game, boxes)
    facts = Facts(
        table=table.id,
        round=number,
        bets_closed_at=to_text(closed_at),
        boxes=boxes,
        progressive_boxes=counted,
        returned=returned,
    )
    return LockedRound(
        table=table.id,
        round=number,
        body_hash=body_identity(table.id, number, facts.bets_closed_at, boxes),
        closed_at=closed_at,
        facts=facts,
        facts_text=msgspec.json.encode(facts).decode(),
    )


def body_identity(table: str, number: int, bets_closed_at: str, boxes: list[BoxBets]) -> str:
    """What makes two requests the same. Leaves out all that we derive from the body, so that a rule
    which changes between a request and its retry cannot turn the retry into a conflict.
    """
    canonical = msgspec.json.encode([table, number, bets_closed_at, boxes])
    return hashlib.sha256(canonical).hexdigest()


def _qualify(game: Game, boxes: list[BoxBets]) -> tuple[list[int], list[Returned]]:
    """Which boxes' progressive bets count; those without an Ante are returned (TCP 5.4, MLP 5.4).

    No box reporting an Ante means that the table does not report them: presumed placed.
    """
    antes_reported = any(box.ante_cents is not UNSET for box in boxes)
    counted: list[int] = []
    returned: list[Returned] = []
    for box in boxes:
        if not box.progressive_cents:
            continue
        if antes_reported and not box.ante_cents:
            returned.append(
                Returned(
                    box=box.box,
                    bet="progressive",
                    amount_cents=box.progressive_cents,
                    rule=NO_ANTE_RULE[game],
                )
            )
        else:
            counted.append(box.box)
    return counted, returned


def _problems(floor: Floor, table: Table, body: RoundBets, closed_at: int) -> Iterator[FieldProblem]:
    if not 0 <= closed_at < INSTANT_MAX:
        yield FieldProblem("bets_closed_at", Code.BODY_INVALID, "expected an instant from 1970 to 9998")
    prescribed = floor.links_by_id[table.link].progressive_bet_cents if table.link else None
    seen: set[int] = set()
    for i, box in enumerate(body.boxes):
        path = f"boxes[{i}]"
        if box.box > table.boxes:
            yield FieldProblem(
                f"{path}.box",
                Code.BOX_UNKNOWN,
                f"box {box.box}: table {table.id} has boxes 1 to {table.boxes}",
            )
        if box.box in seen:
            yield FieldProblem(f"{path}.box", Code.BOX_REPEATED, f"box {box.box} appears twice")
        seen.add(box.box)
        if box.player is not UNSET and not _is_reference(box.player):
            yield _not_a_reference(f"{path}.player")
        if table.game is Game.NTP or box.bets is not UNSET:
            yield from _kind_problems(path, box, table)
        if box.progressive_cents and box.progressive_cents != prescribed:
            yield _progressive_problem(path, box, table, prescribed)


def _kind_problems(path: str, box: BoxBets, table: Table) -> Iterator[FieldProblem]:
    if table.game is not Game.NTP:
        if box.bets is not UNSET:
            yield FieldProblem(
                f"{path}.bets",
                Code.BET_KIND_WRONG,
                f"box {box.box}: {table.game} boxes have ante_cents, pair_plus_cents and progressive_cents",
            )
        return
    for name in _POKER_FIELDS:
        if getattr(box, name) is not UNSET and name != "progressive_cents":
            yield FieldProblem(
                f"{path}.{name}",
                Code.BET_KIND_WRONG,
                f"box {box.box}: NTP boxes have a list of bets, one per player",
            )
    if box.bets is UNSET:
        yield FieldProblem(f"{path}.bets", Code.BET_KIND_WRONG, f"box {box.box}: expected the players' bets")
        return
    for i, bets in enumerate(box.bets):
        if not _is_reference(bets.player):
            yield _not_a_reference(f"{path}.bets[{i}].player")


def _is_reference(player: str) -> bool:
    return player.isascii() and player.isprintable() and " " not in player


def _not_a_reference(path: str) -> FieldProblem:
    return FieldProblem(path, Code.BODY_INVALID, f"{path}: expected printable ASCII without blanks")


def _progressive_problem(path: str, box: BoxBets, table: Table, prescribed: int | None) -> FieldProblem:
    if prescribed is None:
        return FieldProblem(
            f"{path}.progressive_cents",
            Code.PROGRESSIVE_NOT_OFFERED,
            f"box {box.box}: table {table.id} is on no link and takes no progressive bet",
        )
    return FieldProblem(
        f"{path}.progressive_cents",
        Code.PROGRESSIVE_AMOUNT_WRONG,
        f"box {box.box}: the progressive bet is {prescribed} cents, got {box.progressive_cents}",
    )
