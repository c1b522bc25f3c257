"""What was said in a room before, from Discord's history. Source: CTX-1, C62."""

import asyncio
from http import HTTPStatus
from typing import Final

from clankie_bridge.core.message import Message
from clankie_bridge.discord.normalize import message as normalized
from clankie_bridge.discord.payloads import objects, snowflake
from clankie_bridge.discord.rest import Answer, Rest
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Log
from clankie_settings import bounds

_PATIENCE_S: Final = 5.0
_FORBIDDEN: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})


class DiscordHistory:
    """Reads the history of rooms; what cannot be had costs the backlog and nothing else."""

    def __init__(self, rest: Rest, log: Log) -> None:
        self._rest = rest
        self._log = log

    async def before(self, channel_id: str, guild_id: str | None, message_id: str) -> tuple[Message, ...] | None:
        """Up to twelve messages before this one, oldest first; empty where they may not be read.

        None where Discord gave no answer now.
        """
        query = {"limit": str(bounds.CONTEXT_MESSAGES), "before": message_id}
        answer = await self._get(f"/channels/{channel_id}/messages", query)
        if answer is None:
            return None
        found = (normalized(each, guild_id) for each in objects(answer.body))
        return tuple(sorted((each for each in found if each is not None), key=lambda each: int(each.id)))

    async def message(self, channel_id: str, guild_id: str | None, message_id: str) -> Message | None:
        """One message, or None where it cannot be had."""
        answer = await self._get(f"/channels/{channel_id}/messages/{message_id}")
        return normalized(answer.fields, guild_id) if answer is not None and answer.ok else None

    async def parent(self, channel_id: str) -> str | None:
        """The channel that a thread hangs on, or None where it cannot be had."""
        answer = await self._get(f"/channels/{channel_id}")
        return snowflake(answer.fields.get("parent_id")) if answer is not None and answer.ok else None

    async def _get(self, path: str, query: dict[str, str] | None = None) -> Answer | None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answer = await self._rest.get(path, query)
        except TimeoutError:
            self._log.warning("history_unavailable", code="timeout")
            return None
        except DiscordAway as away:
            self._log.warning("history_unavailable", code=away.cause)
            return None
        if answer.ok or answer.status in _FORBIDDEN:
            return answer
        self._log.warning("history_unavailable", code=f"status_{answer.status}")
        return None
