"""Floor versions: what is in force, and what was."""

import hashlib

from sqlalchemy import func, select

from controller.floor.definition import Floor
from controller.floor.file import parse_floor
from models.engine import Ledger
from models.operations import FloorVersion


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
