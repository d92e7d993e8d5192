"""The migrations make exactly the schema that the models describe, on both databases."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import models.ledger
import models.operations  # noqa: F401 - registers every table
from models.base import Base
from models.engine import Ledger
from models.in_force import floor_in_force, record_floor
from models.keys import Role, issue_key, key_digest, revoke_keys, subjects_with_keys, valid_keys
from models.migrate import alembic_config, migrate
from tests.unit.test_floor_file import SAMPLE


def test_migrations_and_models_agree(ledger: Ledger) -> None:
    with ledger.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_migrating_twice_and_back_works(ledger_url: str) -> None:
    migrate(ledger_url)
    command.downgrade(alembic_config(ledger_url), "base")
    migrate(ledger_url)


def test_floor_versions_are_kept_word_for_word(ledger: Ledger) -> None:
    assert floor_in_force(ledger) is None
    assert [record_floor(ledger, SAMPLE, at) for at in (1, 2)] == [1, 1]
    assert record_floor(ledger, SAMPLE + "# a remark\n", 3) == 2
    found = floor_in_force(ledger)
    assert found is not None
    assert (found[0], found[1].casino) == (2, "Sample Casino")


def test_keys_are_stored_as_hashes_and_gone_when_revoked(ledger: Ledger) -> None:
    secret = issue_key(ledger, Role.TABLE, "T-1", 1)
    issue_key(ledger, Role.OPERATOR, "operator", 1)
    keys = valid_keys(ledger)
    assert keys[key_digest(secret)].subject == "T-1"
    assert secret not in repr(keys)
    assert revoke_keys(ledger, "T-1", 2) == 1
    assert [caller.subject for caller in valid_keys(ledger).values()] == ["operator"]
    assert subjects_with_keys(ledger) == {"T-1", "operator"}
