"""Claims as the ledger shows them: taken from the journal entries that changed them."""

from dataclasses import dataclass

import msgspec
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from controller.jackpots.claims import Claim, Status, read_claim, write_claim
from controller.journal.entry import Entry
from models.engine import Ledger
from models.ledger import ClaimRow

LIST_MAX = 1_000
_ROUND_KINDS = ("result_recorded", "round_voided", "box_returned")
_SILENT_KINDS = ("bets_recorded", "late_bets_recorded", "link_configured", "table_opened", "link_closed")


class _Documents(msgspec.Struct):
    documents: list[Claim] = []


class _Claims(msgspec.Struct):
    claims: list[Claim] = []


_read_documents = msgspec.json.Decoder(_Documents).decode
_read_claims = msgspec.json.Decoder(_Claims).decode


def claims_in(entry: Entry) -> list[Claim]:
    """The claims that an entry changed, as they are after it."""
    if entry.kind in _ROUND_KINDS:
        return _read_documents(entry.facts).documents
    if entry.kind in _SILENT_KINDS or entry.kind.startswith("alarm_"):
        return []
    return _read_claims(entry.facts).claims


def write_claims(session: Session, link: str, changed: list[tuple[Claim, Entry]]) -> None:
    """Bring the read table up to date with a batch of entries; the last word on a claim stands."""
    rows: dict[str, dict[str, object]] = {}
    known = set(
        session.scalars(select(ClaimRow.id).where(ClaimRow.id.in_({claim.id for claim, _ in changed})))
    )
    for claim, entry in changed:
        first = rows.get(claim.id, {"registered_seq": entry.seq, "registered_at": entry.at})
        rows[claim.id] = {
            **first,
            "id": claim.id,
            "link": link,
            "kind": claim.kind,
            "status": claim.status,
            "table_id": claim.table,
            "number": claim.round,
            "meter": claim.meter,
            "updated_seq": entry.seq,
            "updated_at": entry.at,
            "document": write_claim(claim).decode(),
        }
    new = [row for name, row in rows.items() if name not in known]
    if new:
        session.execute(insert(ClaimRow), new)
    for name in known:
        row = rows[name]
        del row["registered_seq"], row["registered_at"]
        session.execute(update(ClaimRow).where(ClaimRow.id == name).values(**row))


@dataclass(frozen=True, slots=True)
class LedgeredClaim:
    """A claim in the ledger."""

    link: str
    registered_seq: int
    registered_at: int
    updated_seq: int
    updated_at: int
    claim: Claim


def _ledgered(row: ClaimRow) -> LedgeredClaim:
    return LedgeredClaim(
        row.link,
        row.registered_seq,
        row.registered_at,
        row.updated_seq,
        row.updated_at,
        read_claim(row.document),
    )


def find_claim(ledger: Ledger, claim: str) -> LedgeredClaim | None:
    """One claim."""
    with ledger.reading() as session:
        row = session.get(ClaimRow, claim)
        return _ledgered(row) if row else None


def list_claims(ledger: Ledger, **wanted: str) -> list[LedgeredClaim]:
    """Claims by link, status, kind or table, newest first."""
    query = select(ClaimRow).order_by(ClaimRow.registered_at.desc(), ClaimRow.id).limit(LIST_MAX)
    for column, value in wanted.items():
        query = query.where(getattr(ClaimRow, column).in_(value.split(",")))
    with ledger.reading() as session:
        return [_ledgered(row) for row in session.scalars(query)]


def claims_of_round(ledger: Ledger, table: str, number: int) -> list[LedgeredClaim]:
    """Every claim of a round."""
    query = select(ClaimRow).where(ClaimRow.table_id == table, ClaimRow.number == number)
    with ledger.reading() as session:
        return [_ledgered(row) for row in session.scalars(query.order_by(ClaimRow.id))]


def awarded_since(ledger: Ledger) -> dict[str, dict[str, int]]:
    """By link, the awards that are not paid, and since when they stand."""
    query = select(ClaimRow.link, ClaimRow.id, ClaimRow.updated_at).where(ClaimRow.status == Status.AWARDED)
    found: dict[str, dict[str, int]] = {}
    with ledger.reading() as session:
        for link, claim, at in session.execute(query):
            found.setdefault(link, {})[claim] = at
    return found
