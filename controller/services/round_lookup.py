"""A round as store and ledger tell it together: what anything that happens to it later is judged by."""

from dataclasses import dataclass
from typing import Protocol

import msgspec

from controller.betting.messages import Facts, read_facts
from controller.errors import Code, LedgerUnavailable, Refused
from controller.ids import LinkId
from controller.jackpots.claims import Claim
from controller.results.messages import ReturnFacts, read_return
from controller.results.reversal import NOTHING, Reversal, reversal_of
from controller.store.link_store import LinkStore, Record, RoundRecords

JOURNAL_CHUNK = 500
BETS_KINDS = ("bets_recorded", "late_bets_recorded")


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

    def returns(self, table: str, number: int) -> list[Record]:
        """A round's boxes whose bets went back."""

    def claims(self, table: str, number: int) -> list[Claim]:
        """A round's claims as the ledger last saw them."""

    def next_round(self, table: str, number: int) -> int | None:
        """The table's first round above this one."""

    def postings(self, link: LinkId, seq: int) -> str | None:
        """The postings of one journal entry."""


class SeenRound(msgspec.Struct, frozen=True):
    """A round with everything that has happened to it."""

    bets: Record
    facts: Facts
    result: Record | None
    void: Record | None
    returns: dict[int, Record]
    claimed: bool
    """Whether the store holds claims of it."""
    returns_seq: int | None
    """The last of the returns that the store itself holds."""
    highest: int
    ledgered_seq: int
    final: list[Claim]
    """Claims of a round that the store has let go of, as the ledger knows them."""

    @property
    def returned(self) -> dict[int, str]:
        """Boxes whose bets went back, with the paragraph."""
        return {box: read_return(record.facts).rule for box, record in self.returns.items()}

    @property
    def returned_bets(self) -> int:
        """How many progressive bets went back with their boxes."""
        return sum(box in self.returns for box in self.facts.progressive_boxes)


@dataclass(frozen=True, slots=True)
class RoundLookup:
    """Finds rounds."""

    store: LinkStore
    archive: Archive

    def look(self, link: LinkId, name: str, number: int) -> SeenRound:
        """The round's records, from the store while it holds the round, otherwise from both.

        The ledger's position is read before its rounds: what is let go of after that is not missed,
        because the script then says 'look_again'.
        """
        held = self.store.records(link, name, number)
        if held.bets is not None:
            return _seen(held.bets, held, held.returns, 0, [])
        position = self.archive.position(link)
        bets = self.archive.bets(name, number)
        if bets is None:
            raise Refused(Code.ROUND_UNKNOWN, f"round: table {name} has no recorded round {number}")
        held = self.store.records(link, name, number)
        returns = {r.seq: r for r in (*self.archive.returns(name, number), *held.returns)}
        whole = msgspec.structs.replace(
            held,
            result=held.result or self.archive.result(name, number),
            void=held.void or self.archive.void(name, number),
        )
        return _seen(bets, whole, list(returns.values()), position, self.archive.claims(name, number))

    def next_round(self, link: LinkId, table: str, number: int, seq: int) -> int:
        """The table's first round above this one: in the ledger, or in what it has not taken yet."""
        known = self.archive.next_round(table, number)
        while known is None:
            entries = self.store.journal_after(link, seq, JOURNAL_CHUNK)
            if not entries:
                known = self.archive.next_round(table, number)
                break
            owners = (e.round.rpartition("/") for e in entries if e.kind in BETS_KINDS)
            known = next((int(n) for owner, _, n in owners if owner == table), None)
            seq = entries[-1].seq
        if known is None:
            raise LedgerUnavailable(
                f"the round of table {table} after {number} is in neither store nor ledger"
            )
        return known

    def bets_closed_at(self, link: LinkId, table: str, number: int) -> str | None:
        """When a round's bets were closed, by the table's clock."""
        bets = self.store.records(link, table, number).bets or self.archive.bets(table, number)
        return read_facts(bets.facts).bets_closed_at if bets else None

    def reversal(self, link: LinkId, seen: SeenRound, meters: list[str], before: int, now: int) -> Reversal:
        """What it takes to undo `now` of a round's progressive bets, after `before` of them."""
        if now == 0:
            return NOTHING
        entry = self.store.entry(link, seen.bets.seq)
        postings = entry.postings if entry else self.archive.postings(link, seen.bets.seq)
        if postings is None:
            raise LedgerUnavailable(f"entry {seen.bets.seq} of link {link} is in neither store nor ledger")
        return reversal_of(postings, meters, len(seen.facts.progressive_boxes), before, now)


def _seen(
    bets: Record, held: RoundRecords, returns: list[Record], ledgered_seq: int, final: list[Claim]
) -> SeenRound:
    return SeenRound(
        bets=bets,
        facts=read_facts(bets.facts),
        result=held.result,
        void=held.void,
        returns={_returned(record).box: record for record in returns},
        claimed=held.claimed,
        returns_seq=max((record.seq for record in held.returns), default=None),
        highest=held.highest,
        ledgered_seq=ledgered_seq,
        final=final,
    )


def _returned(record: Record) -> ReturnFacts:
    return read_return(record.facts)
