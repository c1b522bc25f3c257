"""Keeps the bridge from asking Discord on and on what it refuses, and says so. Source: C49."""

from datetime import datetime

from clankie_bridge.core.breaker import Breaker
from clankie_bridge.core.pace import ZERO
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Log
from clankie_settings.clock import Clock
from clankie_settings.heartbeat import CODES

HELD_BACK = "held_back"
"""Why there was no answer: nothing was asked."""

REMEDY = (
    "Discord refuses too many requests, and bans an address that goes on; nothing is sent for a while. Look for its "
    f"codes further up: {CODES}"
)


class Caution:
    """Counts what Discord refuses; while it is too much, nothing is asked."""

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self._breaker = Breaker()
        self._held = False

    @property
    def held_until(self) -> datetime | None:
        """Until when nothing is asked; None where asking is safe."""
        wait = self._breaker.wait(self._clock.elapsed())
        return self._clock.now() + wait if wait > ZERO else None

    def check(self) -> None:
        """Go on only where asking is safe.

        Raises:
            DiscordAway: It is not; whoever asks tries again later.
        """
        if self._breaker.wait(self._clock.elapsed()) > ZERO:
            raise DiscordAway(HELD_BACK)
        if self._held:
            self._held = False
            self._log.info("discord_asked_again")

    def judge(self, status: int, scope: str | None) -> None:
        """Take note of an answer; ``scope`` says whose limit a 429 is about."""
        now = self._clock.elapsed()
        self._breaker = self._breaker.after(status, now, shared=scope == "shared")
        wait = self._breaker.wait(now)
        if wait > ZERO and not self._held:
            self._held = True
            self._log.error("discord_held_back", wait_s=round(wait.total_seconds()), remedy=REMEDY)
