"""Does what slash commands ask, once each. Source: OPS-5."""

from clankie_captain.core.commands import Deed, deed
from clankie_captain.core.turns import LaneView
from clankie_captain.lanes.grants import Grants
from clankie_captain.lanes.registry import Registry
from clankie_captain.ports import Control
from clankie_settings.clock import Clock
from clankie_settings.ids import PresenceId
from clankie_settings.wire.command import Command


class Commands:
    """The desk for commands."""

    def __init__(self, control: Control, registry: Registry, grants: Grants, owner: str | None, clock: Clock) -> None:
        self._control = control
        self._registry = registry
        self._grants = grants
        self._owner = owner
        self._clock = clock

    async def do(self, presence: PresenceId, command: Command) -> str:
        """Do a command, and say what only its giver is shown; the same one again is not done again."""
        now = self._clock.now()

        def decide(view: LaneView) -> Deed:
            return deed(command, view, self._owner, now)

        lane = await self._grants.home(command.room, command.actor.actor_id)
        done = await self._control.carry_out(presence, command, lane, now, decide)
        for run in done.stops:
            self._registry.cancel(run)
        return done.answer
