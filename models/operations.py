"""What is in force, who may call, and what needs a person's eye."""

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Hash, Id, Json, Micros, Sequence


class FloorVersion(Base):
    """A floor that was put in force, word for word. The highest version is the one in force."""

    __tablename__ = "floor_versions"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sha256: Mapped[str] = mapped_column(Hash)
    content: Mapped[str] = mapped_column(Json)
    applied_at: Mapped[int] = mapped_column(Micros)


class ApiKey(Base):
    """A credential, stored as a hash. `subject` is what it speaks for: a table, or a role."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    role: Mapped[str] = mapped_column(Id)
    subject: Mapped[str] = mapped_column(Id)
    sha256: Mapped[str] = mapped_column(Hash, unique=True)
    created_at: Mapped[int] = mapped_column(Micros)
    revoked_at: Mapped[int | None] = mapped_column(Micros)


class Alarm(Base):
    """Something that a person must see. It stays open until one says so."""

    __tablename__ = "alarms"
    __table_args__ = (Index("ix_alarms_open", "acknowledged_at", "raised_at"),)

    link: Mapped[str] = mapped_column(Id, primary_key=True)
    seq: Mapped[int] = mapped_column(Sequence, primary_key=True, autoincrement=False)
    subject: Mapped[str]
    detail: Mapped[str]
    raised_at: Mapped[int] = mapped_column(Micros)
    acknowledged_at: Mapped[int | None] = mapped_column(Micros)
    acknowledged_by: Mapped[str | None]
