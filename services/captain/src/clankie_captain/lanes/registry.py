"""Which runs are live in this captain: one runner for each, no more than so many at a time. Source: LANE-17."""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Protocol

import structlog

from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import Ended, LiveRun
from clankie_captain.lanes.waiters import Waiters
from clankie_settings.ids import RunId

UNWANTED: Final = 256
"""Runs that were cancelled before they came here, or after they had gone; the oldest is forgotten beyond it."""

_log = structlog.get_logger()


class Runner(Protocol):
    """What works on one live run until its lane is free again."""

    def cancel(self) -> None:
        """End it."""
        ...

    async def run(self) -> Ended | None:
        """What each delivery got and what follows, or None where another owner has taken the lane."""
        ...


class Registry:
    """The runners of this captain.

    A run that finds no slot is live in its lane already, so that what arrives meanwhile joins it; its first request
    waits until a slot is free, oldest first.
    """

    def __init__(self, make: Callable[[LiveRun], Runner], settlements: Waiters[Settled], most: int) -> None:
        self._make = make
        self._settlements = settlements
        self._free = most
        self._waiting: deque[LiveRun] = deque()
        self._runners: dict[RunId, Runner] = {}
        self._tasks: dict[RunId, asyncio.Task[None]] = {}
        self._unwanted: deque[RunId] = deque(maxlen=UNWANTED)
        self._closed = False

    @property
    def live(self) -> int:
        """Runs that have a slot."""
        return len(self._tasks)

    def start(self, live: LiveRun) -> None:
        """Run it now, or as soon as a slot is free."""
        if self._closed:
            return
        if self._free > 0:
            self._begin(live)
        else:
            self._waiting.append(live)

    def cancel(self, run: RunId) -> bool:
        """End a run as cancelled; False where it is not one of this captain's live ones.

        One that was started in the store and is not here yet ends as soon as it comes.
        """
        waiting = next((live for live in self._waiting if live.run == run), None)
        if waiting is not None:
            # It only has to settle, so it does not wait for a slot.
            self._waiting.remove(waiting)
            self._begin(waiting)
        runner = self._runners.get(run)
        if runner is not None:
            runner.cancel()
        else:
            self._unwanted.append(run)
        return runner is not None

    def close(self) -> None:
        """Begin nothing any more; what is not begun stays live in the store, for the next captain."""
        self._closed = True
        self._waiting.clear()

    async def finish(self, within: timedelta) -> int:
        """Wait for what runs to end, so long at most; how many runs are left. Source: DUR-5."""
        self.close()
        tasks = tuple(self._tasks.values())
        if not tasks:
            return 0
        _, left = await asyncio.wait(tasks, timeout=within.total_seconds())
        return len(left)

    async def stop(self) -> None:
        """Cancel what runs; its rows stay live for the next captain to recover."""
        self.close()
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _begin(self, live: LiveRun) -> None:
        self._free -= 1
        self._runners[live.run] = runner = self._make(live)
        if live.run in self._unwanted:
            runner.cancel()
        self._tasks[live.run] = asyncio.create_task(self._run(live, runner), name=live.run)

    async def _run(self, live: LiveRun, runner: Runner) -> None:
        follows: tuple[LiveRun | None, ...] = ()
        try:
            ended = await runner.run()
            if ended is not None:
                follows = (ended.follows, ended.reported)
                for presence, result in ended.results:
                    self._settlements.give((presence, result.delivery_id), result)
        except Exception as error:  # noqa: BLE001 - one lane's fault never ends another's
            _log.error("run.lost", lane=live.lane.id, run=live.run, cause=type(error).__name__)
        finally:
            del self._tasks[live.run], self._runners[live.run]
            self._free += 1
            if not self._closed:
                self._waiting.extend(each for each in follows if each is not None)
            while self._free > 0 and self._waiting:
                self._begin(self._waiting.popleft())
