"""Which runs are live in this captain: one runner for each, no more than so many at a time. Source: LANE-17."""

import asyncio
from collections import deque
from collections.abc import Callable

import structlog

from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import LiveRun
from clankie_captain.lanes.runner import Runner
from clankie_captain.lanes.waiters import Waiters
from clankie_settings.ids import RunId

_log = structlog.get_logger()


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
        self._tasks: dict[RunId, asyncio.Task[None]] = {}
        self._stopped = False

    @property
    def live(self) -> int:
        """Runs that have a slot."""
        return len(self._tasks)

    def start(self, live: LiveRun) -> None:
        """Run it now, or as soon as a slot is free."""
        if self._stopped:
            return
        if self._free:
            self._free -= 1
            self._tasks[live.run] = asyncio.create_task(self._run(live), name=live.run)
        else:
            self._waiting.append(live)

    async def stop(self) -> None:
        """Cancel what runs; its rows stay live for the next captain to recover."""
        self._stopped = True
        self._waiting.clear()
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, live: LiveRun) -> None:
        follows: LiveRun | None = None
        try:
            ended = await self._make(live).run()
            if ended is not None:
                follows = ended.follows
                for presence, result in ended.results:
                    self._settlements.give((presence, result.delivery_id), result)
        except Exception as error:  # noqa: BLE001 - one lane's fault never ends another's
            _log.error("run.lost", lane=live.lane.id, run=live.run, cause=type(error).__name__)
        finally:
            del self._tasks[live.run]
            self._free += 1
            if follows is not None:
                self._waiting.append(follows)
            while self._free and self._waiting and not self._stopped:
                self.start(self._waiting.popleft())
