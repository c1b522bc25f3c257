"""An hour without a captain costs an hour: few attempts, few lines, and a queue that stays within its bounds."""

from datetime import timedelta

import pytest

from clankie_bridge.captain.patience import Patience
from clankie_bridge.desk.room import WAITING, WAITING_A_ROOM
from clankie_bridge.errors import CaptainAway
from clankie_bridge.ports import Happened
from tests.bridge.conftest import KeptLog
from tests.bridge.desk.test_bounds import GUILD, Door
from tests.bridge.discord.test_send import StillClock

pytestmark = pytest.mark.requirement("DUR-3")

HOUR = timedelta(hours=1)


async def hour_of(cause: str, *, heard_between: bool) -> tuple[StillClock, KeptLog]:
    """An hour in which every attempt fails for this cause."""
    clock, log = StillClock(), KeptLog()
    patience, end = Patience(clock, lambda: 0.0, log), clock.elapsed() + HOUR

    async def attempt() -> str:
        if clock.elapsed() >= end:
            return "done"
        if heard_between:
            patience.heard()
        raise CaptainAway(cause)

    assert await patience.until_done(attempt) == "done"
    return clock, log


async def test_a_captain_that_is_away_for_an_hour_is_asked_every_few_seconds_and_spoken_of_once() -> None:
    clock, log = await hour_of("no_connection", heard_between=False)
    assert HOUR / timedelta(seconds=5) <= len(clock.waits) < HOUR / timedelta(seconds=4)
    assert [line["event"] for line in log.lines] == ["captain_away", "captain_back"]


async def test_a_captain_that_answers_and_cannot_is_spoken_of_once_a_minute_though_other_calls_succeed() -> None:
    clock, log = await hour_of("store_full", heard_between=True)
    assert len(clock.waits) < HOUR / timedelta(seconds=4)
    said = log.of("captain_in_trouble")
    assert {line["reason"] for line in said} == {"store_full"}
    assert 1 < len(said) <= HOUR / timedelta(minutes=1)
    assert len(said) == len(log.lines)


async def test_however_much_is_said_in_an_hour_no_more_waits_than_may_and_all_else_is_evidence() -> None:
    door, rooms = Door(), 60
    for number in range(rooms * 2 * WAITING_A_ROOM):
        await door.say(number + 1, channel_id=str(1310000000000000100 + number % rooms))
    waiting = [len(door.rooms.at(str(1310000000000000100 + number), GUILD).waiting) for number in range(rooms)]
    assert max(waiting) <= WAITING_A_ROOM
    assert sum(waiting) == door.rooms.waiting == WAITING
    dropped = sum(fact[0] is Happened.DROPPED and fact[2] == "overflow" for fact in door.evidence.facts)
    assert dropped == rooms * 2 * WAITING_A_ROOM - WAITING
    assert len(door.log.of("room_overflow")) == rooms
