"""How rounds end: results and voids."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "round_ends",
        sa.Column("table_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("table_id", "number", "kind", name=op.f("pk_round_ends")),
    )


def downgrade() -> None:
    op.drop_table("round_ends")
