"""Slash commands on their way to the captain and back, beside the line of messages. Source: OPS-5."""

import asyncio
from typing import Final

from clankie_bridge.core import admission
from clankie_bridge.core.admission import Policy
from clankie_bridge.core.commands import AWAY, NOT_DONE, NOT_HERE, Invocation
from clankie_bridge.core.handover import actor, place_of_command
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.discord.directory import Directory
from clankie_bridge.discord.gateway import Tap
from clankie_bridge.discord.interactions import invocation
from clankie_bridge.errors import CaptainAway, CaptainError, CaptainRefuses
from clankie_bridge.ports import Captain, Log, Responses
from clankie_settings.wire.command import Command

PATIENCE_S: Final = 10.0
"""Seconds that the captain gets for a command, in two attempts."""


class Commands:
    """Promises an answer at once, asks the captain, and keeps the promise."""

    def __init__(
        self,
        *,
        tap: Tap,
        directory: Directory,
        policy: Policy,
        captain: Captain,
        responses: Responses,
        tasks: Tasks,
        log: Log,
    ) -> None:
        self._tap = tap
        self._directory = directory
        self._policy = policy
        self._captain = captain
        self._responses = responses
        self._tasks = tasks
        self._log = log

    async def run(self) -> None:
        """Take commands for as long as the bridge lives."""
        while True:
            given = invocation(await self._tap.next_interaction())
            if given is not None:
                self._tasks.spawn(self._serve(given), "command")

    async def _serve(self, given: Invocation) -> None:
        refusal = admission.judge_command(given, self._policy, self._parent(given))
        if refusal is not None:
            self._log.info("command_refused", command=given.name, room=given.channel_id, reason=refusal.value)
            await self._responses.answer(given, NOT_HERE)
        elif await self._responses.promise(given):
            await self._responses.keep(given, await self._answer(given))

    async def _answer(self, given: Invocation) -> str:
        place = self._directory.place(given.guild_id, given.channel_id)
        command = Command(
            command_id=given.id,
            name=given.name,
            room=place_of_command(given, place, self._parent(given)),
            actor=actor(given.author),
        )
        try:
            async with asyncio.timeout(PATIENCE_S):
                try:
                    answer = await self._captain.command(command)
                except CaptainAway:
                    # Once more: a restart drops what was kept alive, and the command's id makes it one command.
                    answer = await self._captain.command(command)
        except (CaptainAway, CaptainRefuses, TimeoutError):
            self._log.warning("command_unanswered", command=given.name, room=given.channel_id)
            return AWAY
        except CaptainError as error:
            self._log.warning("command_not_taken", command=given.name, kind=type(error).__name__)
            return NOT_DONE
        self._log.info("command", command=given.name, room=given.channel_id)
        return answer

    def _parent(self, given: Invocation) -> str | None:
        return given.parent_id or self._directory.parent(given.guild_id, given.channel_id)
