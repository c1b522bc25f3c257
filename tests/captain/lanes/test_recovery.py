"""A captain that died leaves rows; the next one goes on from them, once."""

from pathlib import Path

import pytest

from clankie_captain.errors import FencedError
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied
from tests.captain.lanes.fakes import Boundary, CountedIds, Say
from tests.captain.lanes.house import house


@pytest.mark.requirement("LANE-6", "WIRE-5")
async def test_a_run_that_was_cut_off_is_tried_once_more_with_everything_it_owed(tmp_path: Path) -> None:
    path, ids = tmp_path / "captain.db", CountedIds()
    async with house(path, ids=ids) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "heard")
        await thought.do(Boundary())
        await captain.say("m3", "not heard yet")
    async with house(path, ids=ids) as captain:
        again = await captain.thought()
        assert again.order.run == thought.order.run
        assert again.order.words == ()
        assert [entry.kind for entry in again.order.history] == ["request", "request"]
        assert len(again.requests[0]) == 1
        assert "not heard yet" in again.requests[0][0]
        known = await captain.say("m1", "first")
        assert known.result is None
        await again.do(Say("all three"))
        assert isinstance(await captain.result("m1"), Replied)
        assert isinstance(await captain.result("m2"), Absorbed)
        assert isinstance(await captain.result("m3"), Absorbed)


@pytest.mark.requirement("LANE-6")
async def test_a_run_that_was_cut_off_twice_fails_as_interrupted_and_the_lane_goes_on(tmp_path: Path) -> None:
    path, ids = tmp_path / "captain.db", CountedIds()
    for _ in range(2):
        async with house(path, ids=ids) as captain:
            await captain.say("m1", "the one that kills")
            await captain.thought()
    async with house(path, ids=ids) as captain:
        failed = await captain.result("m1")
        assert isinstance(failed, Failed)
        assert failed.code is FailureCode.CAPTAIN_INTERRUPTED
        await captain.say("m2", "next")
        await (await captain.thought()).do(Say("fine"))
        assert isinstance(await captain.result("m2"), Replied)


@pytest.mark.requirement("LANE-2")
async def test_a_run_whose_lane_was_taken_over_can_write_nothing(tmp_path: Path) -> None:
    path, ids = tmp_path / "captain.db", CountedIds()
    async with house(path, ids=ids) as frozen:
        await frozen.say("m1", "first")
        stale = await frozen.thought()
        async with house(path, ids=ids) as taking:
            fresh = await taking.thought()
            assert fresh.order.run == stale.order.run
            with pytest.raises(FencedError):
                await stale.do(Boundary())
            await fresh.do(Say("from the new owner"))
            reply = await taking.result("m1")
        assert isinstance(reply, Replied)
        assert await frozen.result("m1") == reply
        assert frozen.turn_log.records == []


async def test_an_answer_that_a_stale_run_still_finds_is_never_stored(tmp_path: Path) -> None:
    path, ids = tmp_path / "captain.db", CountedIds()
    async with house(path, ids=ids) as frozen:
        await frozen.say("m1", "first")
        stale = await frozen.thought()
        async with house(path, ids=ids) as taking:
            fresh = await taking.thought()
            with pytest.raises(FencedError):
                await stale.do(Say("from the old owner"))
            await fresh.do(Say("from the new owner"))
            reply = await taking.result("m1")
    assert isinstance(reply, Replied)
    assert reply.text == "from the new owner"
