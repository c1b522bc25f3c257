"""Which lane a delivery goes to, and whether it may still run there. Source: LOOP-1 to LOOP-4, GRANT-2, GRANT-3."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from clankie_captain.core.grants import Powers, grant
from clankie_captain.core.lane import LaneKey, lane_for, loop
from clankie_settings.ids import DeliveryId, PresenceId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Room, Trigger


@dataclass(frozen=True, slots=True)
class Loops:
    """Which social rooms think in one loop; none by default.

    ``everywhere`` and ``listed`` are the switch, ``own`` holds what single rooms say themselves; all are keyed by
    ``guildId:channelId``.

    Source: LOOP-1.
    """

    everywhere: bool = False
    listed: frozenset[str] = frozenset()
    own: Mapping[str, bool] = field(default_factory=dict[str, bool])

    def here(self, room: Room) -> bool:
        """Whether a room thinks in one loop; its own word wins, and a thread without one goes by its channel."""
        for channel in (room.channel_id, room.parent_id):
            key = f"{room.guild_id}:{channel}"
            if key in self.own:
                return self.own[key]
            if key in self.listed:
                return True
        return self.everywhere


def placed(trigger: Trigger, turn: TurnId, powers: Powers, loops: Loops) -> LaneKey:
    """The lane of a delivery, as its sender's grant is now. Source: LANE-1, LOOP-3."""
    lane = lane_for(trigger, turn, powers.trust)
    if lane.kind != "room" or lane.authority != "social" or not loops.here(trigger.room):
        return lane
    return loop(lane, grant(trigger, powers).fingerprint)


Placing = Callable[[Trigger, TurnId, Powers, Loops], LaneKey]
"""What gives each delivery its lane: ``placed``, or something else to compare it with."""


def withdrawn(lane: LaneKey, trigger: Trigger, powers: Powers) -> FailureCode | None:
    """Why a turn may not run in the lane that it was admitted to; None where it may.

    A loop is for one exact grant; a system lane for whoever is trusted with machine tools there. A social lane gives
    nobody anything, so nothing is taken away by leaving a turn in it.

    Source: LOOP-4, GRANT-3.
    """
    now = grant(trigger, powers)
    if lane.grant is not None:
        return None if now.fingerprint == lane.grant else FailureCode.ROOM_LOOP_GRANT_CHANGED
    if lane.authority == "social" or lane.kind == "conversation":
        return None
    fits = now.authority == "system" and (lane.kind == "one_shot" or now.audience == "trusted")
    return None if fits else FailureCode.NOT_PERMITTED


@dataclass(frozen=True, slots=True)
class Queued:
    """A turn that waits for its lane; ``joins`` says that it may go along with another of its sender's."""

    presence: PresenceId
    delivery: DeliveryId
    actor: str
    roles: tuple[str, ...]
    joins: bool = True


def burst(waiting: Sequence[Queued]) -> tuple[Queued, ...]:
    """The oldest waiting turn, which owns the next run, and those of the same sender that join it; in their order.

    They have the same roles, so whatever the owner's settings say, one may run exactly where all of them may.

    Source: LOOP-2.
    """
    if not waiting:
        return ()
    oldest = waiting[0]
    own = (each for each in waiting[1:] if (each.actor, each.roles) == (oldest.actor, oldest.roles))
    return (oldest, *(each for each in own if each.joins))
