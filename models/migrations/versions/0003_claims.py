"""Claims, triggers and envy awards."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "claims",
        sa.Column("id", sa.String(length=60), nullable=False),
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("table_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("meter", sa.String(length=40), nullable=True),
        sa.Column("registered_seq", sa.BigInteger(), nullable=False),
        sa.Column("registered_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_seq", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claims")),
    )
    op.create_index("ix_claims_round", "claims", ["table_id", "number"])
    op.create_index("ix_claims_status", "claims", ["status", "updated_at"])


def downgrade() -> None:
    op.drop_table("claims")
