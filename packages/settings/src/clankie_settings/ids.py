"""Identifier types, so that one kind of id is never taken for another."""

from typing import NewType

DeliveryId = NewType("DeliveryId", str)
"""An admitted message under the id its presence gave it; for Discord the message's snowflake."""

PresenceId = NewType("PresenceId", str)
"""A process that stands in rooms for Clankie, for example ``discord``."""

LaneId = NewType("LaneId", str)
"""A durable conversation: ``rooms/…``, ``voice/…``, ``conversations/…`` or ``turns/…``. Source: LANE-12."""

RunId = NewType("RunId", str)
"""One live agent loop of a lane."""

TurnId = NewType("TurnId", str)
"""The captain's handling of one delivery."""

MessageId = NewType("MessageId", str)
"""A message as its platform knows it."""

ActorId = NewType("ActorId", str)
"""Who wrote, as the platform knows them; the only thing that authority is derived from."""

ChildId = NewType("ChildId", str)
"""A background thread forked from a lane."""

ActionId = NewType("ActionId", str)
"""Something the captain asked a presence to do besides replying."""
