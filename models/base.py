"""The declarative base, with the types and names that every table shares."""

from sqlalchemy import BigInteger, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""Constraint names are part of the schema: migrations on SQLite and PostgreSQL must find them again."""

MicroCents = BigInteger
Micros = BigInteger
Sequence = BigInteger
Hash = String(64)
Id = String(40)
AccountName = String(60)
"""A meter's name of up to 40 characters behind a prefix such as `overflow/`."""
Json = Text
"""Kept as the text that was hashed, never as a database's own JSON, which would reorder it."""


class Base(DeclarativeBase):
    """Root of all models."""

    metadata = MetaData(naming_convention=NAMING)
