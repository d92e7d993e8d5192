"""The ledger, the audit log, what is in force."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("account", sa.String(length=60), nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("link", "account", name=op.f("pk_accounts")),
    )
    op.create_table(
        "alarms",
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("raised_at", sa.BigInteger(), nullable=False),
        sa.Column("acknowledged_at", sa.BigInteger(), nullable=True),
        sa.Column("acknowledged_by", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("link", "seq", name=op.f("pk_alarms")),
    )
    with op.batch_alter_table("alarms", schema=None) as batch_op:
        batch_op.create_index("ix_alarms_open", ["acknowledged_at", "raised_at"], unique=False)

    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("role", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=40), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("sha256", name=op.f("uq_api_keys_sha256")),
    )
    op.create_table(
        "audit_entries",
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("round", sa.String(length=40), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("postings", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("link", "seq", name=op.f("pk_audit_entries")),
    )
    with op.batch_alter_table("audit_entries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_entries_at"), ["at"], unique=False)

    op.create_table(
        "floor_versions",
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("applied_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_floor_versions")),
    )
    op.create_table(
        "journal_positions",
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("link", name=op.f("pk_journal_positions")),
    )
    op.create_table(
        "rounds",
        sa.Column("table_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("table_id", "number", name=op.f("pk_rounds")),
    )
    op.create_table(
        "postings",
        sa.Column("link", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("line", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("account", sa.String(length=60), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["link", "seq"], ["audit_entries.link", "audit_entries.seq"], name=op.f("fk_postings_link_seq")
        ),
        sa.PrimaryKeyConstraint("link", "seq", "line", name=op.f("pk_postings")),
    )


def downgrade() -> None:
    op.drop_table("postings")
    op.drop_table("rounds")
    op.drop_table("journal_positions")
    op.drop_table("floor_versions")
    with op.batch_alter_table("audit_entries", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_entries_at"))

    op.drop_table("audit_entries")
    op.drop_table("api_keys")
    with op.batch_alter_table("alarms", schema=None) as batch_op:
        batch_op.drop_index("ix_alarms_open")

    op.drop_table("alarms")
    op.drop_table("accounts")
