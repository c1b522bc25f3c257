"""Slash commands do what they say in the room that they were given in, once each."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.core.commands import BUSY, LOUD, NOTHING, QUIET, QUIET_FOR, RENEWED, STOPPED
from clankie_captain.core.lane import Trust
from clankie_settings.ids import PresenceId
from clankie_settings.wire.command import Command, CommandName
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Failed, Replied, Silent
from clankie_settings.wire.trigger import Actor, Room
from tests.captain.lanes.fakes import Boundary, CountedIds, Say
from tests.captain.lanes.house import DISCORD, OWNER, House, house

pytestmark = pytest.mark.requirement("OPS-5")

ROOM = Room(platform="discord", guild_id="1", channel_id="2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def give(captain: House, number: str, name: CommandName, actor: str = OWNER, room: Room = ROOM) -> str:
    asker = Actor(actor_id=actor, display_name="somebody")
    return await captain.commands.do(DISCORD, Command(command_id=number, name=name, room=room, actor=asker))


async def hushed(captain: House, delivery: str, **said: object) -> None:
    result = (await captain.say(delivery, "words", **said)).result
    assert isinstance(result, Failed)
    assert (result.code, result.notice, result.owed, result.run_id) == (FailureCode.NOT_PERMITTED, False, False, None)


async def test_stop_ends_what_runs_and_the_lane_goes_on(path: Path) -> None:
    async with house(path) as captain:
        assert await give(captain, "c1", "stop") == NOTHING
        await captain.say("m1", "first")
        await captain.thought()
        assert "owner can" in await give(captain, "c2", "stop", actor="100002")
        assert await give(captain, "c3", "stop", actor="100001") == STOPPED
        ended = await captain.result("m1")
        assert isinstance(ended, Failed)
        assert ended.code is FailureCode.CAPTAIN_CANCELLED
        await captain.say("m2", "again")
        await (await captain.thought()).do(Say("here"))
        assert isinstance(await captain.result("m2"), Replied)


@pytest.mark.requirement("VOX-1")
async def test_a_room_that_speaks_aloud_is_stopped_and_begun_anew_with_it(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("u1", "aloud", kind="voice", presence_id="ear")
        await captain.thought()
        assert await give(captain, "c1", "status") == "At work for 0 s."
        assert "owner can" in await give(captain, "c2", "stop", actor="100002")
        assert await give(captain, "c3", "stop", actor="100001") == STOPPED
        ended = await captain.result("u1", PresenceId("ear"))
        assert isinstance(ended, Failed)
        assert ended.code is FailureCode.CAPTAIN_CANCELLED
        assert await give(captain, "c4", "new") == RENEWED
        await captain.say("u2", "again", kind="voice", presence_id="ear")
        assert (await captain.thought()).order.history == ()


async def test_new_begins_the_history_anew_once_nothing_runs(path: Path) -> None:
    async with house(path) as captain:
        assert await give(captain, "c0", "new") == RENEWED
        await captain.say("m1", "before")
        thought = await captain.thought()
        assert await give(captain, "c1", "new") == BUSY
        await thought.do(Say("yes"))
        await captain.result("m1")
        assert await give(captain, "c2", "new") == RENEWED
        await captain.say("m2", "after")
        again = await captain.thought()
        assert again.order.history == ()
        await again.do(Say("yes"))
        await captain.result("m2")
        await captain.say("m3", "and on")
        assert [entry.kind for entry in (await captain.thought()).order.history] == ["request", "response"]


async def test_quiet_lasts_an_hour_over_a_restart_and_ends_nothing_that_runs(path: Path) -> None:
    ids = CountedIds()
    async with house(path, ids=ids) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        assert await give(captain, "c1", "quiet") == QUIET
        await hushed(captain, "m2")
        await hushed(captain, "m3", actor=OWNER, addressed=False)
        assert isinstance((await captain.say("m4", "stop", actor="100009")).result, Failed)
        await captain.say("m5", "elsewhere", channel="11")
        await captain.thought()
        await thought.do(Boundary())
        assert thought.requests[1] == []
        await thought.do(Say("the first alone"))
        assert isinstance(await captain.result("m1"), Replied)
    async with house(path, ids=ids, clock=captain.clock) as captain:
        await hushed(captain, "m6")
        assert "Quiet until" in await give(captain, "c2", "status", actor="100002")
        captain.clock.advance(QUIET_FOR)
        await captain.say("m7", "after the hour")
        while True:
            thought = await captain.thought()
            if thought.order.lane.endswith(":2"):
                break
        await thought.do(Say("here"))
        assert isinstance(await captain.result("m7"), Replied)


async def test_a_second_quiet_ends_it(path: Path) -> None:
    async with house(path) as captain:
        answers = [await give(captain, f"c{number}", "quiet") for number in range(2)]
        assert answers == [QUIET, LOUD]
        assert (await captain.say("m1", "words")).result is None


async def test_a_clock_that_was_set_back_does_not_prolong_quiet(path: Path) -> None:
    async with house(path) as captain:
        captain.clock.turn_to(timedelta(days=30))
        await give(captain, "c1", "quiet")
        captain.clock.turn_to(-timedelta(days=30))
        assert (await captain.say("m1", "words")).result is None


async def test_whoever_is_being_answered_may_stop_a_run_in_a_quiet_room(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        await captain.thought()
        await give(captain, "c1", "quiet")
        assert isinstance((await captain.say("m2", "stop")).result, Silent)
        assert isinstance(await captain.result("m1"), Failed)


async def test_a_command_that_comes_again_or_twice_at_once_is_done_once(path: Path) -> None:
    ids = CountedIds()
    async with house(path, ids=ids) as captain:
        both = await asyncio.gather(give(captain, "c1", "quiet"), give(captain, "c1", "quiet"))
        assert both == [QUIET, QUIET]
        await hushed(captain, "m1")
    async with house(path, ids=ids) as captain:
        assert await give(captain, "c1", "quiet") == QUIET
        await hushed(captain, "m2")


async def test_status_and_usage_say_how_it_stands_to_anybody(path: Path) -> None:
    async with house(path) as captain:
        assert await give(captain, "c1", "status", actor="100009") == "Nothing is running here."
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "waits")
        captain.clock.advance(timedelta(seconds=7))
        assert await give(captain, "c2", "status", actor="100009") == "At work for 7 s. 1 waiting."
        assert await give(captain, "c3", "usage", actor="100009") == "0 tokens here today (UTC)."
        await thought.do(Boundary())
        await thought.do(Say("both"))
        await captain.result("m1")
        assert await give(captain, "c4", "usage", actor="100009") == "15 tokens here today (UTC)."


@pytest.mark.parametrize("name", ["stop", "new", "quiet"])
async def test_a_stranger_changes_nothing(path: Path, name: CommandName) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await give(captain, "c1", name, actor="100009")
        await captain.say("m2", "second")
        await thought.do(Boundary())
        await thought.do(Say("both"))
        assert isinstance(await captain.result("m1"), Replied)
        await captain.say("m3", "third")
        assert (await captain.thought()).order.history != ()


PRIVILEGED = Trust(actors=frozenset({"100007"}))


async def test_a_one_shot_is_stopped_in_its_room_by_whom_it_answers_and_by_the_owner(path: Path) -> None:
    async with house(path, trust=PRIVILEGED) as captain:
        await captain.say("m1", "everybody's")
        await captain.thought()
        for number, giver in enumerate(("100007", OWNER)):
            own = f"p{number}"
            await captain.say(own, "work on this", actor="100007")
            assert (await captain.thought()).order.lane.startswith("turns/discord:1:2~")
            elsewhere = Room(platform="discord", guild_id="1", channel_id="22")
            assert await give(captain, f"a{number}", "stop", actor="100007", room=elsewhere) != STOPPED
            assert await give(captain, f"b{number}", "stop", actor="100003") != STOPPED
            assert await give(captain, f"c{number}", "stop", actor=giver) == STOPPED
            ended = await captain.result(own)
            assert isinstance(ended, Failed)
            assert ended.code is FailureCode.CAPTAIN_CANCELLED
        # What answers everybody was ended by the owner alone.
        assert (await captain.result("m1")).state == "failed"


async def test_a_plain_stop_ends_its_authors_one_shot(path: Path) -> None:
    async with house(path, trust=PRIVILEGED) as captain:
        await captain.say("p1", "work on this", actor="100007")
        await captain.thought()
        assert isinstance((await captain.say("p2", "stop", actor="100007")).result, Silent)
        ended = await captain.result("p1")
        assert isinstance(ended, Failed)
        assert ended.code is FailureCode.CAPTAIN_CANCELLED
        # With nothing to end it is a message like all others.
        await captain.say("p3", "stop", actor="100007")
        await (await captain.thought()).do(Say("what?"))
        assert isinstance(await captain.result("p3"), Replied)
