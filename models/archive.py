"""Reading back what the ledger has: rounds for old retries, alarms, balances."""

from dataclasses import dataclass

from sqlalchemy import func, select

from controller.betting.locked_bets import body_identity
from controller.betting.messages import read_facts
from controller.ids import LinkId
from controller.jackpots.claims import Claim
from controller.journal.entry import parse_amounts
from controller.results.conclude import body_identity as end_identity
from controller.results.messages import read_result, read_return, read_void
from controller.store.link_store import Record
from models.claims import claims_of_round, find_claim
from models.engine import Ledger
from models.ledger import Account, AuditEntry, PostingRow, RoundEndRow, RoundRow
from models.operations import Alarm
from models.posting import position_of

ALARMS_MAX = 2_000


@dataclass(frozen=True, slots=True)
class AlarmView:
    """An alarm as people see it."""

    link: str
    seq: int
    subject: str
    detail: str
    raised_at: int
    acknowledged_at: int | None
    acknowledged_by: str | None


def recorded_round(ledger: Ledger, table: str, number: int) -> Record | None:
    """The recorded answer of a round that Redis has let go of."""
    query = (
        select(AuditEntry)
        .join(RoundRow, (RoundRow.link == AuditEntry.link) & (RoundRow.seq == AuditEntry.seq))
        .where(RoundRow.table_id == table, RoundRow.number == number)
    )
    with ledger.reading() as session:
        row = session.scalar(query)
        if row is None:
            return None
        facts = read_facts(row.facts)
        return _record(row, body_identity(table, number, facts.bets_closed_at, facts.boxes))


def _record(row: AuditEntry, body_hash: str) -> Record:
    return Record(
        body_hash=body_hash,
        epoch=row.epoch,
        seq=row.seq,
        at=row.at,
        head=row.head,
        after=parse_amounts(row.after),
        facts=row.facts,
    )


class ClaimHistory:
    """What the ledger tells about claims and meters in the past."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def claim(self, name: str) -> Claim | None:
        """A claim as the ledger last saw it."""
        found = find_claim(self._ledger, name)
        return found.claim if found else None

    def meter_before(self, link: LinkId, meter: str, instant: int) -> int | None:
        """A meter's balance after the last entry before an instant."""
        query = (
            select(PostingRow.balance)
            .join(AuditEntry, (AuditEntry.link == PostingRow.link) & (AuditEntry.seq == PostingRow.seq))
            .where(PostingRow.link == link, PostingRow.account == f"meter/{meter}", AuditEntry.at < instant)
            .order_by(PostingRow.seq.desc(), PostingRow.line.desc())
            .limit(1)
        )
        with self._ledger.reading() as session:
            return session.scalar(query)


class RoundArchive:
    """What the ledger knows of rounds, as the core asks for it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def position(self, link: LinkId) -> int:
        """How far the ledger has come with a link."""
        return position_of(self._ledger, link).seq

    def bets(self, table: str, number: int) -> Record | None:
        """The recorded bets of a round."""
        return recorded_round(self._ledger, table, number)

    def result(self, table: str, number: int) -> Record | None:
        """The recorded result of a round."""
        row = self._end(table, number, "result_recorded")
        if row is None:
            return None
        return _record(row, end_identity(table, number, read_result(row.facts).result))

    def void(self, table: str, number: int) -> Record | None:
        """The recorded void of a round."""
        row = self._end(table, number, "round_voided")
        if row is None:
            return None
        return _record(row, end_identity(table, number, read_void(row.facts).void))

    def returns(self, table: str, number: int) -> list[Record]:
        """The recorded returns of single boxes."""
        query = (
            select(AuditEntry)
            .join(RoundEndRow, (RoundEndRow.link == AuditEntry.link) & (RoundEndRow.seq == AuditEntry.seq))
            .where(
                RoundEndRow.table_id == table,
                RoundEndRow.number == number,
                RoundEndRow.kind.startswith("box_returned/", autoescape=True),
            )
        )
        with self._ledger.reading() as session:
            rows = list(session.scalars(query))
            session.expunge_all()
        return [_record(row, end_identity(table, number, read_return(row.facts).returned)) for row in rows]

    def claims(self, table: str, number: int) -> list[Claim]:
        """A round's claims as the ledger last saw them."""
        return [known.claim for known in claims_of_round(self._ledger, table, number)]

    def next_round(self, table: str, number: int) -> int | None:
        """The table's first recorded round above this one."""
        query = select(func.min(RoundRow.number)).where(RoundRow.table_id == table, RoundRow.number > number)
        with self._ledger.reading() as session:
            return session.scalar(query)

    def postings(self, link: LinkId, seq: int) -> str | None:
        """The postings of one journal entry."""
        query = select(AuditEntry.postings).where(AuditEntry.link == link, AuditEntry.seq == seq)
        with self._ledger.reading() as session:
            return session.scalar(query)

    def _end(self, table: str, number: int, kind: str) -> AuditEntry | None:
        query = (
            select(AuditEntry)
            .join(RoundEndRow, (RoundEndRow.link == AuditEntry.link) & (RoundEndRow.seq == AuditEntry.seq))
            .where(RoundEndRow.table_id == table, RoundEndRow.number == number, RoundEndRow.kind == kind)
        )
        with self._ledger.reading() as session:
            row = session.scalar(query)
            if row is not None:
                session.expunge(row)
            return row


def alarms(ledger: Ledger, *, open_only: bool) -> list[AlarmView]:
    """Alarms, newest first."""
    query = select(Alarm).order_by(Alarm.raised_at.desc()).limit(ALARMS_MAX)
    if open_only:
        query = query.where(Alarm.acknowledged_at.is_(None))
    with ledger.reading() as session:
        return [
            AlarmView(a.link, a.seq, a.subject, a.detail, a.raised_at, a.acknowledged_at, a.acknowledged_by)
            for a in session.scalars(query)
        ]


def alarm_subjects(ledger: Ledger, link: str, prefix: str) -> set[str]:
    """What alarms of a kind were ever about, acknowledged ones included."""
    query = select(Alarm.subject).where(Alarm.link == link, Alarm.subject.startswith(prefix, autoescape=True))
    with ledger.reading() as session:
        return set(session.scalars(query))


def open_alarm_subject(ledger: Ledger, link: str, seq: int) -> str | None:
    """What an open alarm is about, or None where there is none."""
    query = select(Alarm.subject).where(Alarm.link == link, Alarm.seq == seq, Alarm.acknowledged_at.is_(None))
    with ledger.reading() as session:
        return session.scalar(query)


def open_alarm_counts(ledger: Ledger) -> dict[str, int]:
    """How many alarms wait for a person, by link."""
    query = select(Alarm.link, func.count()).where(Alarm.acknowledged_at.is_(None)).group_by(Alarm.link)
    with ledger.reading() as session:
        return dict(session.execute(query).all())


def balances(ledger: Ledger, link: LinkId) -> dict[str, int]:
    """Every account of a link."""
    query = select(Account.account, Account.balance).where(Account.link == link)
    with ledger.reading() as session:
        return dict(session.execute(query).all())
