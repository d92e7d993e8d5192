"""Floor versions and API keys: what is in force, and who may call."""

import hashlib
import secrets
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import func, select, update

from controller.floor.definition import Floor
from controller.floor.file import parse_floor
from models.engine import Ledger
from models.operations import ApiKey, FloorVersion


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


def floor_in_force(ledger: Ledger) -> tuple[int, Floor] | None:
    """The floor with the highest version, or None before the first."""
    query = select(FloorVersion).order_by(FloorVersion.version.desc()).limit(1)
    with ledger.reading() as session:
        row = session.scalar(query)
        return (row.version, parse_floor(row.content, f"floor version {row.version}")) if row else None


class FloorVersions:
    """The floors kept in SQL, as the core asks for them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def version(self) -> int:
        """The number of the newest version; 0 before the first."""
        with self._ledger.reading() as session:
            return session.scalar(select(func.max(FloorVersion.version))) or 0

    def load(self) -> tuple[int, Floor] | None:
        """The newest version."""
        return floor_in_force(self._ledger)


def all_floors(ledger: Ledger) -> list[Floor]:
    """Every floor that was ever in force, oldest first."""
    with ledger.reading() as session:
        rows = session.scalars(select(FloorVersion).order_by(FloorVersion.version))
        return [parse_floor(row.content, f"floor version {row.version}") for row in rows]


def record_floor(ledger: Ledger, content: str, applied_at: int) -> int:
    """Make a floor the newest version, unless it already is; its number."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    with ledger.writing() as session:
        last = session.scalar(select(FloorVersion).order_by(FloorVersion.version.desc()).limit(1))
        if last is not None and last.sha256 == digest:
            return last.version
        version = last.version + 1 if last else 1
        session.add(FloorVersion(version=version, sha256=digest, content=content, applied_at=applied_at))
    return version


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
