"""The ledger: double entries of every journal entry, and the running balance of each account.

Amounts are micro-cents in 64-bit integers. Rows are only ever inserted; `accounts` is the one
exception, a running total that any reader can rebuild from `postings`.
"""

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from models.base import AccountName, Base, Hash, Id, Json, MicroCents, Micros, Sequence


class AuditEntry(Base):
    """One journal entry, word for word, sealed to all before it."""

    __tablename__ = "audit_entries"

    link: Mapped[str] = mapped_column(Id, primary_key=True)
    seq: Mapped[int] = mapped_column(Sequence, primary_key=True, autoincrement=False)
    epoch: Mapped[int]
    at: Mapped[int] = mapped_column(Micros, index=True)
    kind: Mapped[str] = mapped_column(Id)
    round: Mapped[str] = mapped_column(Id)
    facts: Mapped[str] = mapped_column(Json)
    postings: Mapped[str] = mapped_column(Json)
    after: Mapped[str] = mapped_column(Json)
    head: Mapped[str] = mapped_column(Hash)
    hash: Mapped[str] = mapped_column(Hash)


class PostingRow(Base):
    """One side of a double entry, with the account's balance after it."""

    __tablename__ = "postings"
    __table_args__ = (ForeignKeyConstraint(["link", "seq"], ["audit_entries.link", "audit_entries.seq"]),)

    link: Mapped[str] = mapped_column(Id, primary_key=True)
    seq: Mapped[int] = mapped_column(Sequence, primary_key=True, autoincrement=False)
    line: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account: Mapped[str] = mapped_column(AccountName)
    amount: Mapped[int] = mapped_column(MicroCents)
    balance: Mapped[int] = mapped_column(MicroCents)


class Account(Base):
    """The balance of an account after the link's last ledgered entry."""

    __tablename__ = "accounts"

    link: Mapped[str] = mapped_column(Id, primary_key=True)
    account: Mapped[str] = mapped_column(AccountName, primary_key=True)
    balance: Mapped[int] = mapped_column(MicroCents)


class JournalPosition(Base):
    """How far the ledger has come with a link: the row that makes draining exactly-once."""

    __tablename__ = "journal_positions"

    link: Mapped[str] = mapped_column(Id, primary_key=True)
    seq: Mapped[int] = mapped_column(Sequence)
    epoch: Mapped[int]
    at: Mapped[int] = mapped_column(Micros)
    head: Mapped[str] = mapped_column(Hash)
    hash: Mapped[str] = mapped_column(Hash)


class RoundRow(Base):
    """A recorded round: answers retries that Redis has let go of."""

    __tablename__ = "rounds"

    table_id: Mapped[str] = mapped_column(Id, primary_key=True)
    number: Mapped[int] = mapped_column(Sequence, primary_key=True, autoincrement=False)
    link: Mapped[str] = mapped_column(Id)
    seq: Mapped[int] = mapped_column(Sequence)


class ClaimRow(Base):
    """A claim, trigger or envy award as the ledger last saw it; `document` has it whole."""

    __tablename__ = "claims"
    __table_args__ = (
        Index("ix_claims_round", "table_id", "number"),
        Index("ix_claims_status", "status", "updated_at"),
    )

    id: Mapped[str] = mapped_column(AccountName, primary_key=True)
    link: Mapped[str] = mapped_column(Id)
    kind: Mapped[str] = mapped_column(Id)
    status: Mapped[str] = mapped_column(Id)
    table_id: Mapped[str] = mapped_column(Id)
    number: Mapped[int] = mapped_column(Sequence)
    meter: Mapped[str | None] = mapped_column(Id)
    registered_seq: Mapped[int] = mapped_column(Sequence)
    registered_at: Mapped[int] = mapped_column(Micros)
    updated_seq: Mapped[int] = mapped_column(Sequence)
    updated_at: Mapped[int] = mapped_column(Micros)
    document: Mapped[str] = mapped_column(Json)


class RoundEndRow(Base):
    """How a round ended: the entry of its result, and of its void."""

    __tablename__ = "round_ends"

    table_id: Mapped[str] = mapped_column(Id, primary_key=True)
    number: Mapped[int] = mapped_column(Sequence, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(Id, primary_key=True)
    link: Mapped[str] = mapped_column(Id)
    seq: Mapped[int] = mapped_column(Sequence)
