"""Trying again at the captain's door for as long as it takes: a captain that is down costs delay and nothing else."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeVar

from clankie_bridge.core.pace import Backoff
from clankie_bridge.errors import CaptainAway, CaptainRefuses
from clankie_bridge.ports import Log
from clankie_settings.clock import Clock

AWAY: Final = Backoff(timedelta(milliseconds=100), timedelta(seconds=5))
"""Between attempts at a captain that cannot be reached. Source: C07."""

REFUSED: Final = Backoff(timedelta(seconds=5), timedelta(seconds=30))
"""Between attempts at a captain that refuses our token or our wire version: somebody has to act first."""

UNREACHED: Final = frozenset({"no_connection", "timeout", "connection_lost", "unreadable_answer"})
"""Causes of a captain that did not answer at all; every other is a captain that answers, and cannot."""

TROUBLE_EVERY: Final = timedelta(minutes=1)
"""How often it is said that the captain answers and cannot, such as on a full disk: other calls succeed between."""

Done = TypeVar("Done")


class Patience:
    """Repeats an attempt until the captain does it or says that it never will."""

    def __init__(self, clock: Clock, jitter: Callable[[], float], log: Log) -> None:
        self._clock = clock
        self._jitter = jitter
        self._log = log
        self._said: str | None = None
        self._trouble_said: timedelta | None = None

    async def until_done(self, attempt: Callable[[], Awaitable[Done]]) -> Done:
        """What the first successful attempt gave.

        Raises:
            CaptainError: A leaf that no repetition changes.
        """
        number = 0
        while True:
            try:
                done = await attempt()
            except (CaptainAway, CaptainRefuses) as error:
                await self.pause(error, number)
                number += 1
            else:
                self.heard()
                return done

    async def pause(self, error: CaptainAway | CaptainRefuses, attempt: int) -> None:
        """Say once what is wrong, and wait before the attempt after the one with this number (from 0)."""
        if isinstance(error, CaptainRefuses):
            self.told("captain_refuses", str(error))
            await self._clock.sleep(REFUSED.wait(attempt, self._jitter()))
        else:
            # One missed attempt is a restart or a dropped keep-alive; two are worth a line.
            if attempt > 0 and error.cause in UNREACHED:
                self.told("captain_away", error.cause)
            elif attempt > 0:
                self._trouble(error.cause)
            await self._clock.sleep(AWAY.wait(attempt, self._jitter()))

    def heard(self) -> None:
        """The captain answered."""
        if self._said is not None:
            self._said = None
            self._log.info("captain_back")

    def told(self, event: str, reason: str) -> None:
        """Say what is wrong, once for as long as it lasts."""
        # Every room meets the same closed door: one line for all of them.
        if self._said != event:
            self._said = event
            self._log.warning(event, reason=reason)

    def _trouble(self, reason: str) -> None:
        now = self._clock.elapsed()
        if self._trouble_said is None or now - self._trouble_said >= TROUBLE_EVERY:
            self._trouble_said = now
            self._log.warning("captain_in_trouble", reason=reason)
