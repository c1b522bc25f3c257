"""C26: a lane that is compacted while it is idle; whatever arrives meanwhile waits, and is answered."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.core.commands import RENEWED, STOPPED
from clankie_captain.core.compaction import Ceilings
from clankie_captain.core.run import Broken, Usage
from clankie_settings import bounds
from clankie_settings.wire.command import Command, CommandName
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Failed, Replied
from clankie_settings.wire.trigger import Actor
from tests.captain.lanes.fakes import Boundary, CountedIds, Fail, Say, StillClock, Writing
from tests.captain.lanes.house import DISCORD, OWNER, SOON, House, house, trigger

pytestmark = pytest.mark.requirement("CTX-7")

NEAR = Ceilings(20)
"""An answer of the told loop leaves 15 tokens behind: three quarters of this."""

NOTES = json.dumps("the notes")
BROKEN = Broken(FailureCode.CAPTAIN_MODEL_FAILED, "Told", "the provider's words")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def answered(captain: House, delivery: str, body: str) -> list[str]:
    """A message and its answer; what the model was shown before it, as stored."""
    await captain.say(delivery, body)
    return await answer(captain, delivery)


async def answer(captain: House, delivery: str) -> list[str]:
    thought = await captain.thought()
    await thought.do(Say(f"answer to {delivery}"))
    result = await captain.result(delivery)
    assert isinstance(result, Replied)
    return [each.payload for each in thought.order.history]


async def ended(captain: House, *outcomes: str) -> None:
    log = captain.compactions
    await log.changes.until(lambda: log.outcomes == list(outcomes) or None, 20)


async def give(captain: House, number: str, name: CommandName) -> str:
    room = trigger("m0", "words").room
    owner = Actor(actor_id=OWNER, display_name="the owner")
    return await captain.commands.do(DISCORD, Command(command_id=number, name=name, room=room, actor=owner))


def says(text: str, history: list[str]) -> bool:
    return any(text in each for each in history)


async def write(writing: Writing) -> None:
    writing.vitals.spent(Usage(7, 3, 0, 1, 0))
    writing.written.set_result(NOTES)


async def test_a_lane_that_is_nearly_full_is_compacted_as_soon_as_it_is_idle(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "the first words")
        writing = await captain.writing()
        assert any("the first words" in each.payload for each in writing.digest.entries)
        await write(writing)
        await ended(captain, "compacted")
        history = await answered(captain, "m2", "the second words")
        assert history == [NOTES]
        assert await captain.entries("notes") == [NOTES]
        (told,) = await captain.entries("compaction")
        assert json.loads(told)["outcome"] == "compacted"
        # A compaction is nobody's turn.
        assert len(captain.turn_log.records) == 2


async def test_a_lane_with_room_is_left_alone(path: Path) -> None:
    async with house(path, ceilings=Ceilings(21)) as captain:
        await answered(captain, "m1", "words")
        assert len(await answered(captain, "m2", "words")) == 2
        assert captain.loop.writings.empty()


@pytest.mark.parametrize("fails", [False, True], ids=["it succeeds", "it fails"])
async def test_what_arrives_during_a_compaction_waits_and_is_answered_in_order(path: Path, fails: bool) -> None:
    """C26: at its first await, in its middle, and in the tick in which it ends."""
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "the first words")
        writing = await captain.writing()
        assert (await captain.say("m2", "second")).state == "queued"
        assert (await captain.say("m3", "third", actor="100009")).state == "queued"
        last = asyncio.ensure_future(captain.say("m4", "stop"))
        if fails:
            writing.written.set_result(BROKEN)
        else:
            await write(writing)
        seen = [await answer(captain, "m2")]
        assert (await last).state in ("queued", "steer")
        # By now the lane may be full again; then the next compaction waits for those who wait.
        seen.append(await answer(captain, "m3"))
        if (await captain.desk.outcome(DISCORD, (await last).delivery, timedelta())).state != "done":
            seen.append(await answer(captain, "m4"))
        assert isinstance(await captain.result("m4"), Replied)
        assert all(says("notes", each) is not fails for each in seen)
        assert all(says("the first words", each) is fails for each in seen)
        assert captain.compactions.outcomes[0] == ("failed" if fails else "compacted")


async def test_nothing_but_its_own_lane_waits_for_a_compaction(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "words")
        await captain.writing()
        await captain.say("n1", "elsewhere", channel="3")
        await answer(captain, "n1")


async def test_one_that_failed_is_not_tried_again_until_the_lane_has_grown(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "words")
        (await captain.writing()).written.set_result(BROKEN)
        await ended(captain, "failed")
        for number in range(2, 6):
            await answered(captain, f"m{number}", "words")
        assert captain.loop.writings.empty()
        assert captain.compactions.outcomes == ["failed"]
        (told,) = await captain.entries("compaction")
        assert json.loads(told) == {"outcome": "failed", "code": "captain_model_failed", "cause": "Told"}


async def test_one_whose_writer_hangs_is_ended_by_the_watchdog(path: Path) -> None:
    clock = StillClock()
    async with house(path, ceilings=NEAR, clock=clock, stall_after=timedelta(seconds=20)) as captain:
        await answered(captain, "m1", "words")
        writing = await captain.writing()
        await captain.say("m2", "second")
        async with asyncio.timeout(SOON.total_seconds()):
            while not captain.compactions.outcomes:
                clock.advance(timedelta(seconds=5))
                await asyncio.sleep(0)
        assert captain.compactions.outcomes == ["stalled"]
        assert writing.written.cancelled()
        assert says("words", await answer(captain, "m2"))


async def test_one_whose_writer_never_comes_to_an_end_is_ended_after_a_while(path: Path) -> None:
    clock = StillClock()
    async with house(path, ceilings=NEAR, clock=clock) as captain:
        await answered(captain, "m1", "words")
        writing = await captain.writing()
        passed = timedelta()
        async with asyncio.timeout(SOON.total_seconds()):
            while not captain.compactions.outcomes:
                writing.vitals.event()
                writing.vitals.received()
                if passed < bounds.COMPACT_WITHIN:
                    clock.advance(timedelta(seconds=5))
                    passed += timedelta(seconds=5)
                await asyncio.sleep(0)
        assert captain.compactions.outcomes == ["stalled"]


async def test_a_captain_that_dies_in_it_gives_the_lane_back_to_those_who_wait(path: Path) -> None:
    ids = CountedIds()
    async with house(path, ceilings=NEAR, ids=ids) as captain:
        await answered(captain, "m1", "the first words")
        await captain.writing()
        await captain.say("m2", "second")
    async with house(path, ceilings=NEAR, ids=ids) as captain:
        assert says("the first words", await answer(captain, "m2"))
        await answered(captain, "m3", "third")
        # What broke the last one off may be the compaction itself.
        assert captain.loop.writings.empty()


async def test_stop_ends_a_compaction_and_nothing_is_lost(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "the first words")
        await captain.writing()
        await captain.say("m2", "second")
        assert await give(captain, "c1", "stop") == STOPPED
        assert says("the first words", await answer(captain, "m2"))
        assert captain.compactions.outcomes == ["cancelled"]


@pytest.mark.parametrize("late", [False, True], ids=["while it is written", "as it is written already"])
async def test_new_during_a_compaction_leaves_no_trace_of_the_past(path: Path, late: bool) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "the first words")
        writing = await captain.writing()
        await captain.say("m2", "second")
        if late:
            await write(writing)
        assert await give(captain, "c1", "new") == RENEWED
        history = await answer(captain, "m2")
        assert not says("the first words", history)
        assert history in ([], [NOTES] if late else [])


async def test_new_forgets_notes_as_well(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "the first words")
        await write(await captain.writing())
        await ended(captain, "compacted")
        assert await give(captain, "c1", "new") == RENEWED
        assert await answered(captain, "m2", "second") == []


async def test_where_a_stretch_broke_there_is_nothing_to_measure(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await captain.say("m1", "words")
        await (await captain.thought()).do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
        assert isinstance(await captain.result("m1"), Failed)
        assert captain.loop.writings.empty()


async def test_the_history_only_grows_again_after_its_notes(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await answered(captain, "m1", "first")
        await write(await captain.writing())
        await ended(captain, "compacted")
        second = await answered(captain, "m2", "second")
        third = await answered(captain, "m3", "third")
        assert third[: len(second)] == second
        assert len(third) == len(second) + 2


async def test_steered_words_are_answered_before_the_lane_is_compacted(path: Path) -> None:
    async with house(path, ceilings=NEAR) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "more")
        await thought.do(Boundary())
        await thought.do(Say("both"))
        assert isinstance(await captain.result("m1"), Replied)
        assert (await captain.result("m2")).state == "absorbed"
        await captain.writing()
