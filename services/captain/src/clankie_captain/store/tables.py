"""The tables, as the newest migration leaves them. Moments are integers, in microseconds since the epoch, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(TypeDecorator[datetime]):
    """An aware UTC timestamp as an integer that every database orders alike."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        """Microseconds since the epoch."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        """The aware timestamp."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)


metadata = MetaData()

lane = Table(
    "lane",
    metadata,
    Column("id", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("authority", String, nullable=False),
    Column("owner", String),
    Column("epoch", Integer, nullable=False),
    Column("live_run", String),
    Column("next_seq", Integer, nullable=False),
    Column("next_entry", Integer, nullable=False),
    Column("history_from", Integer, nullable=False),
    Column("quiet_until", Moment),
    Column("touched_at", Moment, nullable=False),
)

delivery = Table(
    "delivery",
    metadata,
    Column("presence", String, nullable=False),
    Column("id", String, nullable=False),
    Column("turn", String, nullable=False, unique=True),
    Column("lane", String, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("actor", String, nullable=False),
    Column("message_id", String, nullable=False),
    Column("addressed", Boolean, nullable=False),
    Column("content_hash", String, nullable=False),
    Column("trigger", Text, nullable=False),
    Column("state", String, nullable=False),  # queued | steer | heard | live | done
    Column("heard", Boolean, nullable=False),
    Column("ready", Boolean, nullable=False),  # its pictures are there, or it has none
    Column("pictures", Text),  # what became of them
    Column("run", String),
    Column("taken", Integer),  # epoch of the run that puts its words into a request
    Column("awaited", Boolean, nullable=False),  # else its words go out as an action
    Column("entry", Integer),  # where a conversation's log says that it was accepted
    Column("accepted_at", Moment, nullable=False),
    Column("settled_at", Moment),
    Column("result", Text),
    Column("owed", Boolean, nullable=False),
    Column("parts_posted", Integer, nullable=False),
    PrimaryKeyConstraint("presence", "id"),
    UniqueConstraint("lane", "seq"),
    Index("delivery_open", "lane", "state", "seq"),
    Index("delivery_waiting", "state", "lane"),
    Index("delivery_message", "lane", "message_id"),
    Index("delivery_owed", "presence", "owed", "state"),
    Index("delivery_run", "run"),
    Index("delivery_actor", "presence", "actor", "accepted_at"),
)

run = Table(
    "run",
    metadata,
    Column("id", String, primary_key=True),
    Column("lane", String, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("owner_presence", String, nullable=False),
    Column("owner_delivery", String, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("autonomous", Boolean, nullable=False),
    Column("cancelled", Boolean, nullable=False),
    Column("kind", String, nullable=False, default="turn"),  # turn | compaction
    Column("outcome", String),
    Column("usage", Text),
    Column("started_at", Moment, nullable=False),
    Column("settled_at", Moment),
    Index("run_settled", "settled_at"),
)

entry = Table(
    "entry",
    metadata,
    Column("lane", String, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("run", String, nullable=False),
    Column(
        "kind", String, nullable=False
    ),  # request | response | unposted | heard | said | broken | accepted | steered | settled
    Column("payload", Text, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("lane", "seq"),
)

finished_call = Table(
    "finished_call",
    metadata,
    Column("lane", String, nullable=False),
    Column("call", String, nullable=False),
    Column("payload", Text, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("lane", "call"),
)
"""Results of tool calls from the tool's end until a request carries them."""

gauge = Table(
    "gauge",
    metadata,
    Column("lane", String, primary_key=True),
    Column("tokens", Integer, nullable=False),
    Column("resume_at", Integer),
    Column("notes", Integer),
)
"""How full a lane is, from when on it may be compacted, and the entry of the notes that its history begins with."""

child = Table(
    "child",
    metadata,
    Column("presence", String, nullable=False),
    Column("id", String, nullable=False),  # the delivery of its task: that one's state is the child's
    Column("lane", String, nullable=False, unique=True),
    Column("forked_from", String, nullable=False),
    Column("room", String, nullable=False),
    Column("forked_by", String, nullable=False),  # the run that moved the work
    Column("owner", String, nullable=False),  # the delivery that this run answered
    Column("fingerprint", String, nullable=False),
    Column("heard", Text, nullable=False),  # the deliveries that it had heard: what all their senders may do
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("presence", "id"),
)
"""Background threads. Words of theirs stand in deliveries and entries alone. Source: LOOP-6."""

lane_message = Table(
    "lane_message",
    metadata,
    Column("lane", String, nullable=False),
    Column("message_id", String, nullable=False),
    PrimaryKeyConstraint("lane", "message_id"),
)
"""Messages that a lane carries without their having been deliveries: backlog that was sent, own replies."""

receipt = Table(
    "receipt",
    metadata,
    Column("presence", String, nullable=False),
    Column("delivery", String, nullable=False),
    Column("part", Integer, nullable=False),
    Column("of", Integer, nullable=False),
    Column("message_id", String),
    Column("code", String),
    Column("posted_at", Moment, nullable=False),
    PrimaryKeyConstraint("presence", "delivery", "part"),
    ForeignKeyConstraint(["presence", "delivery"], ["delivery.presence", "delivery.id"]),
)

presence = Table(
    "presence",
    metadata,
    Column("id", String, primary_key=True),
    Column("next_action", Integer, nullable=False),
    Column("alive_at", Moment, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("presence", String, primary_key=True),
    Column("holder", String, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("renewed_at", Moment, nullable=False),
    Column("ttl_s", Integer, nullable=False),
    Column("listening_at", Moment),
    Column("missed_since", Moment),
    Column("last_action", Integer, nullable=False),
)
"""Which process of a presence is the only one."""

room_lease = Table(
    "room_lease",
    metadata,
    Column("room", String, primary_key=True),  # GUILD:CHANNEL, or dm:CHANNEL
    Column("presence", String, nullable=False),
    Column("renewed_at", Moment, nullable=False),
    Column("ttl_s", Integer, nullable=False),
)
"""Which voice presence owns a room's text-only input. Source: VOX-2."""

room = Table(
    "room",
    metadata,
    Column("presence", String, nullable=False),
    Column("key", String, nullable=False),
    Column("room", Text, nullable=False),
    Column("last_delivery", String, nullable=False),
    Column("last_message_id", String, nullable=False),
    Column("last_at", Moment, nullable=False),
    PrimaryKeyConstraint("presence", "key"),
)

action = Table(
    "action",
    metadata,
    Column("presence", String, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("id", String, nullable=False, unique=True),
    Column("delivery", String, nullable=False),
    Column("run", String),  # none: words that belong to no run
    Column("call", String),  # the tool call that wanted it
    Column("name", String, nullable=False),
    Column("payload", Text, nullable=False),
    Column("state", String, nullable=False),  # pending | done | refused | returned (to text)
    Column("message_id", String),
    Column("code", String),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("presence", "seq"),
    Index("action_pending", "presence", "state", "seq"),
    Index("action_run", "run", "name"),
)

spending = Table(
    "spending",
    metadata,
    Column("day", String, nullable=False),
    Column("lane", String, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("notified", Boolean, nullable=False),
    PrimaryKeyConstraint("day", "lane"),
)
"""Tokens a day (UTC, ISO) of each lane, and of all under the lane ``*``."""

command = Table(
    "command",
    metadata,
    Column("presence", String, nullable=False),
    Column("id", String, nullable=False),
    Column("name", String, nullable=False),
    Column("answer", Text, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("presence", "id"),
)
"""Commands that were done, so that one that comes again is answered and not done again."""

upkeep = Table(
    "upkeep",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("proven_at", Moment, nullable=False),
)
"""One row: how late it is for certain, whatever the clock says."""
