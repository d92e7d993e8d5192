"""API keys: who may call. A key is shown once and stored as a hash."""

import hashlib
import secrets
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import func, select, update

from models.engine import Ledger
from models.operations import ApiKey


class Role(StrEnum):
    """What a key may do: speak for one table, or run the floor."""

    TABLE = "table"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever presented a valid key."""

    key_id: str
    role: Role
    subject: str


def issue_key(ledger: Ledger, role: Role, subject: str, created_at: int) -> str:
    """A new key. The text is returned once and stored only as a hash: 256 random bits need no salt."""
    secret = f"jpk_{secrets.token_urlsafe(32)}"
    with ledger.writing() as session:
        session.add(
            ApiKey(
                id=f"key-{secrets.token_hex(6)}",
                role=role,
                subject=subject,
                sha256=key_digest(secret),
                created_at=created_at,
                revoked_at=None,
            )
        )
    return secret


def revoke_keys(ledger: Ledger, subject: str, revoked_at: int) -> int:
    """Revoke every key of a subject; how many there were."""
    with ledger.writing() as session:
        held = select(func.count()).where(ApiKey.subject == subject, ApiKey.revoked_at.is_(None))
        count = session.scalar(held.select_from(ApiKey)) or 0
        session.execute(
            update(ApiKey)
            .where(ApiKey.subject == subject, ApiKey.revoked_at.is_(None))
            .values(revoked_at=revoked_at)
        )
    return count


def key_digest(secret: str) -> str:
    """How a key is stored and looked up."""
    return hashlib.sha256(secret.encode()).hexdigest()


def valid_keys(ledger: Ledger) -> dict[str, Caller]:
    """Every key that is not revoked, by its digest."""
    with ledger.reading() as session:
        rows = session.scalars(select(ApiKey).where(ApiKey.revoked_at.is_(None)))
        return {row.sha256: Caller(row.id, Role(row.role), row.subject) for row in rows}


def subjects_with_keys(ledger: Ledger) -> set[str]:
    """Every subject that was ever given a key, revoked or not."""
    with ledger.reading() as session:
        return set(session.scalars(select(ApiKey.subject)))
