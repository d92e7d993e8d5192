"""Checking how a round ended against its recorded bets, and settling it. Pure.

A refusal names the field and changes nothing.
"""

import hashlib
from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from controller.betting.messages import BoxBets, Facts
from controller.clock import INSTANT_MAX, to_micros
from controller.errors import Code, FieldProblem, Refused
from controller.floor.definition import Floor, Table
from controller.games.cards import Card, CardError, Hand, parse_card, repeated_card
from controller.games.irregularities import (
    Ruling,
)
from controller.games.pictures import PicturesBox, settle_pictures
from controller.games.poker import PokerBox, settle_poker
from controller.games.vocabulary import Decision, Game
from controller.results.messages import (
    BoxReturn,
    ResultBox,
    ResultFacts,
    RoundResult,
    RoundVoid,
)
from controller.results.seen import antes_reported, earlier_returned, player_bets, poker_box, ruling_on


def body_identity(table: str, number: int, body: RoundResult | RoundVoid | BoxReturn) -> str:
    """What makes two requests the same, whatever we derive from them."""
    return hashlib.sha256(msgspec.json.encode([table, number, body])).hexdigest()


NOBODY: dict[int, str] = {}


def conclude(
    floor: Floor, table: Table, bets: Facts, body: RoundResult, returned: dict[int, str] = NOBODY
) -> ResultFacts:
    """Settle a round; `Refused` names every problem. `returned`: boxes whose bets went back before it."""
    rules = floor.rules_of(table)
    rulings = [
        ruling_on(rules, incident, f"incidents[{i}]", bets) for i, incident in enumerate(body.incidents)
    ]
    _refuse_void(rulings)
    out = returned | {box: rule for ruling in rulings for box, rule in ruling.invalidated.items()}
    cards = _Cards(body, rules.poker.community_cards if rules.poker else 0)
    problems = [*cards.problems, *_problems(table, bets, body, out)]
    if problems:
        raise Refused(problems[0].code, problems[0].detail, problems)
    if table.game is Game.NTP:
        settled = settle_pictures(rules, cards.dealer, _pictures_boxes(bets, body, cards, out), table.limits)
    else:
        boxes = _poker_boxes(bets, body, cards, out)
        settled = settle_poker(
            rules, floor.pay_table_of(table), cards.dealer, cards.community, boxes, table.limits
        )
    return ResultFacts(
        table=table.id,
        round=bets.round,
        rule_set=rules.id,
        result=body,
        settlement=[*settled.lines, *earlier_returned(bets.returned)],
        claims=settled.claims,
        envy=settled.envy,
        remarks=[*(ruling.remark() for ruling in rulings), *settled.remarks],
        reversed_boxes=[box for box in bets.progressive_boxes if box in out and box not in returned],
        invalidated=sorted(out),
    )


class _Cards:
    """Every card of a result, parsed once; problems by field."""

    def __init__(self, body: RoundResult, community_cards: int) -> None:
        self.problems: list[FieldProblem] = []
        self._seen: list[Card] = []
        self.dealer = self._hand(body.dealer, "dealer")
        self.community = self._community(body, community_cards)
        self.hands: dict[int, Hand] = {}
        for i, box in enumerate(body.boxes):
            if box.cards is not UNSET:
                self.hands[box.box] = self._hand(box.cards, f"boxes[{i}].cards")
        twice = repeated_card(self._seen)
        if twice is not None:
            detail = f"{twice} appears twice: one deck cannot deal it"
            self.problems.append(FieldProblem("cards", Code.CARD_REPEATED, detail))

    def _community(self, body: RoundResult, count: int) -> tuple[Card, ...]:
        if (body.community is not UNSET) != (count > 0):
            expected = f"expected {count} community cards" if count else "this game has no community cards"
            self.problems.append(FieldProblem("community", Code.CARDS_WRONG, f"community: {expected}"))
            return ()
        return self._cards(body.community or [], "community")

    def _hand(self, texts: list[str], path: str) -> Hand:
        first, second, third = self._cards(texts, path)
        return first, second, third

    def _cards(self, texts: list[str], path: str) -> tuple[Card, ...]:
        cards = []
        for i, text in enumerate(texts):
            try:
                cards.append(parse_card(text))
            except CardError as error:
                problem = FieldProblem(f"{path}[{i}]", Code.CARDS_WRONG, f"{path}[{i}]: {error}")
                raise Refused(problem.code, problem.detail, [problem]) from error
        self._seen += cards
        return tuple(cards)


def _refuse_void(rulings: list[Ruling]) -> None:
    for i, ruling in enumerate(rulings):
        if ruling.void:
            detail = f"incidents[{i}]: {ruling.rule}: {ruling.sentence}; send the void instead of a result"
            raise Refused(
                Code.ROUND_MUST_BE_VOIDED,
                detail,
                [FieldProblem(f"incidents[{i}]", Code.ROUND_MUST_BE_VOIDED, detail)],
            )


def _problems(table: Table, bets: Facts, body: RoundResult, out: dict[int, str]) -> Iterator[FieldProblem]:
    placed = {box.box: box for box in bets.boxes}
    reported = antes_reported(bets)
    seen: set[int] = set()
    for i, box in enumerate(body.boxes):
        path = f"boxes[{i}]"
        if box.box in seen:
            yield FieldProblem(f"{path}.box", Code.BOX_REPEATED, f"box {box.box} appears twice")
        seen.add(box.box)
        own = placed.get(box.box)
        if own is None:
            yield FieldProblem(
                f"{path}.box", Code.BOX_WITHOUT_BETS, f"box {box.box} has no bets in round {bets.round}"
            )
        elif box.box not in out:
            if table.game is Game.NTP:
                yield from _pictures_problems(path, box, own)
            else:
                has_ante = not reported or bool(own.ante_cents)
                yield from _poker_problems(path, box, has_ante=has_ante)
                yield from _deal_time_problems(path, box, bets)
    for number, own in placed.items():
        if number not in seen and number not in out and _is_dealt(own):
            yield FieldProblem("boxes", Code.RESULT_INCOMPLETE, f"box {number} has bets and no result")


def _poker_problems(path: str, box: ResultBox, *, has_ante: bool) -> Iterator[FieldProblem]:
    folded = box.decision is Decision.FOLD
    if has_ante and box.decision is UNSET and not box.walked_away:
        yield FieldProblem(
            f"{path}.decision", Code.DECISION_WRONG, f"box {box.box}: expected play or fold, it has an Ante"
        )
    if not has_ante and folded:
        yield FieldProblem(
            f"{path}.decision", Code.DECISION_WRONG, f"box {box.box} has no Ante and cannot fold (3.12)"
        )
    if box.play_cents and (not has_ante or box.decision is not Decision.PLAY):
        yield FieldProblem(
            f"{path}.play_cents",
            Code.DECISION_WRONG,
            f"box {box.box}: a Play Bet goes with the decision to play",
        )
    undecided = has_ante and (folded or (box.walked_away and box.decision is UNSET))
    if box.cards is UNSET and not undecided and box.shown:
        yield FieldProblem(
            f"{path}.cards", Code.CARDS_WRONG, f"box {box.box}: expected cards, or shown: false (4.5)"
        )
    if box.cards is not UNSET and not box.shown:
        yield FieldProblem(f"{path}.shown", Code.CARDS_WRONG, f"box {box.box}: has cards, so it was shown")


def _deal_time_problems(path: str, box: ResultBox, bets: Facts) -> Iterator[FieldProblem]:
    if box.dealt_at is not UNSET and not 0 <= to_micros(box.dealt_at) <= INSTANT_MAX:
        yield FieldProblem(f"{path}.dealt_at", Code.BODY_INVALID, "expected a time from 1970 to 9998")
    if box.box in bets.progressive_boxes and box.cards is not UNSET and box.dealt_at is UNSET:
        yield FieldProblem(
            f"{path}.dealt_at",
            Code.DEAL_TIME_MISSING,
            f"box {box.box} has a progressive bet: expected the moment of its third card (4.9.1, 4.7.2)",
        )


def _pictures_problems(path: str, box: ResultBox, own: BoxBets) -> Iterator[FieldProblem]:
    if box.decision is not UNSET or box.play_cents is not UNSET:
        yield FieldProblem(f"{path}.decision", Code.DECISION_WRONG, f"box {box.box}: NTP has no decisions")
    if (box.cards is not UNSET) != _is_dealt(own):
        expected = "expected cards" if _is_dealt(own) else "no Initial Bet, so no cards (3.12)"
        yield FieldProblem(f"{path}.cards", Code.CARDS_WRONG, f"box {box.box}: {expected}")


def _is_dealt(box: BoxBets) -> bool:
    """Whether a box takes part in the deal."""
    if box.bets is not UNSET:
        return any(bet.initial_cents for bet in box.bets)
    return True


def _poker_boxes(bets: Facts, body: RoundResult, cards: _Cards, out: dict[int, str]) -> list[PokerBox]:
    results = {box.box: box for box in body.boxes}
    return [
        poker_box(bets, box, results.get(box.box), cards.hands.get(box.box), out.get(box.box))
        for box in bets.boxes
    ]


def _pictures_boxes(bets: Facts, body: RoundResult, cards: _Cards, out: dict[int, str]) -> list[PicturesBox]:
    away = {box.box for box in body.boxes if box.walked_away}
    return [
        PicturesBox(
            box=box.box,
            bets=player_bets(box),
            cards=cards.hands.get(box.box),
            walked_away=box.box in away,
            invalidated_by=out.get(box.box),
        )
        for box in bets.boxes
    ]
