"""How a captain stops: nothing new, a stated time for what runs, the rest for the next one. Source: DUR-5."""

import asyncio
from datetime import datetime, timedelta
from typing import Final

import structlog

from clankie_captain.core.settlement import Settled
from clankie_captain.lanes.desk import Desk
from clankie_captain.lanes.registry import Registry
from clankie_captain.lanes.signals import Signals
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.ports import Deliveries, Runs
from clankie_settings import bounds
from clankie_settings.clock import Clock
from clankie_settings.wire.receipt import ActionReceipt

LOOK_EVERY: Final = timedelta(milliseconds=100)
"""How often a stopping captain looks whether the last replies have their receipts."""

FRESH: Final = timedelta(seconds=2)
"""A reply that settled so shortly before the stop is on its way into its room; older ones wait for the next start."""

_log = structlog.get_logger()


class Draining:
    """One captain's stop, step by step; each step may come without the ones before it."""

    def __init__(
        self,
        desk: Desk,
        registry: Registry,
        deliveries: Deliveries,
        runs: Runs,
        settlements: Waiters[Settled],
        receipts: Waiters[ActionReceipt],
        signals: Signals,
        within: timedelta,
        clock: Clock,
    ) -> None:
        self._desk = desk
        self._registry = registry
        self._deliveries = deliveries
        self._runs = runs
        self._settlements = settlements
        self._receipts = receipts
        self._signals = signals
        self._within = within
        self._clock = clock

    def begin(self) -> None:
        """Take no new delivery and begin no run; who waits goes on waiting, and rooms are still served."""
        self._desk.close()
        self._registry.close()

    async def finish(self) -> None:
        """Let what runs end, for the stated time at most, and what it said reach its room."""
        self.begin()
        fresh = self._clock.now() - FRESH
        left = await self._registry.finish(self._within)
        if left:
            _log.warning("captain.stopping", left=left, waited_s=self._within.total_seconds())
        try:
            async with asyncio.timeout(bounds.DRAIN_TELLING.total_seconds()):
                while await self._owing(fresh):
                    await self._clock.sleep(LOOK_EVERY)
        except TimeoutError:
            _log.info("captain.receipts_outstanding")

    def let_go(self) -> None:
        """Take nothing new and send everybody away who waits, so that the server can stop."""
        self.begin()
        self._settlements.drain()
        self._receipts.drain()
        self._signals.close()

    async def leave(self) -> None:
        """End what still runs; its rows stay for the next captain, as the same attempt: nothing is the run's fault."""
        await self._registry.stop()
        try:
            left = await self._runs.leave()
        except Exception as error:  # noqa: BLE001 - whatever the store's trouble is, the captain stops
            _log.warning("captain.unleft", cause=type(error).__name__)
        else:
            if left:
                _log.info("captain.left", runs=left)

    async def _owing(self, since: datetime) -> int:
        try:
            return await self._deliveries.owing(since)
        except Exception as error:  # noqa: BLE001 - whatever the store's trouble is, the captain stops
            _log.warning("captain.owing_unknown", cause=type(error).__name__)
            return 0
