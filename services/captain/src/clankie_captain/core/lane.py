"""Which lane a delivery belongs to. Source: LANE-1, LANE-12."""

from dataclasses import dataclass
from typing import Literal

from clankie_settings.ids import LaneId, TurnId
from clankie_settings.wire.trigger import Room, Trigger

LaneKind = Literal["room", "voice", "conversation", "one_shot"]
"""What a lane serves; its id begins ``rooms/``, ``voice/``, ``conversations/`` or ``turns/``."""

Authority = Literal["social", "system"]
"""A social lane is anybody's; a system lane may use machine tools. The two never share history. Source: LOOP-7."""


@dataclass(frozen=True, slots=True)
class LaneKey:
    """A lane by id, with what follows from it."""

    id: LaneId
    kind: LaneKind
    authority: Authority


@dataclass(frozen=True, slots=True)
class Trust:
    """The owner's settings that decide authority; empty sets grant nothing. Source: GRANT-2, GRANT-3.

    ``rooms`` holds ``guildId:channelId``.
    """

    actors: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()


def lane_for(trigger: Trigger, turn: TurnId, trust: Trust) -> LaneKey:
    """The lane of a delivery.

    A privileged actor's turn in a mixed room drops to a one-shot of its own; in a DM, or in a room that the owner
    trusts, it has the room's durable system lane. Everybody else shares the room's social lane.

    Source: LANE-1, GRANT-2.
    """
    place = _place(trigger.room)
    if trigger.room.platform == "console":
        return LaneKey(LaneId(f"conversations/{trigger.room.channel_id}"), "conversation", "system")
    if trigger.kind == "voice":
        return LaneKey(LaneId(f"voice/{place}"), "voice", "social")
    if trigger.actor.actor_id not in trust.actors:
        return LaneKey(LaneId(f"rooms/{place}"), "room", "social")
    if _trusted(trigger.room, trust):
        return LaneKey(LaneId(f"rooms/{place}~system"), "room", "system")
    return LaneKey(LaneId(f"turns/{place}~{trigger.message_id}/{turn}"), "one_shot", "system")


def _trusted(room: Room, trust: Trust) -> bool:
    return room.guild_id is None or f"{room.guild_id}:{room.channel_id}" in trust.rooms


def _place(room: Room) -> str:
    return f"{room.platform}:{room.guild_id or 'dm'}:{room.channel_id}"
