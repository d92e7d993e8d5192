"""How rounds end: results, voids, boxes whose bets go back, and what is recorded of a round."""

from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec

from controller.betting.messages import Ack
from controller.clock import to_text
from controller.errors import Code, Refused
from controller.floor.definition import Table
from controller.ids import LinkId
from controller.jackpots.book import Book
from controller.jackpots.cancelling import cancel_box, cancel_round
from controller.jackpots.change import Change
from controller.jackpots.claims import Claim
from controller.jackpots.registering import Alarming
from controller.results.bets_back import (
    conclude_return,
    conclude_void,
    refuse_after_next_round,
    voided_micros,
)
from controller.results.conclude import body_identity, conclude
from controller.results.messages import (
    BoxReturn,
    RecordedEnd,
    ResultAnswer,
    ResultFacts,
    ReturnAnswer,
    RoundAnswer,
    RoundResult,
    RoundVoid,
    VoidAnswer,
    read_result,
    read_return,
    read_void,
)
from controller.results.reversal import Reversal
from controller.services.alarms import raise_alarms
from controller.services.deciding import LOOKS
from controller.services.floor_in_force import FloorInForce, KnownFloor
from controller.services.result_claims import claims_of_result
from controller.services.round_lookup import RoundLookup, SeenRound
from controller.services.rounds import Nudge, answer_from, meter_readings
from controller.store.link_store import Record
from controller.store.win_store import RoundEnd, WinStore

Answer = TypeVar("Answer")


class RoundEnds:
    """The use cases of a round's end."""

    def __init__(self, floor: FloorInForce, lookup: RoundLookup, wins: WinStore, nudge: Nudge) -> None:
        self._floor = floor
        self._lookup = lookup
        self._wins = wins
        self._nudge = nudge

    def record_result(self, name: str, number: int, body: RoundResult) -> ResultAnswer:
        """Settle a round and record it; the same body again gets the recorded answer."""

        def attempt(known: KnownFloor) -> ResultAnswer | None:
            table, link, seen = self._see(known, name, number)
            identity = body_identity(name, number, body)
            if seen.void is not None:
                raise _voided(name, number, seen)
            if seen.result is not None:
                return self._replayed_result(name, number, seen, seen.result, identity)
            facts = conclude(known.floor, table, seen.facts, body, seen.returned)
            alarms: list[Alarming] = []
            book = None
            if table.link is not None and (facts.claims or facts.envy or seen.claimed):
                book = Book(self._wins.state(link), known.floor.policy_of(link))
                # Once more, after the version was read: nothing that it covers can be missed.
                seen = self._lookup.look(link, name, number)
                facts = conclude(known.floor, table, seen.facts, body, seen.returned)
                alarms = claims_of_result(book, known.floor, table, seen, facts)
                book.finish_claims()
                facts = msgspec.structs.replace(facts, documents=book.change.claims)
            change = book.change if book else Change()
            change.close_round(name, number)
            self._reverse(known, table, seen, change, seen.returned_bets, len(facts.reversed_boxes))
            raise_alarms(self._lookup.store, link, alarms)
            end = _end(name, number, identity, facts, seen, change, book)
            outcome, record = self._wins.record_result(
                known.address(link), end, returns_seq=seen.returns_seq, claimed=seen.claimed
            )
            self._nudge(link)
            return result_answer(record) if outcome == "recorded" and record is not None else None

        return self._looking_again(attempt)

    def void(self, name: str, number: int, body: RoundVoid) -> VoidAnswer:
        """Void a round and take its contributions back; the same body again gets the recorded answer."""

        def attempt(known: KnownFloor) -> VoidAnswer | None:
            book = self._book(known, name)
            table, link, seen = self._see(known, name, number)
            identity = body_identity(name, number, body)
            if seen.void is not None:
                if seen.void.body_hash != identity:
                    raise _different(name, number, seen)
                return void_answer(seen.void)
            self._refuse_after_next(known, table, link, number, seen, body)
            result = read_result(seen.result.facts) if seen.result else None
            facts = conclude_void(known.floor, table, seen.facts, result, body, seen.returned)
            cancel_round(book, name, number, body.authorised_by, _final(seen, result))
            book.finish_claims()
            facts = msgspec.structs.replace(facts, documents=book.change.claims)
            book.change.close_round(name, number)
            before = len(seen.facts.progressive_boxes) - len(facts.reversed_boxes)
            self._reverse(known, table, seen, book.change, before, len(facts.reversed_boxes))
            end = _end(name, number, identity, facts, seen, book.change, book)
            outcome, record = self._wins.void_round(
                known.address(link),
                end,
                highest=seen.highest,
                result_seq=seen.result.seq if seen.result else None,
            )
            self._nudge(link)
            return void_answer(record) if outcome == "recorded" and record is not None else None

        return self._looking_again(attempt)

    def return_box(self, name: str, number: int, box: int, body: BoxReturn) -> ReturnAnswer:
        """Give one box's bets back and take its contribution back; the same body again gets the answer."""

        def attempt(known: KnownFloor) -> ReturnAnswer | None:
            book = self._book(known, name)
            table, link, seen = self._see(known, name, number)
            identity = body_identity(name, number, body)
            if seen.void is not None:
                raise _voided(name, number, seen)
            earlier = seen.returns.get(box)
            if earlier is not None:
                if earlier.body_hash != identity:
                    raise _different(name, number, seen)
                return return_answer(earlier)
            result = read_result(seen.result.facts) if seen.result else None
            facts = conclude_return(known.floor, table, seen.facts, result, box, body)
            if result is not None and box in result.invalidated:
                raise Refused(
                    Code.RETURN_NOT_ALLOWED, f"box: the bets of box {box} went back with the result"
                )
            cancel_box(book, name, number, box, body.authorised_by, _final(seen, result))
            book.finish_claims()
            facts = msgspec.structs.replace(facts, documents=book.change.claims)
            now = int(box in seen.facts.progressive_boxes)
            before = seen.returned_bets + len(result.reversed_boxes if result else [])
            self._reverse(known, table, seen, book.change, before, now)
            end = _end(name, number, identity, facts, seen, book.change, book)
            result_seq = seen.result.seq if seen.result else None
            outcome, record = self._wins.return_box(known.address(link), end, box, result_seq=result_seq)
            self._nudge(link)
            return return_answer(record) if outcome == "recorded" and record is not None else None

        return self._looking_again(attempt)

    def find(self, name: str, number: int) -> RoundAnswer:
        """What is recorded of a round."""
        _, link, seen = self._see(self._floor.known(), name, number)
        result = read_result(seen.result.facts) if seen.result else None
        claims = {claim.id: claim for claim in _final(seen, result)}
        state = self._wins.state(link)
        claims |= {claim.id: claim for claim in state.of_round(name, number)}
        table = state.tables.get(name)
        is_open = table is not None and any(r.number == number for r in table.open_rounds)
        bets = answer_from(seen.bets, seen.facts)
        stands: Literal["open", "closed", "voided"] = (
            "voided" if seen.void else "open" if is_open and not seen.result else "closed"
        )
        return RoundAnswer(
            **{field: getattr(bets, field) for field in bets.__struct_fields__},
            state=stands,
            result=result_answer(seen.result) if seen.result else None,
            void=void_answer(seen.void) if seen.void else None,
            returned_boxes=[return_answer(record) for record in seen.returns.values()],
            claims=[claims[claim] for claim in sorted(claims)],
        )

    def _book(self, known: KnownFloor, name: str) -> Book:
        """The link as it is, read before the round: what happens to the round later moves the version."""
        link = known.floor.link_of(known.table(name))
        return Book(self._wins.state(link), known.floor.policy_of(link))

    def _see(self, known: KnownFloor, name: str, number: int) -> tuple[Table, LinkId, SeenRound]:
        table = known.table(name)
        link = known.floor.link_of(table)
        return table, link, self._lookup.look(link, name, number)

    def _replayed_result(
        self, name: str, number: int, seen: SeenRound, record: Record, identity: str
    ) -> ResultAnswer:
        if record.body_hash != identity:
            raise _different(name, number, seen)
        return result_answer(record)

    def _refuse_after_next(
        self, known: KnownFloor, table: Table, link: LinkId, number: int, seen: SeenRound, body: RoundVoid
    ) -> None:
        if seen.highest <= number:
            return
        following = self._lookup.next_round(link, table.id, number, seen.bets.seq)
        closed_at = self._lookup.bets_closed_at(link, table.id, following)
        if closed_at is not None:
            refuse_after_next_round(voided_micros(body), following, closed_at, known.floor.rules_of(table))

    def _reverse(
        self, known: KnownFloor, table: Table, seen: SeenRound, change: Change, before: int, now: int
    ) -> None:
        if table.link is None:
            return
        meters = [meter.id for meter in known.floor.links_by_id[table.link].meters]
        take_back(change, self._lookup.reversal(LinkId(table.link), seen, meters, before, now), seen.bets.seq)

    def _looking_again(self, attempt: Callable[[KnownFloor], Answer | None]) -> Answer:
        """Look, decide, record; again if the round changed between the look and the record."""
        for _ in range(LOOKS):
            answer = self._floor.with_floor(attempt)
            if answer is not None:
                return answer
        raise Refused(Code.ROUND_CHANGING, "the round is changing; send the same request again")


def _final(seen: SeenRound, result: ResultFacts | None) -> list[Claim]:
    """Claims that the store does not hold: fixed awards that were paid with the result, and the ledger's."""
    return [*(result.documents if result else []), *seen.final]


def take_back(change: Change, reversal: Reversal, seq: int) -> None:
    """A reversal as operations of a change."""
    change.post("bets", reversal.staked)
    change.post("house", -reversal.house)
    for part in reversal.meters:
        change.take_back(part.meter, part.owed, part.overflow, part.reserve, seq)


def _end(
    name: str,
    number: int,
    identity: str,
    facts: msgspec.Struct,
    seen: SeenRound,
    change: Change,
    book: Book | None,
) -> RoundEnd:
    return RoundEnd(
        table=name,
        round=number,
        body_hash=identity,
        facts=msgspec.json.encode(facts).decode(),
        ledgered_seq=seen.ledgered_seq,
        words=change.words(),
        version=book.state.version if book else None,
    )


def result_answer(record: Record) -> ResultAnswer:
    """The answer that a recorded result stands for."""
    facts = read_result(record.facts)
    return ResultAnswer(
        table=facts.table,
        round=facts.round,
        recorded_at=to_text(record.at),
        settlement=facts.settlement,
        claims=facts.claims,
        envy=facts.envy,
        remarks=facts.remarks,
        registered=facts.documents,
        ack=Ack(epoch=record.epoch, seq=record.seq, hash=record.head),
    )


def void_answer(record: Record) -> VoidAnswer:
    """The answer that a recorded void stands for."""
    facts = read_void(record.facts)
    return VoidAnswer(
        table=facts.table,
        round=facts.round,
        recorded_at=to_text(record.at),
        voided_at=to_text(voided_micros(facts.void)),
        rule=facts.rule,
        sentence=facts.sentence,
        settlement=facts.settlement,
        meters=meter_readings(record),
        ack=Ack(epoch=record.epoch, seq=record.seq, hash=record.head),
    )


def return_answer(record: Record) -> ReturnAnswer:
    """The answer that a recorded return stands for."""
    facts = read_return(record.facts)
    return ReturnAnswer(
        table=facts.table,
        round=facts.round,
        box=facts.box,
        recorded_at=to_text(record.at),
        rule=facts.rule,
        sentence=facts.sentence,
        settlement=facts.settlement,
        ack=Ack(epoch=record.epoch, seq=record.seq, hash=record.head),
    )


def _recorded(seen: SeenRound) -> RecordedEnd:
    return RecordedEnd(
        bets=seen.facts,
        result=read_result(seen.result.facts).result if seen.result else None,
        void=read_void(seen.void.facts).void if seen.void else None,
    )


def _different(name: str, number: int, seen: SeenRound) -> Refused:
    detail = f"round: the end of round {number} of table {name} is recorded with a different body"
    return Refused(Code.EXISTS_WITH_DIFFERENT_BODY, detail, recorded=_recorded(seen))


def _voided(name: str, number: int, seen: SeenRound) -> Refused:
    detail = f"round: round {number} of table {name} is void and has no result"
    return Refused(Code.ROUND_VOIDED, detail, recorded=_recorded(seen))
