"""A table's rounds: opening, locked bets, and what was recorded."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from controller.betting.locked_bets import LockedRound, lock_bets
from controller.betting.messages import Ack, BetsAnswer, Facts, MeterReading, Recorded, RoundBets, read_facts
from controller.clock import to_text
from controller.errors import Code, Refused
from controller.ids import LinkId
from controller.money import displayed
from controller.services.floor_in_force import FloorInForce, KnownFloor
from controller.store.group_commit import GroupCommit
from controller.store.link_store import LinkStore, Record, RoundOutcome

Archive = Callable[[str, int], Record | None]
"""Finds a recorded round in the ledger, for retries of rounds that Redis has let go of."""


_NOT_TAKEN = {
    "table_was_offline": (
        Code.TABLE_WAS_OFFLINE,
        "its bets were closed while the table had no contact; no progressive bet is taken for it (5.17.2c)",
    ),
    "table_suspended": (Code.TABLE_SUSPENDED, "the House has closed the table (5.17.2a)"),
    "box_suspended": (Code.BOX_SUSPENDED, "the House takes no bets on one of its boxes (5.17.2b)"),
    "progressive_suspended": (Code.PROGRESSIVE_SUSPENDED, "no progressive bets are being taken (5.17.2c)"),
}


class Nudge(Protocol):
    """Asks for a link's journal to be drained soon. A hint: losing it loses nothing."""

    def __call__(self, link: LinkId) -> None:
        """Ask."""


class Rounds:
    """The use cases of a table's rounds."""

    def __init__(self, floor: FloorInForce, store: LinkStore, archive: Archive, nudge: Nudge) -> None:
        self._floor = floor
        self._store = store
        self._commits = GroupCommit(store)
        self._archive = archive
        self._nudge = nudge

    def open_table(self, name: str) -> tuple[int, Ack]:
        """Journal that a table is here: the number of its next round."""

        def attempt(known: KnownFloor) -> tuple[int, Ack]:
            link = known.floor.link_of(known.table(name))
            facts = msgspec.json.encode({"table": name}).decode()
            next_round, seq, epoch, head = self._store.open_table(
                *known.address(link), name, facts, known.floor.policy_of(link).grace
            )
            self._nudge(link)
            return int(next_round), Ack(epoch=int(epoch), seq=int(seq), hash=head)

        return self._floor.with_floor(attempt)

    def record_bets(self, name: str, number: int, body: RoundBets) -> tuple[bool, BetsAnswer]:
        """Record one round's bets; whether they are new, and the recorded answer."""
        result = self.record_many(name, [(number, body)])[0]
        if isinstance(result, Refused):
            raise result
        return result

    def record_many(
        self, name: str, rounds: list[tuple[int, RoundBets]]
    ) -> list[tuple[bool, BetsAnswer] | Refused]:
        """Record rounds in order; stops at the first refusal, and says so for the rest."""

        def attempt(known: KnownFloor) -> list[tuple[bool, BetsAnswer] | Refused]:
            table = known.table(name)
            locked: list[LockedRound] = []
            refusal: Refused | None = None
            for number, body in rounds:
                try:
                    locked.append(lock_bets(known.floor, table, number, body))
                except Refused as error:
                    refusal = error
                    break
            results = self._record_locked(known, known.floor.link_of(table), locked) if locked else []
            if refusal is not None:
                stopped = any(isinstance(result, Refused) for result in results)
                results.append(_not_attempted() if stopped else refusal)
            results += [_not_attempted() for _ in rounds[len(results) :]]
            return results

        return self._floor.with_floor(attempt)

    def _record_locked(
        self, known: KnownFloor, link: LinkId, locked: list[LockedRound]
    ) -> list[tuple[bool, BetsAnswer] | Refused]:
        outcomes = self._commits.submit(*known.address(link), locked, known.floor.policy_of(link))
        self._nudge(link)
        results: list[tuple[bool, BetsAnswer] | Refused] = []
        for item, outcome in zip(locked, outcomes, strict=True):
            if outcome.outcome == "round_number_passed":
                results += self._from_ledger(link, locked[len(results) :], outcome)
                rest = locked[len(results) :]
                return results + (self._record_locked(known, link, rest) if rest else [])
            results.append(self._result(link, item, outcome))
        return results

    def _from_ledger(
        self, link: LinkId, items: list[LockedRound], outcome: RoundOutcome
    ) -> list[tuple[bool, BetsAnswer] | Refused]:
        """Rounds that the script did not know any more: answered from the ledger, as far as it does.

        The script stopped at the first of them; what lies above the table's highest round is left for
        another call.
        """
        results: list[tuple[bool, BetsAnswer] | Refused] = []
        for item in items:
            if item.round > (outcome.highest or 0):
                break
            result = self._result(link, item, outcome)
            results.append(result)
            if isinstance(result, Refused):
                return results + [_not_attempted() for _ in items[len(results) :]]
        return results

    def _result(
        self, link: LinkId, item: LockedRound, outcome: RoundOutcome
    ) -> tuple[bool, BetsAnswer] | Refused:
        refused = _plain_refusal(link, item, outcome)
        if refused is not None:
            return refused
        record = outcome.record
        if outcome.outcome == "round_number_passed":
            record = self._archive(item.table, item.round)
        if record is None:
            return self._refuse_passed(link, item, outcome.highest or 0)
        if record.body_hash != item.body_hash:
            return Refused(
                Code.EXISTS_WITH_DIFFERENT_BODY,
                f"round: table {item.table} recorded round {item.round} with a different body",
                recorded=Recorded(answer=answer_from(record), bets=read_facts(record.facts)),
            )
        if outcome.outcome == "recorded":
            return True, answer_from(record, item.facts)
        return False, answer_from(record)

    def _refuse_passed(self, link: LinkId, item: LockedRound, highest: int) -> Refused:
        detail = (
            f"round: table {item.table} is at round {highest}, round {item.round} was never recorded "
            "and cannot be any more"
        )
        subject = f"round_number_passed/{item.table}"
        facts = msgspec.json.encode({"subject": subject, "detail": detail}).decode()
        self._store.raise_alarm(link, subject, facts)
        self._nudge(link)
        return Refused(Code.ROUND_NUMBER_PASSED, detail)


def answer_from(record: Record, facts: Facts | None = None) -> BetsAnswer:
    """The answer that a record stands for: the same for the first request and for every retry.

    `facts` spares reading them back where they were written a moment ago.
    """
    facts = facts or read_facts(record.facts)
    return BetsAnswer(
        table=facts.table,
        round=facts.round,
        recorded_at=to_text(record.at),
        progressive_bets=len(facts.progressive_boxes),
        meters=meter_readings(record),
        returned=facts.returned,
        ack=Ack(epoch=record.epoch, seq=record.seq, hash=record.head),
    )


def meter_readings(record: Record) -> list[MeterReading]:
    """The meters as a sign shows them: while a win waits, not the balance but the frozen value."""
    shown = {meter[6:]: value for meter, value in record.after if meter.startswith("shown/")}
    return [
        MeterReading(id=meter, displayed_cents=displayed(shown.get(meter, value) if shown else value))
        for meter, value in record.after
        if "/" not in meter
    ]


def _plain_refusal(link: LinkId, item: LockedRound, outcome: RoundOutcome) -> Refused | None:
    """A refusal that the outcome alone decides."""
    if outcome.outcome == "not_attempted":
        return _not_attempted()
    if outcome.outcome == "meter_limit_reached":
        return Refused(Code.METER_LIMIT_REACHED, f"link {link}: a meter would pass what 64 bits hold")
    if outcome.outcome == "round_number_too_far":
        return Refused(
            Code.ROUND_NUMBER_TOO_FAR,
            f"round: table {item.table} is at round {outcome.highest}, {item.round} is too far ahead",
        )
    if outcome.outcome in _NOT_TAKEN:
        code, why = _NOT_TAKEN[outcome.outcome]
        return Refused(code, f"table {item.table}, round {item.round}: {why}")
    return None


def _not_attempted() -> Refused:
    return Refused(Code.NOT_ATTEMPTED, "an earlier event of this request was refused")
