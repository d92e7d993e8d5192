"""How rounds end: results, voids, and what is recorded of a round."""

from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

import msgspec

from controller.betting.messages import Ack, Facts, MeterReading, read_facts
from controller.clock import to_text
from controller.errors import Code, LedgerUnavailable, Refused
from controller.floor.definition import Table
from controller.ids import LinkId
from controller.money import displayed
from controller.results.conclude import (
    body_identity,
    conclude,
    conclude_void,
    refuse_after_next_round,
    voided_micros,
)
from controller.results.messages import (
    RecordedEnd,
    ResultAnswer,
    RoundAnswer,
    RoundResult,
    RoundVoid,
    VoidAnswer,
    read_result,
    read_void,
)
from controller.results.reversal import NOTHING, Reversal, reversal_of
from controller.services.floor_in_force import FloorInForce, KnownFloor
from controller.services.rounds import Nudge, answer_from
from controller.store.link_store import LinkStore, Record, RoundEnd, RoundRecords

Answer = TypeVar("Answer")

LOOKS = 5
"""How often a round may change under our eyes before we ask the table to try again."""

JOURNAL_CHUNK = 500


class Archive(Protocol):
    """What the ledger knows of rounds."""

    def position(self, link: LinkId) -> int:
        """How far it has come with a link."""

    def bets(self, table: str, number: int) -> Record | None:
        """A round's bets."""

    def result(self, table: str, number: int) -> Record | None:
        """A round's result."""

    def void(self, table: str, number: int) -> Record | None:
        """A round's void."""

    def next_round(self, table: str, number: int) -> int | None:
        """The table's first round above this one."""

    def postings(self, link: LinkId, seq: int) -> str | None:
        """The postings of one journal entry."""


class _Seen(msgspec.Struct, frozen=True):
    """A round as store and ledger tell it together."""

    bets: Record
    facts: Facts
    result: Record | None
    void: Record | None
    highest: int
    ledgered_seq: int


class RoundEnds:
    """The use cases of a round's end."""

    def __init__(self, floor: FloorInForce, store: LinkStore, archive: Archive, nudge: Nudge) -> None:
        self._floor = floor
        self._store = store
        self._archive = archive
        self._nudge = nudge

    def record_result(self, name: str, number: int, body: RoundResult) -> ResultAnswer:
        """Settle a round and record it; the same body again gets the recorded answer."""

        def attempt(known: KnownFloor) -> ResultAnswer | None:
            table = known.table(name)
            link = known.floor.link_of(table)
            seen = self._look(link, name, number)
            identity = body_identity(name, number, body)
            if seen.void is not None:
                raise _voided(name, number, seen)
            if seen.result is not None:
                return self._replayed_result(name, number, seen, seen.result, identity)
            facts = conclude(known.floor, table, seen.facts, body)
            end = RoundEnd(
                table=name,
                round=number,
                body_hash=identity,
                facts=msgspec.json.encode(facts).decode(),
                ledgered_seq=seen.ledgered_seq,
                reversal=self._reversal(known, table, seen, 0, len(facts.reversed_boxes)),
            )
            outcome, record = self._store.record_result(*known.address(link), end)
            self._nudge(link)
            return result_answer(record) if outcome == "recorded" and record is not None else None

        return self._looking_again(attempt)

    def void(self, name: str, number: int, body: RoundVoid) -> VoidAnswer:
        """Void a round and take its contributions back; the same body again gets the recorded answer."""

        def attempt(known: KnownFloor) -> VoidAnswer | None:
            table = known.table(name)
            link = known.floor.link_of(table)
            seen = self._look(link, name, number)
            identity = body_identity(name, number, body)
            if seen.void is not None:
                if seen.void.body_hash != identity:
                    raise _different(name, number, seen)
                return void_answer(seen.void)
            self._refuse_after_next(known, table, link, number, seen, body)
            result = read_result(seen.result.facts) if seen.result else None
            facts = conclude_void(known.floor, table, seen.facts, result, body)
            before = len(seen.facts.progressive_boxes) - len(facts.reversed_boxes)
            end = RoundEnd(
                table=name,
                round=number,
                body_hash=identity,
                facts=msgspec.json.encode(facts).decode(),
                ledgered_seq=seen.ledgered_seq,
                reversal=self._reversal(known, table, seen, before, len(facts.reversed_boxes)),
            )
            outcome, record = self._store.void_round(
                *known.address(link),
                end,
                highest=seen.highest,
                result_seq=seen.result.seq if seen.result else None,
            )
            self._nudge(link)
            return void_answer(record) if outcome == "recorded" and record is not None else None

        return self._looking_again(attempt)

    def find(self, name: str, number: int) -> RoundAnswer:
        """What is recorded of a round."""
        known = self._floor.known()
        seen = self._look(known.floor.link_of(known.table(name)), name, number)
        bets = answer_from(seen.bets, seen.facts)
        state: Literal["open", "closed", "voided"] = (
            "voided" if seen.void else "closed" if seen.result else "open"
        )
        return RoundAnswer(
            **{field: getattr(bets, field) for field in bets.__struct_fields__},
            state=state,
            result=result_answer(seen.result) if seen.result else None,
            void=void_answer(seen.void) if seen.void else None,
        )

    def _look(self, link: LinkId, name: str, number: int) -> _Seen:
        """The round's records, from the store while it holds the round, otherwise from both.

        The ledger's position is read before its rounds: what is let go of after that is not missed,
        because the script then says 'look_again'.
        """
        held = self._store.records(link, name, number)
        if held.bets is not None:
            return _seen(held.bets, held, 0)
        position = self._archive.position(link)
        bets = self._archive.bets(name, number)
        if bets is None:
            raise Refused(Code.ROUND_UNKNOWN, f"round: table {name} has no recorded round {number}")
        held = self._store.records(link, name, number)
        whole = RoundRecords(
            bets,
            held.result or self._archive.result(name, number),
            held.void or self._archive.void(name, number),
            held.highest,
        )
        return _seen(bets, whole, position)

    def _replayed_result(
        self, name: str, number: int, seen: _Seen, record: Record, identity: str
    ) -> ResultAnswer:
        if record.body_hash != identity:
            raise _different(name, number, seen)
        return result_answer(record)

    def _refuse_after_next(
        self, known: KnownFloor, table: Table, link: LinkId, number: int, seen: _Seen, body: RoundVoid
    ) -> None:
        if seen.highest <= number:
            return
        following = self._next_round(link, table.id, number, seen.bets.seq)
        bets = self._store.record(link, table.id, following) or self._archive.bets(table.id, following)
        if bets is not None:
            refuse_after_next_round(
                voided_micros(body),
                following,
                read_facts(bets.facts).bets_closed_at,
                known.floor.rules_of(table),
            )

    def _next_round(self, link: LinkId, table: str, number: int, seq: int) -> int:
        """The table's first round above this one: in the ledger, or in what it has not taken yet."""
        known = self._archive.next_round(table, number)
        while known is None:
            entries = self._store.journal_after(link, seq, JOURNAL_CHUNK)
            if not entries:
                known = self._archive.next_round(table, number)
                break
            owners = (e.round.rpartition("/") for e in entries if e.kind == "bets_recorded")
            known = next((int(n) for owner, _, n in owners if owner == table), None)
            seq = entries[-1].seq
        if known is None:
            raise LedgerUnavailable(
                f"the round of table {table} after {number} is in neither store nor ledger"
            )
        return known

    def _reversal(self, known: KnownFloor, table: Table, seen: _Seen, before: int, now: int) -> Reversal:
        if now == 0 or table.link is None:
            return NOTHING
        link = known.floor.links_by_id[table.link]
        entry = self._store.entry(LinkId(link.id), seen.bets.seq)
        postings = entry.postings if entry else self._archive.postings(LinkId(link.id), seen.bets.seq)
        if postings is None:
            raise LedgerUnavailable(f"entry {seen.bets.seq} of link {link.id} is in neither store nor ledger")
        bets = len(seen.facts.progressive_boxes)
        return reversal_of(postings, [meter.id for meter in link.meters], bets, before, now)

    def _looking_again(self, attempt: Callable[[KnownFloor], Answer | None]) -> Answer:
        """Look, decide, record; again if the round changed between the look and the record."""
        for _ in range(LOOKS):
            answer = self._floor.with_floor(attempt)
            if answer is not None:
                return answer
        raise Refused(Code.ROUND_CHANGING, "the round is changing; send the same request again")


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
        meters=[MeterReading(id=meter, displayed_cents=displayed(value)) for meter, value in record.after],
        ack=Ack(epoch=record.epoch, seq=record.seq, hash=record.head),
    )


def _seen(bets: Record, records: RoundRecords, ledgered_seq: int) -> _Seen:
    facts = read_facts(bets.facts)
    return _Seen(bets, facts, records.result, records.void, records.highest, ledgered_seq)


def _recorded(seen: _Seen) -> RecordedEnd:
    return RecordedEnd(
        bets=seen.facts,
        result=read_result(seen.result.facts).result if seen.result else None,
        void=read_void(seen.void.facts).void if seen.void else None,
    )


def _different(name: str, number: int, seen: _Seen) -> Refused:
    detail = f"round: the end of round {number} of table {name} is recorded with a different body"
    return Refused(Code.EXISTS_WITH_DIFFERENT_BODY, detail, recorded=_recorded(seen))


def _voided(name: str, number: int, seen: _Seen) -> Refused:
    detail = f"round: round {number} of table {name} is void and has no result"
    return Refused(Code.ROUND_VOIDED, detail, recorded=_recorded(seen))
