"""Which voice holds which room, and the look-out for one that has gone. Source: VOX-2."""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import structlog

from clankie_captain.core.voice import RoomAsking
from clankie_captain.lanes.signals import Nudge, Signals
from clankie_captain.ports.voice import RoomHeld, RoomLeases
from clankie_settings.clock import Clock
from clankie_settings.ids import PresenceId

LOOK_EVERY: Final = timedelta(seconds=1)
"""How often the wall clock is read while a voice holds a room: it may jump."""

_log = structlog.get_logger()


class Voices:
    """The rooms that voices hold; what they leave unspoken goes back to text as soon as they are gone."""

    def __init__(self, rooms: RoomLeases, signals: Signals, clock: Clock) -> None:
        self._rooms = rooms
        self._signals = signals
        self._clock = clock
        self._ends: datetime | None = None
        self._changed = asyncio.Event()

    async def ask(self, presence: PresenceId, room: str, ttl: timedelta) -> RoomHeld | None:
        """Give, renew or take back a room; None where another voice holds it."""
        answer = await self._rooms.ask(room, RoomAsking(presence, ttl), self._clock.now())
        self._take(answer.posts, answer.ends)
        return answer if isinstance(answer, RoomHeld) else None

    def tell(self, posts: Iterable[PresenceId]) -> None:
        """Let presences read what they are to post."""
        for presence in posts:
            self._signals.send(presence, Nudge())

    async def run(self) -> None:
        """End leases as they run out, for as long as the captain lives.

        The clock is read again and again: it may be set, and the host may sleep.
        """
        while True:
            await self._end_some()
            await self._changed.wait()
            before = self._clock.now()
            while self._ends is not None and before <= (now := self._clock.now()) < self._ends:
                before = now
                await self._clock.sleep(min(LOOK_EVERY, self._ends - now))
            self._changed.clear()

    async def _end_some(self) -> None:
        try:
            lapsed = await self._rooms.lapse(self._clock.now())
        except Exception as error:  # noqa: BLE001 - whatever the store's trouble is, the next look may do it
            _log.error("rooms.unlooked", cause=type(error).__name__)
            await self._clock.sleep(LOOK_EVERY)
            self._changed.set()
            return
        for room in lapsed.rooms:
            _log.info("room.lease_ended", room=room)
        self._take(lapsed.posts, lapsed.ends)

    def _take(self, posts: frozenset[PresenceId], ends: datetime | None) -> None:
        self.tell(posts)
        self._ends = ends
        # Without any lease there is nothing to look out for.
        if ends is not None:
            self._changed.set()
