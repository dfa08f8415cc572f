"""What jobs went through: their waits for quota and their runs, and until when we looked."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "stretch",
        sa.Column("cluster", sa.String(), nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("began", sa.DateTime(timezone=True), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("flavor", sa.String(), nullable=False),
        sa.Column("gpus", sa.BigInteger(), nullable=False),
        sa.Column("pods", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("queued_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reserved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("admitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("end", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("cluster", "uid", "began"),
    )
    op.create_index("ix_stretch_cluster_ended_at", "stretch", ["cluster", "ended_at"])
    op.create_table(
        "history_seen",
        sa.Column("cluster", sa.String(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("cluster"),
    )
