"""Walking a link's audit log from the first entry: gaps, hash chain, postings, balances."""

from collections.abc import Iterator

from sqlalchemy import select

from controller.audit_chain import GENESIS, seal
from controller.errors import LedgerMismatch
from controller.ids import LinkId
from controller.journal.entry import Entry
from models.archive import balances
from models.engine import Ledger
from models.ledger import AuditEntry, PostingRow
from models.posting import position_of

CHUNK = 2_000


def check_link(ledger: Ledger, link: LinkId) -> int:
    """Walk a link's audit log from the first entry: gaps, chain, postings, balances. How many entries.

    Raises `LedgerMismatch` with the first sequence number that does not hold.
    """
    seal_before, head_before, expected = GENESIS, "", 1
    totals: dict[str, int] = {}
    for row, lines in _entries_with_postings(ledger, link):
        entry = Entry(
            link,
            row.seq,
            row.epoch,
            row.at,
            row.kind,
            row.round,
            row.facts,
            row.postings,
            row.after,
            row.head,
        )
        if row.seq != expected:
            raise LedgerMismatch(f"link {link}: expected entry {expected}, found {row.seq}")
        if row.head != entry.expected_head(head_before):
            raise LedgerMismatch(f"link {link}: the journal head breaks at entry {row.seq}")
        if row.hash != seal(seal_before, link, row.seq, entry.recorded_fields()):
            raise LedgerMismatch(f"link {link}: the audit chain breaks at entry {row.seq}")
        _check_postings(entry, lines, totals)
        seal_before, head_before, expected = row.hash, row.head, expected + 1
    position = position_of(ledger, link)
    if (position.seq, position.hash) != (expected - 1, seal_before):
        raise LedgerMismatch(
            f"link {link}: the log ends at {expected - 1}, the ledger had reached {position.seq}"
        )
    if {a: b for a, b in totals.items() if b} != {a: b for a, b in balances(ledger, link).items() if b}:
        raise LedgerMismatch(f"link {link}: account balances differ from the sum of their postings")
    return expected - 1


def _check_postings(entry: Entry, lines: list[PostingRow], totals: dict[str, int]) -> None:
    stated = [(posting.account, posting.amount) for posting in entry.balanced_postings()]
    if [(line.account, line.amount) for line in lines] != stated:
        raise LedgerMismatch(f"link {entry.link}: postings of entry {entry.seq} differ from its journal")
    for line in lines:
        totals[line.account] = totals.get(line.account, 0) + line.amount
        if line.balance != totals[line.account]:
            raise LedgerMismatch(f"link {entry.link}: balance after entry {entry.seq} is wrong")


def _entries_with_postings(ledger: Ledger, link: LinkId) -> Iterator[tuple[AuditEntry, list[PostingRow]]]:
    after = 0
    while True:
        with ledger.reading() as session:
            rows = list(
                session.scalars(
                    select(AuditEntry)
                    .where(AuditEntry.link == link, AuditEntry.seq > after)
                    .order_by(AuditEntry.seq)
                    .limit(CHUNK)
                )
            )
            if not rows:
                return
            postings = session.scalars(
                select(PostingRow)
                .where(PostingRow.link == link, PostingRow.seq.between(rows[0].seq, rows[-1].seq))
                .order_by(PostingRow.seq, PostingRow.line)
            )
            lines: dict[int, list[PostingRow]] = {}
            for posting in postings:
                lines.setdefault(posting.seq, []).append(posting)
            session.expunge_all()
        for row in rows:
            yield row, lines.get(row.seq, [])
        after = rows[-1].seq
