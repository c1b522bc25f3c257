"""Which lane a delivery belongs to. Source: LANE-1, LANE-12."""

from dataclasses import dataclass
from typing import Final, Literal

from clankie_settings.ids import LaneId, PresenceId, TurnId
from clankie_settings.wire.trigger import Room, Trigger

LaneKind = Literal["room", "voice", "conversation", "one_shot"]
"""What a lane serves; its id begins ``rooms/``, ``voice/``, ``conversations/`` or ``turns/``."""

OPERATOR: Final = PresenceId("operator:console")
"""The presence as which the operator speaks; the settings can name none like it, so no presence's token is its."""

Authority = Literal["social", "system"]
"""A social lane is anybody's; a system lane may use machine tools. The two never share history. Source: LOOP-7."""


_KINDS: Final[dict[str, LaneKind]] = {
    "rooms": "room", "voice": "voice", "conversations": "conversation", "turns": "one_shot",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LaneKey:
    """A lane by id, with what follows from it."""

    id: LaneId
    kind: LaneKind
    authority: Authority

    @property
    def grant(self) -> str | None:
        """The fingerprint of the grant that a room's loop is for; None where the lane is no loop. Source: LOOP-3."""
        home, _, mark = self.id.rpartition("~")
        return mark if home and self.kind == "room" and self.authority == "social" else None

    @property
    def forked_from(self) -> "LaneKey | None":
        """The lane whose child this is; None where it is none. Source: LOOP-6."""
        parent, mark, _ = self.id.removeprefix("turns/").rpartition("~child/")
        kind = _KINDS.get(parent.partition("/")[0])
        # Nobody's message id makes a child: what stands in front of it would be no lane.
        if self.kind != "one_shot" or not mark or kind is None:
            return None
        return LaneKey(LaneId(parent), kind, self.authority)

    @property
    def home(self) -> LaneId:
        """The lane that stands for the room: of a room's loops, what they have in common (quiet, its day's tokens)."""
        if (parent := self.forked_from) is not None:
            return parent.home
        return self.id if self.grant is None else LaneId(self.id.rpartition("~")[0])


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
    if trigger.presence_id == OPERATOR:
        return conversation(trigger.room.channel_id)
    if trigger.room.platform == "console":
        # Whoever holds a presence's token has conversations of its own, never the operator's.
        own = f"conversations/{trigger.presence_id}:{trigger.room.channel_id}"
        return LaneKey(LaneId(own), "conversation", "social")
    if trigger.kind == "voice":
        return voice_lane(trigger.room)
    if trigger.actor.actor_id not in trust.actors:
        return LaneKey(LaneId(f"rooms/{place}"), "room", "social")
    if trusted(trigger.room, trust):
        return LaneKey(LaneId(f"rooms/{place}~system"), "room", "system")
    return LaneKey(LaneId(f"{one_shots(trigger.room)}{trigger.message_id}/{turn}"), "one_shot", "system")


def voice_lane(room: Room) -> LaneKey:
    """The lane of what is said aloud in a room. Source: VOX-1."""
    return LaneKey(LaneId(f"voice/{_place(room)}"), "voice", "social")


def voice_beside(lane: LaneKey) -> LaneId:
    """The voice lane of a room's social lane. Source: OPS-5."""
    return LaneId(f"voice/{lane.id.removeprefix('rooms/')}")


def room_of_voice(lane: LaneKey) -> LaneId:
    """The room's social lane that a voice lane belongs to: what was told to be quiet there. Source: VOX-2."""
    return LaneId(f"rooms/{lane.id.removeprefix('voice/')}")


def one_shots(room: Room) -> str:
    """What the ids of a room's one-shots begin with."""
    return f"turns/{_place(room)}~"


def one_shots_beside(lane: LaneId) -> str:
    """What the ids of the one-shots of a one-shot's room begin with."""
    return lane.partition("~")[0] + "~"


def loop(lane: LaneKey, fingerprint: str) -> LaneKey:
    """The loop of a room's social lane for one exact grant. Source: LOOP-3."""
    return LaneKey(LaneId(f"{lane.id}~{fingerprint}"), lane.kind, lane.authority)


def conversation(name: str) -> LaneKey:
    """The lane of one of the operator's conversations. Source: OPS-1."""
    return LaneKey(LaneId(f"conversations/{name}"), "conversation", "system")


def room_lane(room: Room, actor: str, trust: Trust) -> LaneKey:
    """The durable lane in which somebody speaks in a room; a privileged actor's one-shots belong to none.

    It stands for all loops of a room that has any.
    """
    place = _place(room)
    if actor in trust.actors and trusted(room, trust):
        return LaneKey(LaneId(f"rooms/{place}~system"), "room", "system")
    return LaneKey(LaneId(f"rooms/{place}"), "room", "social")


def trusted(room: Room, trust: Trust) -> bool:
    """Whether only people whom the owner trusts read what is said there: a DM, or a room that he named."""
    return room.guild_id is None or f"{room.guild_id}:{room.channel_id}" in trust.rooms


def _place(room: Room) -> str:
    return f"{room.platform}:{room.guild_id or 'dm'}:{room.channel_id}"
