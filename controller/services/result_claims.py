"""From a recorded round to the hands that claims are made of."""

from msgspec import UNSET

from controller.betting.messages import Facts
from controller.clock import from_text, to_micros
from controller.floor.definition import Floor, Table
from controller.games.cards import parse_cards
from controller.games.ranking import progressive_five, progressive_three, rank_three
from controller.games.vocabulary import Decision
from controller.jackpots.book import Book
from controller.jackpots.cancelling import cancel_box
from controller.jackpots.registering import Alarming, Hand, register_result
from controller.results.messages import ResultFacts
from controller.services.round_lookup import SeenRound


def hands_of(seen: SeenRound) -> dict[int, Hand]:
    """Every box of a round, as claims need it."""
    bets: Facts = seen.facts
    reported = any(box.ante_cents is not UNSET for box in bets.boxes)
    return {
        box.box: Hand(
            table=bets.table,
            round=bets.round,
            box=box.box,
            player=box.player or None,
            has_bet=box.box in bets.progressive_boxes,
            has_ante=bool(box.ante_cents) if reported else True,
            stake_cents=box.progressive_cents or 0,
            bets_closed_at=from_text(bets.bets_closed_at),
            bets_recorded_at=seen.bets.at,
        )
        for box in bets.boxes
    }


def claims_of_result(
    book: Book, floor: Floor, table: Table, seen: SeenRound, facts: ResultFacts
) -> list[Alarming]:
    """Register what a result says about progressives; what a person must see."""
    pay_table = floor.pay_table_of(table)
    if pay_table is None:
        return []
    for box in facts.invalidated:
        cancel_box(book, table.id, facts.round, box, [], seen.final)
    dealt = {box.box: to_micros(box.dealt_at) for box in facts.result.boxes if box.dealt_at is not UNSET}
    lines = {line.hand: line for line in pay_table.lines}
    return register_result(
        book, hands_of(seen), facts.claims, facts.envy, lines, dealt, _shown(facts), seen.final
    )


def _shown(facts: ResultFacts) -> dict[int, str | None]:
    """The progressive hand of every box that showed its cards and did not fold."""
    community = parse_cards(facts.result.community or ())
    found = {}
    for box in facts.result.boxes:
        if box.cards is UNSET or box.decision is Decision.FOLD or box.walked_away:
            continue
        first, second, third = parse_cards(box.cards)
        if community:
            found[box.box] = progressive_five((first, second, third, community[0], community[1]))
        else:
            found[box.box] = progressive_three((first, second, third), rank_three((first, second, third)))
    return found
