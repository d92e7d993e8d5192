"""Posting journal entries: one transaction takes a batch into ledger, audit log and read tables.

Nothing here trusts the batch. A gap, a repeated number, a head that does not follow, postings that
do not sum to zero, or a meter whose ledger balance differs from what the store says: refused whole.
"""

from dataclasses import asdict, dataclass

import msgspec
from sqlalchemy import insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from controller.audit_chain import GENESIS, seal
from controller.errors import LedgerMismatch
from controller.ids import LinkId
from controller.jackpots.claims import Claim
from controller.journal.entry import GENESIS_HEAD, Entry, parse_amounts
from models.claims import claims_in, write_claims
from models.engine import Ledger
from models.ledger import Account, AuditEntry, JournalPosition, PostingRow, RoundEndRow, RoundRow
from models.operations import Alarm


@dataclass(frozen=True, slots=True)
class Position:
    """How far the ledger has come with a link."""

    seq: int
    epoch: int
    at: int
    head: str
    hash: str


ROUND_ENDS = ("result_recorded", "round_voided", "box_returned")
"""Kinds of entries that end a round, or one box of it."""

START = Position(seq=0, epoch=0, at=0, head=GENESIS_HEAD, hash=GENESIS)


def position_of(ledger: Ledger, link: LinkId) -> Position:
    """How far the ledger has come with a link."""
    with ledger.reading() as session:
        row = session.get(JournalPosition, link)
        return _position(row) if row else START


def _position(row: JournalPosition) -> Position:
    return Position(row.seq, row.epoch, row.at, row.head, row.hash)


def _lock_position(session: Session, link: LinkId) -> Position:
    """The position, held until commit. A link's first row is made here: nobody can lock what is not there."""
    make = (postgresql if session.get_bind().dialect.name == "postgresql" else sqlite).insert(JournalPosition)
    session.execute(make.values(link=link, **asdict(START)).on_conflict_do_nothing())
    row = session.scalars(select(JournalPosition).where(JournalPosition.link == link).with_for_update()).one()
    return _position(row)


def post_entries(ledger: Ledger, link: LinkId, entries: list[Entry]) -> Position:
    """Take the entries that the ledger does not have yet; where it stands afterwards.

    Safe to call with anything, in any order, from any number of workers: the position row is
    locked first, and what lies behind it is skipped.
    """
    with ledger.writing() as session:
        start = _lock_position(session, link)
        fresh = [entry for entry in entries if entry.seq > start.seq]
        if not fresh:
            return start
        batch = _Batch(session, link, start, fresh)
        for entry in fresh:
            batch.take(entry)
        return batch.write()


class _Batch:
    """The rows of a batch, checked entry by entry, written table by table."""

    def __init__(self, session: Session, link: LinkId, start: Position, entries: list[Entry]) -> None:
        self._session = session
        self._link = link
        self._now = start
        touched = {name for entry in entries for name, _ in parse_amounts(entry.postings)}
        touched |= {f"meter/{name}" for entry in entries for name, _ in parse_amounts(entry.after)}
        own = (Account.link == link) & Account.account.in_(touched)
        rows = session.execute(select(Account.account, Account.balance).where(own))
        self._known = dict(rows.all())
        self._balances = dict(self._known)
        self._audit: list[dict[str, object]] = []
        self._postings: list[dict[str, object]] = []
        self._rounds: list[dict[str, object]] = []
        self._ends: list[dict[str, object]] = []
        self._claims: list[tuple[Claim, Entry]] = []
        self._raised: list[dict[str, object]] = []
        self._acknowledged: list[Entry] = []

    def take(self, entry: Entry) -> None:
        """Check one entry against everything before it, and prepare its rows."""
        self._check_order(entry)
        sealed = seal(self._now.hash, self._link, entry.seq, entry.recorded_fields())
        self._audit.append(
            {
                "link": self._link,
                "seq": entry.seq,
                "epoch": entry.epoch,
                "at": entry.at,
                "kind": entry.kind,
                "round": entry.round,
                "facts": entry.facts,
                "postings": entry.postings,
                "after": entry.after,
                "head": entry.head,
                "hash": sealed,
            }
        )
        self._post(entry)
        self._read_model(entry)
        self._now = Position(entry.seq, entry.epoch, entry.at, entry.head, sealed)

    def _check_order(self, entry: Entry) -> None:
        before = self._now
        if entry.seq != before.seq + 1:
            raise LedgerMismatch(f"link {self._link}: expected entry {before.seq + 1}, got {entry.seq}")
        if entry.epoch < before.epoch or entry.at < before.at:
            raise LedgerMismatch(f"link {self._link}: entry {entry.seq} goes back in epoch or time")
        if entry.head != entry.expected_head(before.head):
            raise LedgerMismatch(f"link {self._link}: entry {entry.seq} does not follow entry {before.seq}")

    def _post(self, entry: Entry) -> None:
        for line, posting in enumerate(entry.balanced_postings()):
            balance = self._balances.get(posting.account, 0) + posting.amount
            self._balances[posting.account] = balance
            self._postings.append(
                {
                    "link": self._link,
                    "seq": entry.seq,
                    "line": line,
                    "account": posting.account,
                    "amount": posting.amount,
                    "balance": balance,
                }
            )
        for meter, value in parse_amounts(entry.after):
            if "/" in meter:
                continue  # what a sign showed, not a balance
            balance = self._balances.get(f"meter/{meter}", 0)
            if balance != value:
                raise LedgerMismatch(
                    f"link {self._link}: after entry {entry.seq} meter {meter} holds {value}, "
                    f"its postings sum to {balance}"
                )

    def _read_model(self, entry: Entry) -> None:
        self._claims += [(claim, entry) for claim in claims_in(entry)]
        if entry.kind in ("bets_recorded", "late_bets_recorded"):
            self._rounds.append(self._round_row(entry))
        elif entry.kind in ROUND_ENDS:
            box = entry.round.split("/")[2:]
            self._ends.append({**self._round_row(entry), "kind": "/".join([entry.kind, *box])})
        elif entry.kind == "alarm_raised":
            facts = msgspec.json.decode(entry.facts)
            self._raised.append(
                {
                    "link": self._link,
                    "seq": entry.seq,
                    "subject": facts["subject"],
                    "detail": facts["detail"],
                    "raised_at": entry.at,
                }
            )
        elif entry.kind == "alarm_acknowledged":
            self._acknowledged.append(entry)

    def _round_row(self, entry: Entry) -> dict[str, object]:
        table, number = entry.round.split("/")[:2]
        return {"table_id": table, "number": int(number), "link": self._link, "seq": entry.seq}

    def write(self) -> Position:
        """Everything, then the position: one commit makes it all true."""
        for model, rows in (
            (AuditEntry, self._audit),
            (PostingRow, self._postings),
            (RoundRow, self._rounds),
            (RoundEndRow, self._ends),
            (Alarm, self._raised),
        ):
            if rows:
                self._session.execute(insert(model), rows)
        if self._claims:
            write_claims(self._session, self._link, self._claims)
        for entry in self._acknowledged:
            self._acknowledge(entry)
        self._write_balances()
        self._write_position()
        return self._now

    def _acknowledge(self, entry: Entry) -> None:
        facts = msgspec.json.decode(entry.facts)
        self._session.execute(
            update(Alarm)
            .where(Alarm.link == self._link, Alarm.seq == facts["alarm"])
            .values(acknowledged_at=entry.at, acknowledged_by=facts["by"])
        )

    def _write_balances(self) -> None:
        changed = {a: b for a, b in self._balances.items() if self._known.get(a) != b}
        new = [
            {"link": self._link, "account": a, "balance": b}
            for a, b in changed.items()
            if a not in self._known
        ]
        old = [
            {"link": self._link, "account": a, "balance": b} for a, b in changed.items() if a in self._known
        ]
        if new:
            self._session.execute(insert(Account), new)
        if old:
            self._session.execute(update(Account), old)

    def _write_position(self) -> None:
        self._session.execute(
            update(JournalPosition).where(JournalPosition.link == self._link).values(**asdict(self._now))
        )
