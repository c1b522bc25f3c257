"""Guards the task of a run: aborts it when it gives no sign of life. Source: FAIL-1, FAIL-2."""

import asyncio
from dataclasses import replace
from typing import TypeVar

from clankie_captain.core import stall
from clankie_settings import bounds
from clankie_settings.clock import Clock

T = TypeVar("T")


class StalledError(Exception):
    """The guarded task gave no sign of life within its bound."""


class CancelledRunError(Exception):
    """Somebody asked for the guarded task to end."""


class Watchdog:
    """Watches one run. Its methods may be called from anywhere in the event loop."""

    def __init__(self, clock: Clock, limits: stall.Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._watch = stall.watch(clock.elapsed())
        self._cancelling = asyncio.Event()

    def cancel(self) -> None:
        """End the guarded task, now or as soon as there is one."""
        self._cancelling.set()

    def event(self) -> None:
        """The run gave a sign of life."""
        self._watch = replace(self._watch, event=self._clock.elapsed())

    def received(self) -> None:
        """Bytes came without an event."""
        self._watch = replace(self._watch, received=self._clock.elapsed())

    async def guard(self, task: "asyncio.Task[T]") -> T:
        """The task's outcome.

        A task that is aborted gets a moment to unwind; one that ignores its cancellation is left behind, so that it
        never holds its lane.

        Raises:
            StalledError: It gave no sign of life and was aborted.
            CancelledRunError: Somebody asked for its end, and it was aborted.
        """
        self._watch = stall.watch(self._clock.elapsed())
        while True:
            if await self._within_tick(task):
                return task.result()
            if self._cancelling.is_set():
                await self._abort(task)
                raise CancelledRunError
            self._watch, verdict = stall.tick(self._watch, self._clock.elapsed(), self._limits)
            if verdict == "stalled":
                await self._abort(task)
                raise StalledError

    async def _within_tick(self, task: "asyncio.Task[T]") -> bool:
        ticker = asyncio.ensure_future(self._clock.sleep(self._limits.tick))
        cancelling = asyncio.ensure_future(self._cancelling.wait())
        try:
            await asyncio.wait({task, ticker, cancelling}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # The captain stops: the run's own task goes with its guard, and its rows stay for the next captain.
            task.cancel()
            await asyncio.wait({task}, timeout=bounds.ABORT_GRACE.total_seconds())
            raise
        finally:
            ticker.cancel()
            cancelling.cancel()
        return task.done()

    async def _abort(self, task: "asyncio.Task[T]") -> None:
        task.cancel()
        await asyncio.wait({task}, timeout=bounds.ABORT_GRACE.total_seconds())
        task.add_done_callback(_consume)


def _consume(task: "asyncio.Task[T]") -> None:
    # What an aborted task still says concerns nobody; asking for it keeps it from being reported as lost.
    if not task.cancelled():
        task.exception()
