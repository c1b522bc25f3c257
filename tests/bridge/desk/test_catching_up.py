"""The lines of rooms that he has drifted from are bounded, and each is due in its time."""

import asyncio
from datetime import UTC, datetime, timedelta
from types import CoroutineType
from typing import Any

import pytest

from clankie_bridge.core.exchange import Exchange
from clankie_bridge.desk.catching_up import CatchingUp
from clankie_bridge.desk.room import CatchUp, Room, Rooms
from clankie_settings import bounds
from tests.bridge.conftest import PATIENCE_S
from tests.bridge.core.builders import message

AFTER = timedelta(minutes=10)


class HeldClock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.at = timedelta(hours=1)
        self._moved = asyncio.Condition()

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.at

    def elapsed(self) -> timedelta:
        return self.at

    def sleep(self, duration: timedelta) -> "CoroutineType[Any, Any, None]":
        # The instant is fixed by the call: the clock may go before the wait has begun.
        return self._until(self.at + duration)

    async def _until(self, instant: timedelta) -> None:
        async with self._moved:
            await self._moved.wait_for(lambda: self.at >= instant)

    async def go(self, duration: timedelta) -> None:
        async with self._moved:
            self.at += duration
            self._moved.notify_all()


class Lines:
    """Lines whose due rooms are kept."""

    def __init__(self, every: timedelta = AFTER) -> None:
        self.clock, self.rooms = HeldClock(), Rooms()
        self.due: asyncio.Queue[Room] = asyncio.Queue()
        self.lines = CatchingUp(every=every, rooms=self.rooms, clock=self.clock, work=self.due.put_nowait)

    def room(self, number: int, *, spoke: bool = True) -> Room:
        room = self.rooms.at(str(number), "1")
        room.exchange = Exchange(9 if spoke else None)
        return room


@pytest.mark.requirement("ING-4")
def test_twenty_messages_of_a_room_and_sixty_four_rooms_wait() -> None:
    lines = Lines()
    first = lines.room(0)
    for number in range(30):
        assert lines.lines.wait(first, message("talk", number))
    assert [each.id for each in first.drifted] == [str(each) for each in range(10, 30)]
    for number in range(1, bounds.CATCH_UP_ROOMS + 1):
        lines.lines.wait(lines.room(number), message("talk", 1))
    assert not first.drifted
    assert not first.waiting
    assert lines.room(1).drifted


@pytest.mark.requirement("ING-4")
def test_nothing_waits_where_he_never_spoke_or_where_it_is_off() -> None:
    lines = Lines()
    assert not lines.lines.wait(lines.room(1, spoke=False), message("talk", 1))
    off = Lines(timedelta())
    assert not off.lines.wait(off.room(1), message("talk", 1))


@pytest.mark.requirement("ING-4")
async def test_a_line_is_due_a_while_after_its_first_message_and_not_once_it_was_taken() -> None:
    lines = Lines()
    first, second, third = (lines.room(number) for number in range(3))
    running = asyncio.ensure_future(lines.lines.run())
    try:
        lines.lines.wait(first, message("talk", 1))
        await lines.clock.go(AFTER / 2)
        lines.lines.wait(first, message("more", 2))
        lines.lines.wait(second, message("talk", 3))
        lines.lines.wait(third, message("talk", 4))
        assert [each.id for each in lines.lines.caught_up(second)] == ["3"]
        await lines.clock.go(AFTER / 2)
        async with asyncio.timeout(PATIENCE_S):
            assert await lines.due.get() is first
        assert lines.due.empty()
        assert [type(each) for each in first.waiting] == [CatchUp]
        await lines.clock.go(AFTER / 2)
        async with asyncio.timeout(PATIENCE_S):
            assert await lines.due.get() is third
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
