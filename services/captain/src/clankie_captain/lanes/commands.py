"""Does what slash commands ask, once each. Source: OPS-5."""

from typing import Final, assert_never

from clankie_captain.core.commands import QUIET_FOR, Asker, RoomState, permitted, refusal, status, usage
from clankie_captain.core.lane import LaneKey, Trust, room_lane
from clankie_captain.core.turns import LaneView
from clankie_captain.lanes.registry import Registry
from clankie_captain.ports import Control
from clankie_settings.clock import Clock
from clankie_settings.ids import PresenceId
from clankie_settings.wire.command import Command

STOPPED: Final = "Stopped."
NOTHING: Final = "Nothing is running here."
RENEWED: Final = "This room begins anew: I have put what was said here behind me."
BUSY: Final = "Something is running here. Stop it first, or wait."
QUIET: Final = "I am quiet here for an hour. /quiet again ends it."
LOUD: Final = "I am back."


class Commands:
    """The desk for commands."""

    def __init__(self, control: Control, registry: Registry, trust: Trust, owner: str | None, clock: Clock) -> None:
        self._control = control
        self._registry = registry
        self._trust = trust
        self._owner = owner
        self._clock = clock

    async def do(self, presence: PresenceId, command: Command) -> str:
        """Do a command, and say what only its giver is shown; the same one again is not done again."""
        done = await self._control.answer(presence, command)
        if done is not None:
            return done
        lane = room_lane(command.room, command.actor.actor_id, self._trust)
        view = await self._control.view(lane, self._clock.now())
        answer = await self._do(command, lane, view)
        await self._control.answered(presence, command, answer, self._clock.now())
        return answer

    async def _do(self, command: Command, lane: LaneKey, view: LaneView) -> str:
        actor = command.actor.actor_id
        asker = Asker(actor == self._owner, command.room.guild_id is None, actor in view.speakers)
        if not permitted(command.name, asker):
            return refusal(command.name)
        match command.name:
            case "status":
                return status(self._state(view))
            case "usage":
                return usage(self._state(view))
            case "stop":
                return await self._stop(lane)
            case "new":
                return RENEWED if await self._control.renew(lane) else BUSY
            case "quiet":
                now = self._clock.now()
                await self._control.quiet(lane, None if view.quiet else now + QUIET_FOR, now)
                return LOUD if view.quiet else QUIET
            case _:  # pragma: no cover
                assert_never(command.name)

    async def _stop(self, lane: LaneKey) -> str:
        run = await self._control.stop(lane)
        return STOPPED if run is not None and self._registry.cancel(run) else NOTHING

    def _state(self, view: LaneView) -> RoomState:
        running = None
        if view.started_at is not None:
            running = max(0, round((self._clock.now() - view.started_at).total_seconds()))
        return RoomState(running, view.waiting, view.quiet, view.tokens)
