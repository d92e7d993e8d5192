"""A recorded round as the rules see it: boxes with their stakes, and rulings on what went wrong."""

from collections.abc import Iterator

from msgspec import UNSET

from controller.betting.messages import BoxBets, Facts, Returned
from controller.errors import Code, FieldProblem, Refused
from controller.games.cards import Hand
from controller.games.irregularities import FactMissing, Incident, NotForeseen, Ruling, boxes_named, judge
from controller.games.pictures import PlayerBet
from controller.games.poker import PokerBox
from controller.games.rule_sets import RuleSet
from controller.games.settlement import Line
from controller.games.vocabulary import Bet, Outcome
from controller.money import decimal_text
from controller.results.messages import ResultBox


def ruling_on(rules: RuleSet, incident: Incident, path: str, bets: Facts) -> Ruling:
    """What a paragraph makes of an incident; a refusal names what it asks for."""
    prefix = f"{path}." if path else ""
    known = {box.box for box in bets.boxes}
    for box in boxes_named(incident):
        if box not in known:
            problem = FieldProblem(
                f"{prefix}boxes", Code.BOX_WITHOUT_BETS, f"box {box} has no bets in this round"
            )
            raise Refused(problem.code, problem.detail, [problem])
    try:
        return judge(rules, incident)
    except FactMissing as missing:
        name = f"{prefix}{missing.field.partition(':')[0]}"
        problem = FieldProblem(name, Code.INCIDENT_INCOMPLETE, f"{prefix}{missing}")
    except NotForeseen as unknown:
        problem = FieldProblem(
            f"{prefix}what" if path else "reason", Code.INCIDENT_NOT_FORESEEN, str(unknown)
        )
    raise Refused(problem.code, problem.detail, [problem])


def antes_reported(bets: Facts) -> bool:
    """Whether the table reports Antes at all."""
    return any(box.ante_cents is not UNSET for box in bets.boxes)


def poker_box(
    bets: Facts, own: BoxBets, result: ResultBox | None, cards: Hand | None, invalidated: str | None
) -> PokerBox:
    """A box with its bets, decision and cards."""
    ante = (own.ante_cents or 0) if antes_reported(bets) else None
    decision = result.decision if result and result.decision is not UNSET else None
    return PokerBox(
        box=own.box,
        player=own.player or None,
        ante_cents=ante,
        pair_plus_cents=own.pair_plus_cents or 0,
        progressive_cents=(own.progressive_cents or 0) if own.box in bets.progressive_boxes else 0,
        play_cents=result.play_cents if result and result.play_cents is not UNSET else None,
        decision=decision,
        cards=cards,
        walked_away=bool(result and result.walked_away),
        invalidated_by=invalidated,
    )


def player_bets(box: BoxBets) -> list[PlayerBet]:
    """Every player's chips on a box of NTP."""
    return [
        PlayerBet(
            player=bet.player,
            seated=bet.seated,
            initial_cents=bet.initial_cents or 0,
            tie_cents=bet.tie_cents or 0,
            three_pictures_cents=bet.three_pictures_cents or 0,
        )
        for bet in box.bets or []
    ]


def stakes_of(
    bets: Facts, box: BoxBets, result: ResultBox | None
) -> Iterator[tuple[str | None, dict[Bet, int]]]:
    """Every chip on a box, by player."""
    if box.bets is not UNSET:
        yield from ((bet.player, bet.stakes) for bet in player_bets(box))
    else:
        own = poker_box(bets, box, result, None, None)
        yield own.player, own.stakes


def earlier_returned(returned: list[Returned]) -> Iterator[Line]:
    """Bets that went back when they were locked (5.4)."""
    for item in returned:
        yield Line(
            box=item.box,
            bet=Bet(item.bet),
            stake_cents=item.amount_cents,
            returned_cents=item.amount_cents,
            outcome=Outcome.RETURNED,
            rule=item.rule,
            sentence=f"Progressive {decimal_text(item.amount_cents)}: no Ante on this box: returned.",
        )
