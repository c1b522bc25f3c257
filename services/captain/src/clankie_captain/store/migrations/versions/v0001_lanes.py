"""Lanes, deliveries, runs, entries, receipts, presences, rooms and actions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of the first version."""
    _lanes()
    _records()
    _presences()


def _lanes() -> None:
    op.create_table(
        "lane",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("authority", sa.String, nullable=False),
        sa.Column("owner", sa.String),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("live_run", sa.String),
        sa.Column("next_seq", sa.Integer, nullable=False),
        sa.Column("next_entry", sa.Integer, nullable=False),
        sa.Column("history_from", sa.Integer, nullable=False),
        sa.Column("quiet_until", sa.BigInteger),
        sa.Column("touched_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "delivery",
        sa.Column("presence", sa.String, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("turn", sa.String, nullable=False, unique=True),
        sa.Column("lane", sa.String, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("actor", sa.String, nullable=False),
        sa.Column("message_id", sa.String, nullable=False),
        sa.Column("addressed", sa.Boolean, nullable=False),
        sa.Column("content_hash", sa.String, nullable=False),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("heard", sa.Boolean, nullable=False),
        sa.Column("ready", sa.Boolean, nullable=False),
        sa.Column("pictures", sa.Text),
        sa.Column("run", sa.String),
        sa.Column("taken", sa.Integer),
        sa.Column("awaited", sa.Boolean, nullable=False),
        sa.Column("entry", sa.Integer),
        sa.Column("accepted_at", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger),
        sa.Column("result", sa.Text),
        sa.Column("owed", sa.Boolean, nullable=False),
        sa.Column("parts_posted", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("presence", "id"),
        sa.UniqueConstraint("lane", "seq"),
    )
    op.create_index("delivery_open", "delivery", ["lane", "state", "seq"])
    op.create_index("delivery_waiting", "delivery", ["state", "lane"])
    op.create_index("delivery_message", "delivery", ["lane", "message_id"])
    op.create_index("delivery_owed", "delivery", ["presence", "owed", "state"])
    op.create_index("delivery_run", "delivery", ["run"])
    op.create_index("delivery_actor", "delivery", ["presence", "actor", "accepted_at"])


def _records() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("lane", sa.String, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("owner_presence", sa.String, nullable=False),
        sa.Column("owner_delivery", sa.String, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("autonomous", sa.Boolean, nullable=False),
        sa.Column("cancelled", sa.Boolean, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("outcome", sa.String),
        sa.Column("usage", sa.Text),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger),
    )
    op.create_index("run_settled", "run", ["settled_at"])
    op.create_table(
        "entry",
        sa.Column("lane", sa.String, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("lane", "seq"),
    )
    op.create_table(
        "finished_call",
        sa.Column("lane", sa.String, nullable=False),
        sa.Column("call", sa.String, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("lane", "call"),
    )
    op.create_table(
        "gauge",
        sa.Column("lane", sa.String, primary_key=True),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("resume_at", sa.Integer),
        sa.Column("notes", sa.Integer),
    )
    op.create_table(
        "child",
        sa.Column("presence", sa.String, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("lane", sa.String, nullable=False, unique=True),
        sa.Column("forked_from", sa.String, nullable=False),
        sa.Column("room", sa.String, nullable=False),
        sa.Column("forked_by", sa.String, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("heard", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("presence", "id"),
    )
    op.create_table(
        "lane_message",
        sa.Column("lane", sa.String, nullable=False),
        sa.Column("message_id", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("lane", "message_id"),
    )
    op.create_table(
        "receipt",
        sa.Column("presence", sa.String, nullable=False),
        sa.Column("delivery", sa.String, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("of", sa.Integer, nullable=False),
        sa.Column("message_id", sa.String),
        sa.Column("code", sa.String),
        sa.Column("posted_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("presence", "delivery", "part"),
        sa.ForeignKeyConstraint(["presence", "delivery"], ["delivery.presence", "delivery.id"]),
    )


def _presences() -> None:
    op.create_table(
        "presence",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("next_action", sa.Integer, nullable=False),
        sa.Column("alive_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "lease",
        sa.Column("presence", sa.String, primary_key=True),
        sa.Column("holder", sa.String, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("renewed_at", sa.BigInteger, nullable=False),
        sa.Column("ttl_s", sa.Integer, nullable=False),
        sa.Column("listening_at", sa.BigInteger),
        sa.Column("missed_since", sa.BigInteger),
        sa.Column("last_action", sa.Integer, nullable=False),
    )
    op.create_table(
        "room_lease",
        sa.Column("room", sa.String, primary_key=True),
        sa.Column("presence", sa.String, nullable=False),
        sa.Column("renewed_at", sa.BigInteger, nullable=False),
        sa.Column("ttl_s", sa.Integer, nullable=False),
    )
    op.create_table(
        "room",
        sa.Column("presence", sa.String, nullable=False),
        sa.Column("key", sa.String, nullable=False),
        sa.Column("room", sa.Text, nullable=False),
        sa.Column("last_delivery", sa.String, nullable=False),
        sa.Column("last_message_id", sa.String, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("presence", "key"),
    )
    op.create_table(
        "action",
        sa.Column("presence", sa.String, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("delivery", sa.String, nullable=False),
        sa.Column("run", sa.String),
        sa.Column("call", sa.String),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("message_id", sa.String),
        sa.Column("code", sa.String),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("presence", "seq"),
    )
    op.create_table(
        "spending",
        sa.Column("day", sa.String, nullable=False),
        sa.Column("lane", sa.String, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("notified", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("day", "lane"),
    )
    op.create_table(
        "command",
        sa.Column("presence", sa.String, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("presence", "id"),
    )
    op.create_table(
        "upkeep",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("proven_at", sa.BigInteger, nullable=False),
    )
    op.create_index("action_pending", "action", ["presence", "state", "seq"])
    op.create_index("action_run", "action", ["run", "name"])
