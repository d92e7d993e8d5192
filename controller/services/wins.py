"""Wins as tables report them."""

from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from controller.clock import to_micros
from controller.errors import Code, FieldProblem, Refused
from controller.floor.definition import Floor, Table
from controller.games.cards import CardError, parse_cards, repeated_card
from controller.games.cards import Hand as Cards
from controller.games.pay_tables import PayLine
from controller.games.ranking import progressive_five, progressive_three, rank_three
from controller.games.vocabulary import Point
from controller.ids import LinkId
from controller.jackpots.book import Book, Decided
from controller.jackpots.claims import Claim, Doubt, Kind, Status
from controller.jackpots.policy import Policy
from controller.jackpots.registering import Alarming, new_claim, register, register_folds
from controller.jackpots.state import LinkState
from controller.results.messages import read_result
from controller.services.alarms import raise_alarms
from controller.services.deciding import Deciding, bounded
from controller.services.result_claims import hands_of
from controller.services.round_lookup import RoundLookup, SeenRound
from controller.store.win_store import Done
from controller.wins.messages import Folded, RoundWin


@dataclass(frozen=True, slots=True)
class Registered:
    """A claim, whether it is new, and the entry that the ledger must have reached."""

    link: LinkId
    claim: Claim
    seq: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Wins:
    """Takes claims in."""

    deciding: Deciding
    lookup: RoundLookup

    def claim(self, name: str, number: int, body: RoundWin) -> Registered:
        """Register a hand that a progressive would pay; the same again gets the claim as it stands."""
        known = self.deciding.floor.known()
        table = known.table(name)
        link = known.floor.link_of(table)
        line = _line(known.floor, table, body)
        bounded(body.dealt_at, "dealt_at")
        made: list[Claim] = []

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            seen = self.lookup.look(link, name, number)
            existing = _existing(state, seen, body, line)
            if existing is not None:
                self._refuse_other(link, seen, existing, line, to_micros(body.dealt_at))
                made[:] = [existing]
                return None
            book = Book(state, policy)
            claim = _claim(book, seen, body, line)
            if Doubt.CONTRADICTED in claim.doubts:
                detail = f"claim {claim.id} says {claim.hand}, but the result shows no such hand"
                raise_alarms(self.deciding.store, link, [Alarming(f"contradiction/{claim.id}", detail)])
            register(book, claim)
            decided = book.finish("claim_registered", by=[name], reason="", detail={"win": _sent(body)})
            made[:] = [book.claims[claim.id]]
            result_seq = seen.result.seq if seen.result else None
            return msgspec.structs.replace(decided, round=f"{name}/{number}", result_seq=result_seq)

        done = self.deciding.decide(link, decide)
        # A claim that was there before is in the ledger when the last decision about wins is.
        seq = done.seq if done else self.deciding.wins.state(link).version
        return Registered(link, made[0], seq, is_new=done is not None)

    def _refuse_other(
        self, link: LinkId, seen: SeenRound, existing: Claim, line: PayLine, dealt_at: int
    ) -> None:
        """A claim that stands with another hand or deal time; one that a result bears out alarms people."""
        if (existing.hand, existing.dealt_at) == (line.hand, dealt_at):
            return
        if seen.result is not None:
            other = existing.hand != line.hand
            subject = f"{'contradiction' if other else 'deal_time_differs'}/{existing.id}"
            what = f"says {line.hand}, the result {existing.hand}" if other else "has another deal time"
            alarm = Alarming(subject, f"a claim for box {existing.box} after the result {what}")
            raise_alarms(self.deciding.store, link, [alarm])
        detail = f"box: claim {existing.id} is registered with another hand or deal time"
        raise Refused(Code.EXISTS_WITH_DIFFERENT_BODY, detail, recorded=existing)

    def list_folds(self, name: str, number: int, body: Folded) -> tuple[LinkId, Done | None]:
        """A supervisor's list of who folded stands in for the result: envy bonuses need no more."""
        known = self.deciding.floor.known()
        table = known.table(name)
        link, rules, pay_table = (
            known.floor.link_of(table),
            known.floor.rules_of(table),
            known.floor.pay_table_of(table),
        )

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            seen = self.lookup.look(link, name, number)
            if seen.void is not None or seen.result is not None:
                raise Refused(
                    Code.ROUND_VOIDED if seen.void else Code.CLAIM_STATE_WRONG, "round: it has ended"
                )
            if pay_table is None or not rules.knows(Point.ENVY):
                return None
            book = Book(state, policy)
            hands = {box: hand for box, hand in hands_of(seen).items() if box not in seen.returns}
            lines = {line.hand: line for line in pay_table.lines}
            register_folds(book, hands, lines, frozenset(body.boxes), rules.rule(Point.ENVY), seen.final)
            if not book.change.claims:
                return None
            detail: dict[str, object] = {"table": name, "round": number, "folded": body.boxes}
            return book.finish("folds_listed", by=[body.by], reason="", detail=detail)

        return link, self.deciding.decide(link, decide)


def _existing(state: LinkState, seen: SeenRound, body: RoundWin, line: PayLine) -> Claim | None:
    """The claim that stands for this hand, wherever it is known; the same one if it was made before.

    A miscall that was rejected does not stand in the way of what the hand really is.
    """
    known = _of_box(state, seen, body.box)
    same = [c for c in known if (c.hand, c.dealt_at) == (line.hand, to_micros(body.dealt_at))]
    if same:
        return same[-1]
    return next((c for c in known if c.status is not Status.REJECTED), None)


def _of_box(state: LinkState, seen: SeenRound, box: int) -> list[Claim]:
    """Every claim of a box's hand, oldest first."""
    with_result = read_result(seen.result.facts).documents if seen.result else []
    held = state.of_round(seen.facts.table, seen.facts.round)
    known = {claim.id: claim for claim in (*with_result, *seen.final, *held)}
    own = [claim for claim in known.values() if claim.box == box and claim.kind is not Kind.ENVY]
    return sorted(own, key=lambda claim: (len(claim.id), claim.id))


def _sent(body: RoundWin) -> object:
    return msgspec.to_builtins(body)


def _claim(book: Book, seen: SeenRound, body: RoundWin, line: PayLine) -> Claim:
    if seen.void is not None:
        raise Refused(Code.ROUND_VOIDED, f"round: round {seen.facts.round} is void")
    hand = hands_of(seen).get(body.box)
    if hand is None or body.box in seen.returns:
        detail = f"box: box {body.box} has no bets in round {seen.facts.round}"
        raise Refused(Code.BOX_WITHOUT_BETS, detail, [FieldProblem("box", Code.BOX_WITHOUT_BETS, detail)])
    claim = new_claim(book, hand, line, to_micros(body.dealt_at))
    earlier = _of_box(book.state, seen, body.box)
    if earlier:
        claim = msgspec.structs.replace(claim, id=f"{claim.id}.{len(earlier) + 1}")
    if seen.result is not None:
        # The result is here and brought no such claim: what it showed says otherwise.
        found = read_result(seen.result.facts)
        if not any(item.box == body.box and item.hand == line.hand for item in found.claims):
            claim = msgspec.structs.replace(claim, doubts=[*claim.doubts, Doubt.CONTRADICTED])
    return claim


def _line(floor: Floor, table: Table, body: RoundWin) -> PayLine:
    """The line of the pay table that the hand is: by its cards, or by its name where no cards were sent."""
    pay_table = floor.pay_table_of(table)
    if pay_table is None:
        raise Refused(Code.PROGRESSIVE_NOT_OFFERED, f"table: table {table.id} is on no link")
    if (body.cards is UNSET) == (body.hand is UNSET):
        raise _wrong("cards", Code.CARDS_WRONG, "expected the cards, or the name of the hand")
    named = body.hand if body.hand is not UNSET else _ranked(floor, table, body)
    line = pay_table.line_of(named)
    if line is None:
        paying = ", ".join(item.hand for item in pay_table.lines)
        field = "hand" if body.cards is UNSET else "cards"
        raise _wrong(field, Code.HAND_PAYS_NOTHING, f"expected a hand that {pay_table.id} pays: {paying}")
    return line


def _ranked(floor: Floor, table: Table, body: RoundWin) -> str | None:
    poker = floor.rules_of(table).poker_rules
    try:
        first, second, third = parse_cards(body.cards or ())
        community = parse_cards(body.community or ())
    except CardError as error:
        raise _wrong("cards", Code.CARDS_WRONG, str(error)) from error
    if len(community) != poker.community_cards:
        raise _wrong("community", Code.CARDS_WRONG, f"expected {poker.community_cards} community cards")
    twice = repeated_card((first, second, third, *community))
    if twice is not None:
        raise _wrong("cards", Code.CARD_REPEATED, f"{twice} appears twice: one deck cannot deal it")
    own: Cards = (first, second, third)
    if community:
        return progressive_five((*own, community[0], community[1]))
    return progressive_three(own, rank_three(own))


def _wrong(field: str, code: Code, detail: str) -> Refused:
    return Refused(code, f"{field}: {detail}", [FieldProblem(field, code, detail)])
