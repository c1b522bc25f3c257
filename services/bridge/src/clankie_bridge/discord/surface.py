"""What he puts into a room besides words: cards that come and go, and reactions. Source: ROOM-4."""

import re
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from clankie_bridge.core.pace import Backoff
from clankie_bridge.discord.payloads import Json, snowflake
from clankie_bridge.discord.rest import Answer, Rest
from clankie_bridge.discord.send import Gate, is_final, refusal_code
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Done, Log, Shown
from clankie_settings.clock import Clock

ATTEMPTS: Final = 4
"""How often something that nobody waits for is tried."""

_CUSTOM_EMOJI: Final = re.compile(r"<a?:(\w+:\d+)>")
_BETWEEN: Final = Backoff(timedelta(milliseconds=500), timedelta(seconds=8))
_LONGEST_WAIT: Final = timedelta(seconds=30)
_SUPPRESS_NOTIFICATIONS: Final = 1 << 12
_QUIET: Final[Json] = {"parse": [], "replied_user": False}


class DiscordSurface:
    """Cards and reactions; a failure costs what it is about and nothing else."""

    def __init__(self, rest: Rest, gate: Gate, clock: Clock, jitter: Callable[[], float], log: Log) -> None:
        self._rest = rest
        self._gate = gate
        self._clock = clock
        self._jitter = jitter
        self._log = log

    async def show(self, channel_id: str, text: str, nonce: str) -> Shown:
        """Post a card without a notification; doubtful where the last of a few attempts got no answer either.

        Source: ROOM-4, ROOM-6.
        """
        payload: Json = {
            "content": text,
            "flags": _SUPPRESS_NOTIFICATIONS,
            "allowed_mentions": _QUIET,
            "nonce": nonce,
            "enforce_nonce": True,
        }
        await self._gate.passed(channel_id)
        answer = await self._tried("POST", channel_id, f"/channels/{channel_id}/messages", payload)
        if answer is None:
            return Shown(None, doubtful=True)
        return Shown(snowflake(answer.fields.get("id")) if answer.ok else None)

    async def change(self, channel_id: str, message_id: str, text: str) -> bool:
        """Change a card, once; whether it is still there."""
        payload: Json = {"content": text, "allowed_mentions": _QUIET}
        try:
            answer = await self._rest.patch(f"/channels/{channel_id}/messages/{message_id}", payload)
        except DiscordAway:
            return True
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            await self._clock.sleep(min(timedelta(seconds=answer.wait_s), _LONGEST_WAIT))
        return answer.status != HTTPStatus.NOT_FOUND

    async def remove(self, channel_id: str, message_id: str) -> bool:
        """Take a card away; one that is gone is gone. False where a few attempts got no final answer."""
        return await self._tried("DELETE", channel_id, f"/channels/{channel_id}/messages/{message_id}") is not None

    async def react(self, channel_id: str, message_id: str, emoji: str) -> Done:
        """Put an emoji on a message: a Unicode one, or a custom one as ``name:id``."""
        custom = _CUSTOM_EMOJI.fullmatch(emoji)
        named = quote(custom[1] if custom is not None else emoji, safe="")
        path = f"/channels/{channel_id}/messages/{message_id}/reactions/{named}/@me"
        answer = await self._tried("PUT", channel_id, path)
        if answer is None:
            return Done(code="discord_away")
        return Done() if answer.ok else Done(code=refusal_code(answer))

    async def _tried(self, method: str, channel_id: str, path: str, json: Json | None = None) -> Answer | None:
        """The final answer, or None where there was none in a few attempts."""
        for attempt in range(ATTEMPTS):
            wait = _BETWEEN.wait(attempt, self._jitter())
            try:
                answer = await self._rest.call(method, path, json)
            except DiscordAway as away:
                self._log.info("surface_failed", room=channel_id, code=away.cause)
            else:
                if answer.ok or is_final(answer):
                    return answer
                if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                    wait = min(timedelta(seconds=answer.wait_s), _LONGEST_WAIT)
                self._log.info("surface_failed", room=channel_id, code=refusal_code(answer))
            await self._clock.sleep(wait)
        return None
