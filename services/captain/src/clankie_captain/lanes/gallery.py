"""Pictures between a delivery's acceptance and its run. Source: IMG-7, LANE-16."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import structlog

from clankie_captain.core.pictures import Pictures, all_unseen, sources
from clankie_captain.core.turns import Awaiting, LiveRun
from clankie_captain.lanes.patience import kept
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.ports import PictureLog, PictureRows, Resolver, Shelf
from clankie_settings import bounds
from clankie_settings.clock import Clock
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.trigger import Trigger

_log = structlog.get_logger()


class Gallery:
    """Fetches pictures as soon as their delivery is on disk, and lets a run wait for them a while.

    The result is stored with the delivery; a captain that dies in between is followed by one that fetches again.
    """

    def __init__(
        self,
        resolver: Resolver,
        shelf: Shelf,
        rows: PictureRows,
        log: PictureLog,
        clock: Clock,
        hold: timedelta = bounds.STEER_HOLD,
    ) -> None:
        self._resolver = resolver
        self._hold = hold
        self._rows = rows
        self._shelf = shelf
        self._log = log
        self._clock = clock
        self._ready = Waiters[Pictures]()
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, presence: PresenceId, delivery: DeliveryId, trigger: Trigger) -> None:
        """Fetch the pictures of a delivery that was just accepted, meanwhile."""
        if sources(trigger):
            self._start(Awaiting(presence, delivery, trigger))

    async def recover(self) -> int:
        """Fetch again what an earlier captain had not; how many deliveries there are."""
        found = await self._rows.open()
        for each in found:
            self._start(each)
        return len(found)

    async def wait(self, run: LiveRun) -> None:
        """Wait until the words that a run is about to read have their pictures, and no longer than may be.

        Source: LANE-16.
        """
        waited = await self._rows.unready(run)
        try:
            async with asyncio.timeout(self._hold.total_seconds()):
                for each in waited:
                    with self._ready.ticket((each.presence, each.delivery)) as ticket:
                        # Once more, since it may have come before the ticket was there.
                        if each in await self._rows.unready(run):
                            await ticket.value(None)
        except TimeoutError:
            _log.warning("pictures.late", run=run.run)
            # Whatever a clock says meanwhile, these words are held no longer.
            for each in set(waited) & {*await self._rows.unready(run)}:
                await self._rows.show(each.presence, each.delivery, all_unseen(each.trigger, "timed_out"))

    async def picture(self, digest: str) -> bytes | None:
        """The bytes of a stored picture; None where they are gone."""
        return await self._shelf.get(digest)

    async def unsee(self, run: LiveRun, gone: Sequence[str]) -> None:
        """Let words stand where pictures stood in the lane's history."""
        await self._rows.unsee(run, gone)

    async def stop(self) -> None:
        """Leave what is under way to the next captain."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def _start(self, awaiting: Awaiting) -> None:
        task = asyncio.create_task(self._show(awaiting), name=f"pictures-{awaiting.delivery}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _show(self, awaiting: Awaiting) -> None:
        try:
            pictures = await self._resolved(awaiting)
            await kept(lambda: self._rows.show(awaiting.presence, awaiting.delivery, pictures), self._clock)
        except Exception as error:  # noqa: BLE001 - a run waits no longer than it may, and the next captain tries again
            _log.error("pictures.unstored", cause=type(error).__name__)
            return
        self._log.resolved(pictures)
        self._ready.give((awaiting.presence, awaiting.delivery), pictures)

    async def _resolved(self, awaiting: Awaiting) -> Pictures:
        trigger = awaiting.trigger
        if await self._rows.carried(awaiting.presence, trigger):
            trigger = trigger.model_copy(update={"context_visual": None})
        try:
            return await self._resolver.resolve(trigger)
        except Exception as error:  # noqa: BLE001 - a fault here costs the pictures; the words must be heard
            _log.error("pictures.lost", cause=type(error).__name__)
            return all_unseen(trigger, "unavailable")
