"""The typing indicator. Source: ROOM-2, C63."""

import asyncio
from typing import Final

from clankie_bridge.discord.rest import Rest
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Log

_PATIENCE_S: Final = 5.0


class DiscordIndicator:
    """Lights the indicator once per call; Discord clears it after ten seconds, and there is no call to stop it."""

    def __init__(self, rest: Rest, log: Log) -> None:
        self._rest = rest
        self._log = log

    async def show(self, channel_id: str) -> None:
        """One attempt, five seconds at most; a failure costs the indicator and nothing else."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answer = await self._rest.post(f"/channels/{channel_id}/typing")
        except DiscordAway as away:
            self._log.info("typing_skipped", room=channel_id, code=away.cause)
        except TimeoutError:
            self._log.info("typing_skipped", room=channel_id, code="timeout")
        else:
            if not answer.ok:
                self._log.info("typing_skipped", room=channel_id, code=f"status_{answer.status}")
