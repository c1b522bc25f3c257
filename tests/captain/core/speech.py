"""Deliveries and backlog as tests of the captain need them, with every detail that may matter spelled out."""

from datetime import UTC, datetime, timedelta
from typing import Any

from clankie_settings.wire.trigger import Actor, ContextMessage, Room, Trigger

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
GUILD_ROOM = Room(platform="discord", guild_id="200", channel_id="300")
DM_ROOM = Room(platform="discord", channel_id="301")
ANN = Actor(actor_id="11", display_name="Ann")
BOB = Actor(actor_id="12", display_name="Bob")
OWNER = Actor(actor_id="10", display_name="the owner")


def trigger(delivery: str = "400", /, body: str | None = "hello", **changed: Any) -> Trigger:
    """A message of Ann's in the guild room; its delivery id is its message id."""
    values: dict[str, Any] = {
        "wire_version": 1,
        "delivery_id": delivery,
        "presence_id": "discord",
        "kind": "mention",
        "room": GUILD_ROOM,
        "actor": ANN,
        "message_id": delivery,
        "sent_at": NOON,
        "body": body,
        "addressed": True,
    }
    return Trigger(**{**values, **changed})


def earlier(message: str, body: str | None = "earlier", *, minutes: int = 5, **changed: Any) -> ContextMessage:
    """A message of Bob's in the same room, some minutes before noon."""
    values: dict[str, Any] = {
        "message_id": message,
        "author_id": BOB.actor_id,
        "author_name": BOB.display_name,
        "body": body,
        "sent_at": NOON - timedelta(minutes=minutes),
    }
    return ContextMessage(**{**values, **changed})
