"""What a live run may do now: the owner's settings at each call, over everybody that it heard. Source: GRANT-5."""

from collections.abc import Callable, Sequence
from typing import Final

from clankie_captain.core.grants import ALWAYS, Powers, grant, offered, refused_by
from clankie_captain.core.turns import LiveRun
from clankie_captain.ports import Lanes
from clankie_settings.wire.trigger import Room

WITHHELD: Final = "{who} may use {tool} here; only the owner can change that, in the settings"
"""What the model is told of a call that is not granted; names prove nothing, so none is said."""

ALONE: Final = "nobody has said that the person whose message you are answering"
SEVERAL: Final = "not everybody whose messages you have read in this turn"


class Grants:
    """Reads the owner's settings anew each time: ``powers`` gives them as they are. Source: GRANT-1, GRANT-3.

    ``tools`` are all that this captain has, in the order in which models are shown them.
    """

    def __init__(self, lanes: Lanes, powers: Callable[[], Powers], tools: Sequence[str]) -> None:
        self._lanes = lanes
        self._powers = powers
        self._tools = tuple(tools)

    def offered(self, run: LiveRun, room: Room) -> tuple[str, ...]:
        """The tools that a lane shows its model, whoever speaks. Source: CTX-3, LANE-13."""
        return offered(self._tools, room, run.lane.authority, self._powers())

    async def refusal(self, run: LiveRun, tool: str) -> str | None:
        """Why a run may not call a tool; None where everybody whose words it has heard may.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: GRANT-5.
        """
        if tool in ALWAYS:
            return None
        heard = await self._lanes.speakers(run)
        powers = self._powers()
        if refused_by(tool, [grant(each, powers) for each in heard]) is None:
            return None
        alone = len({each.actor.actor_id for each in heard}) <= 1
        return WITHHELD.format(who=ALONE if alone else SEVERAL, tool=tool)
