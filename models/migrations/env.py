"""Alembic's environment: the same engine settings as the product's own."""

from alembic import context

import models.ledger
import models.operations  # noqa: F401 - every module with tables, so that the metadata is complete
from models.base import Base
from models.engine import open_engine

engine = open_engine(context.config.attributes["url"]).execution_options(writes=True)
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
engine.dispose()
