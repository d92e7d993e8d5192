"""Bringing a database to the schema of this version, from code: no alembic.ini to misplace."""

from pathlib import Path

from alembic import command
from alembic.config import Config

from models.engine import translated

_SCRIPTS = Path(__file__).parent / "migrations"


def alembic_config(url: str) -> Config:
    """Alembic's configuration for a database."""
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.attributes["url"] = url
    return config


def migrate(url: str) -> None:
    """Apply every migration that the database does not have."""
    with translated():
        command.upgrade(alembic_config(url), "head")
