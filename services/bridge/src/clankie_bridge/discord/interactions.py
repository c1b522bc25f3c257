"""Uses of slash commands: read from raw payloads, answered so that only their giver sees it. Source: OPS-5."""

import asyncio
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from clankie_bridge.core.commands import Invocation, command_name
from clankie_bridge.core.message import THREAD_TYPES
from clankie_bridge.discord.normalize import author
from clankie_bridge.discord.payloads import Json, json_object, number, snowflake, text
from clankie_bridge.discord.rest import Rest
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Log
from clankie_settings.clock import Clock

EPHEMERAL: Final = 1 << 6
"""Message flag: only the giver of the command sees it."""

PROMISE_WITHIN_S: Final = 1.3
"""Seconds for one of two attempts at a promise: Discord waits three. Source: OPS-5."""

_COMMAND: Final = 2
_ANSWER, _PROMISE = 4, 5
_ALREADY_ANSWERED: Final = 40_060
_ATTEMPTS: Final = 4
_BETWEEN: Final = timedelta(seconds=1)
_QUIET: Final[Json] = {"parse": []}


def invocation(payload: Json) -> Invocation | None:
    """The use of a command that an INTERACTION_CREATE event brings; None where it is no command of ours."""
    data, channel = json_object(payload.get("data")), json_object(payload.get("channel"))
    member = json_object(payload.get("member"))
    name = command_name(text(data.get("name")))
    who = author(json_object(member.get("user")) or json_object(payload.get("user")), member)
    interaction_id, application_id = snowflake(payload.get("id")), snowflake(payload.get("application_id"))
    channel_id = snowflake(payload.get("channel_id")) or snowflake(channel.get("id"))
    token = text(payload.get("token"))
    if payload.get("type") != _COMMAND or name is None or who is None:
        return None
    if interaction_id is None or application_id is None or channel_id is None or not token:
        return None
    in_thread = number(channel.get("type")) in THREAD_TYPES
    parent_id = snowflake(channel.get("parent_id")) if in_thread else None
    guild_id = snowflake(payload.get("guild_id"))
    return Invocation(interaction_id, application_id, token, name, who, channel_id, guild_id, parent_id)


class DiscordResponses:
    """Answers to commands; all of them are seen by the giver alone."""

    def __init__(self, rest: Rest, clock: Clock, log: Log) -> None:
        self._rest = rest
        self._clock = clock
        self._log = log

    async def promise(self, invocation: Invocation) -> bool:
        """Promise an answer, within the three seconds that Discord gives; whether one is still wanted."""
        return await self._called_back(invocation, {"type": _PROMISE, "data": {"flags": EPHEMERAL}})

    async def answer(self, invocation: Invocation, words: str) -> None:
        """Answer at once."""
        data: Json = {"content": words, "flags": EPHEMERAL, "allowed_mentions": _QUIET}
        await self._called_back(invocation, {"type": _ANSWER, "data": data})

    async def keep(self, invocation: Invocation, words: str) -> None:
        """Give the answer that was promised."""
        path = f"/webhooks/{invocation.application_id}/{invocation.token}/messages/@original"
        for _ in range(_ATTEMPTS):
            try:
                answer = await self._rest.patch(path, {"content": words, "allowed_mentions": _QUIET})
            except DiscordAway as away:
                self._log.warning("command_answer_failed", code=away.cause)
            else:
                refused = not answer.ok and answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
                if answer.ok or (refused and answer.status != HTTPStatus.TOO_MANY_REQUESTS):
                    return
                self._log.warning("command_answer_failed", code=f"status_{answer.status}")
            await self._clock.sleep(_BETWEEN)

    async def _called_back(self, invocation: Invocation, payload: Json) -> bool:
        path = f"/interactions/{invocation.id}/{invocation.token}/callback"
        for _ in range(2):
            try:
                async with asyncio.timeout(PROMISE_WITHIN_S):
                    answer = await self._rest.post(path, payload)
            except (DiscordAway, TimeoutError):
                self._log.warning("command_answer_failed", code="no_answer")
                continue
            # Once more after a lost answer, and it had been done.
            if answer.ok or answer.code == _ALREADY_ANSWERED:
                return True
            self._log.warning("command_answer_failed", code=f"status_{answer.status}")
        return False
