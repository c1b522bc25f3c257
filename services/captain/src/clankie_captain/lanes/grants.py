"""What may be done now, by the owner's settings as they are at each question. Source: GRANT-1 to GRANT-5, LOOP-4."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from clankie_captain.core.children import FORK
from clankie_captain.core.grants import ALWAYS, MACHINE, Powers, grant, offered, refused_by
from clankie_captain.core.lane import LaneKey, room_lane
from clankie_captain.core.origin import Errand
from clankie_captain.core.placement import Loops, Placing, placed, withdrawn
from clankie_captain.core.turns import LiveRun, Pending
from clankie_captain.ports import Lanes
from clankie_settings import bounds
from clankie_settings.ids import TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Room, Trigger

WITHHELD: Final = "{who} may use {tool} here; only the owner can change that, in the settings"
"""What the model is told of a call that is not granted; names prove nothing, so none is said."""

ALONE: Final = "nobody has said that the person whose message you are answering"
SEVERAL: Final = "not everybody whose messages you have read in this turn"


class Grants:
    """Reads the owner's settings anew each time: ``powers`` gives them as they are. Source: GRANT-1, GRANT-3.

    ``tools`` are all that this captain has, in the order in which models are shown them. ``placing`` gives each
    delivery its lane.
    """

    def __init__(
        self,
        lanes: Lanes,
        powers: Callable[[], Awaitable[Powers]],
        tools: Sequence[str],
        loops: Loops | None = None,
        placing: Placing = placed,
    ) -> None:
        self._lanes = lanes
        self._powers = powers
        self._tools = tuple(tools)
        self._loops = loops or Loops()
        self._placing = placing

    async def place(self, trigger: Trigger, turn: TurnId) -> LaneKey:
        """The lane of a delivery, as its sender's grant is now. Source: LOOP-3, LOOP-4, GRANT-2."""
        return self._placing(trigger, turn, await self._powers(), self._loops)

    async def home(self, room: Room, actor: str) -> LaneKey:
        """The durable lane in which somebody speaks in a room; it stands for the loops there. Source: OPS-5."""
        return room_lane(room, actor, (await self._powers()).trust)

    async def withdrawn(self, run: LiveRun, owner: Pending) -> FailureCode | None:
        """Why a run may not begin in the lane that its owner's message was admitted to; a child not in its lane's.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LOOP-4, LOOP-6, GRANT-3.
        """
        powers = await self._powers()
        if not isinstance(owner.origin, Errand) or (parent := run.lane.forked_from) is None:
            return withdrawn(run.lane, owner.trigger, powers)
        heard = [grant(each, powers) for each in await self._lanes.speakers(run)]
        same = grant(owner.trigger, powers).fingerprint == owner.origin.fingerprint
        kept = None if same and refused_by(FORK, heard) is None else FailureCode.NOT_PERMITTED
        return withdrawn(parent, owner.trigger, powers) or kept

    async def fingerprint(self, trigger: Trigger) -> str:
        """The fingerprint of what the sender of a delivery may do now. Source: LOOP-3, LOOP-6."""
        return grant(trigger, await self._powers()).fingerprint

    async def offered(self, run: LiveRun, owner: Trigger, served: Sequence[str] = ()) -> tuple[str, ...]:
        """The tools that a lane shows its model: in a loop those of its grant, else of all who could speak there.

        Those of servers, ``served``, stand behind his own.

        Source: CTX-3, LANE-13, LOOP-5.
        """
        powers = await self._powers()
        lane, tools = run.lane.forked_from or run.lane, (*self._tools, *served)
        if lane.grant is not None:
            own = grant(owner, powers)
            return tuple(tool for tool in tools if own.allows(tool))[: bounds.TOOLS_OFFERED]
        return offered(tools, owner.room, lane.authority, powers)[: bounds.TOOLS_OFFERED]

    async def refusal(self, run: LiveRun, tool: str) -> str | None:
        """Why a run may not call a tool; None where everybody whose words it has heard may.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: GRANT-5, LOOP-5.
        """
        if tool in ALWAYS:
            return None
        heard = await self._lanes.speakers(run)
        powers = await self._powers()
        # A social lane has no machine tools, not even while only somebody speaks there who has been trusted since.
        social = tool in MACHINE and run.lane.authority == "social"
        if not social and refused_by(tool, [grant(each, powers) for each in heard]) is None:
            return None
        alone = len({each.actor.actor_id for each in heard}) <= 1
        return WITHHELD.format(who=ALONE if alone else SEVERAL, tool=tool)
