"""The real captain with one thing changed: every message of a room has a lane of its own.

It is what the eval compares with: no history, no steering, each answer from the excerpt that
its message carries. There is no setting for it; only the placement is another.
"""

import sys
from typing import Any, cast

from clankie_captain import __main__ as entry
from clankie_captain import app as composition
from clankie_captain.core.lane import LaneKey
from clankie_captain.lanes.grants import Grants
from clankie_settings.ids import LaneId, TurnId
from clankie_settings.wire.trigger import Trigger


class OneShots(Grants):
    """Places each message into a social lane of its own."""

    async def place(self, trigger: Trigger, turn: TurnId) -> LaneKey:
        """A fresh lane where the room's would be; not of the kind of one-shots, which a sender's burst may join."""
        lane = await super().place(trigger, turn)
        if lane.kind != "room" or lane.authority != "social":
            return lane
        return LaneKey(LaneId(f"{lane.id}:{trigger.message_id}"), lane.kind, lane.authority)


def main() -> int:
    """Be the captain."""
    cast("Any", composition).Grants = OneShots
    return entry.main()


if __name__ == "__main__":
    sys.exit(main())
