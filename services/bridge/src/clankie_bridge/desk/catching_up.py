"""Rooms that he has drifted from: what is said there waits for a turn of its own, on a timer. Source: ING-4."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta

from clankie_bridge.core.message import Message
from clankie_bridge.desk.pauses import pause
from clankie_bridge.desk.room import CatchUp, Room, Rooms
from clankie_settings import bounds
from clankie_settings.clock import Clock


class CatchingUp:
    """Lets messages wait, a while from the first of a room, and then sees to it that they become one turn.

    ``every`` is that while; none at all means that nothing waits.
    """

    def __init__(self, *, every: timedelta, rooms: Rooms, clock: Clock, work: Callable[[Room], None]) -> None:
        self._every = every
        self._rooms = rooms
        self._clock = clock
        self._work = work
        self._lines: OrderedDict[str, tuple[Room, timedelta]] = OrderedDict()
        self._begun = asyncio.Event()

    def wait(self, room: Room, message: Message) -> bool:
        """Let a message wait that nobody handed over; whether it does.

        It does not where he never spoke. Source: ING-4.
        """
        if not self._every or room.exchange.since is None:
            return False
        room.drifted.append(message)
        if room.channel_id not in self._lines:
            self._lines[room.channel_id] = (room, self._clock.elapsed() + self._every)
            if len(self._lines) > bounds.CATCH_UP_ROOMS:
                self._lines.popitem(last=False)[1][0].drifted.clear()
            self._begun.set()
        return True

    def caught_up(self, room: Room) -> tuple[Message, ...]:
        """What waited in a room, which waits no longer."""
        self._lines.pop(room.channel_id, None)
        waited = tuple(room.drifted)
        room.drifted.clear()
        return waited

    async def run(self) -> None:
        """Look after the lines for as long as the bridge lives."""
        while True:
            self._begun.clear()
            # The while is the same for all, so the oldest line is due first.
            room, due = next(iter(self._lines.values()), (None, None))
            if room is None or due is None:
                await self._begun.wait()
            elif (left := due - self._clock.elapsed()) > timedelta():
                await pause(self._clock, left, self._begun)
            else:
                del self._lines[room.channel_id]
                room.waiting.append(CatchUp())
                self._rooms.waiting += 1
                self._work(room)
