"""Pages of a room's history, read until Discord gives them, within its limits. Source: OUT-1, ING-9."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final, Literal

from clankie_bridge.core.message import Message
from clankie_bridge.core.pace import Backoff
from clankie_bridge.discord.normalize import message as normalized
from clankie_bridge.discord.payloads import objects
from clankie_bridge.discord.rest import Rest
from clankie_bridge.discord.send import Gate, is_final
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Log
from clankie_settings.clock import Clock

PAGE: Final = 100
"""Messages of a page at most. Source: Discord's documentation."""

_BETWEEN_ATTEMPTS: Final = Backoff(timedelta(milliseconds=500), timedelta(seconds=15))


@dataclass(frozen=True, slots=True)
class Page:
    """Some messages of a room, oldest first; ``full`` says that there may be more in the same direction."""

    messages: tuple[Message, ...]
    full: bool


class DiscordPages:
    """Reads pages; unlike the backlog of a turn, what these are read for cannot be done without them."""

    def __init__(self, rest: Rest, gate: Gate, clock: Clock, jitter: Callable[[], float], log: Log) -> None:
        self._rest = rest
        self._gate = gate
        self._clock = clock
        self._jitter = jitter
        self._log = log

    async def read(
        self,
        channel_id: str,
        guild_id: str | None,
        side: Literal["after", "before"],
        message_id: str,
        attempts: int | None = None,
    ) -> Page | None:
        """The messages next to one, oldest first; None where they may not be read, or not in so many attempts."""
        attempt = 0
        while attempts is None or attempt < attempts:
            wait = _BETWEEN_ATTEMPTS.wait(attempt, self._jitter())
            await self._gate.read()
            try:
                answer = await self._rest.get(
                    f"/channels/{channel_id}/messages", {"limit": str(PAGE), side: message_id}
                )
            except DiscordAway as away:
                self._log.warning("history_unavailable", room=channel_id, code=away.cause)
            else:
                if answer.ok:
                    found = objects(answer.body)
                    read = (normalized(each, guild_id) for each in found)
                    in_order = sorted((each for each in read if each is not None), key=lambda each: int(each.id))
                    return Page(tuple(in_order), full=len(found) >= PAGE)
                self._log.warning("history_unavailable", room=channel_id, code=f"status_{answer.status}")
                if is_final(answer):
                    return None
                if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                    wait = timedelta(seconds=answer.wait_s)
                    self._gate.hold_reads(answer)
            await self._clock.sleep(wait)
            attempt += 1
        return None
