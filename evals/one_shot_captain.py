"""The real captain with one thing changed: every message of a room has a lane of its own.

It is what the eval compares with: no history, no steering, each answer from the excerpt that
its message carries. There is no setting for it; only the placement is another.
"""

import sys

from clankie_captain import __main__ as entry
from clankie_captain.core.grants import Powers
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.placement import Loops, placed
from clankie_settings.ids import LaneId, TurnId
from clankie_settings.wire.trigger import Trigger


def apart(trigger: Trigger, turn: TurnId, powers: Powers, loops: Loops) -> LaneKey:
    """A fresh lane where the room's would be; not of the kind of one-shots, which a sender's burst may join."""
    lane = placed(trigger, turn, powers, loops)
    if lane.kind != "room" or lane.authority != "social":
        return lane
    return LaneKey(LaneId(f"{lane.id}:{trigger.message_id}"), lane.kind, lane.authority)


if __name__ == "__main__":
    sys.exit(entry.main(apart))
