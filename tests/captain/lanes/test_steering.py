"""A message that reaches a live run joins it; nothing is lost at either end of a run."""

import asyncio
from datetime import datetime
from pathlib import Path

import pytest

from clankie_captain.core.compaction import EMPTY, Fill
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import Broken, Usage
from clankie_captain.core.turns import LiveRun, Settling
from clankie_captain.ports import Runs
from clankie_captain.store.runs import RunStore
from clankie_settings.ids import RunId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from tests.captain.lanes.fakes import Boundary, Explode, Fail, Say
from tests.captain.lanes.house import house


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


@pytest.mark.requirement("LANE-3", "LANE-4", "LANE-8")
async def test_a_burst_becomes_one_run_with_one_reply_that_covers_all_of_it(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        assert len(thought.requests) == 1
        assert "first" in thought.requests[0][0]
        await captain.say("m2", "second")
        await captain.say("m3", "third", actor="100002")
        await thought.do(Boundary())
        assert [("second" in text, "third" in text) for text in thought.requests[1]] == [(True, False), (False, True)]
        await thought.do(Say("all three"))
        reply = await captain.result("m1")
        assert isinstance(reply, Replied)
        assert (reply.text, reply.owed) == ("all three", True)
        for delivery in ("m2", "m3"):
            absorbed = await captain.result(delivery)
            assert isinstance(absorbed, Absorbed)
            assert (absorbed.answered_by, absorbed.owed, absorbed.run_id) == ("m1", False, reply.run_id)
        assert len(captain.turn_log.records) == 1
        assert captain.turn_log.records[0].absorbed == 2


@pytest.mark.requirement("LANE-3", "LANE-9")
async def test_words_that_arrive_while_the_answer_is_written_make_the_run_go_on_without_that_answer(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "second")
        await thought.do(Say("only the first"))
        going_on = await captain.thought()
        assert going_on.order.run == thought.order.run
        assert [entry.kind for entry in going_on.order.history] == ["request"]
        assert "Nothing that you have written in this turn has been posted" in going_on.requests[0][0]
        await going_on.do(Say("both"))
        reply = await captain.result("m1")
        assert isinstance(reply, Replied)
        assert reply.text == "both"
        assert isinstance(await captain.result("m2"), Absorbed)


class LateArrival:
    """The runs' port with a held moment between the end of the answer and its settlement."""

    def __init__(self, inner: RunStore) -> None:
        self._inner = inner
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    async def settle(
        self, run: LiveRun, ending: Reply | Broken, usage: Usage, follower: RunId, at: datetime, fill: Fill = EMPTY
    ) -> Settling:
        self.reached.set()
        await self.go_on.wait()
        return await self._inner.settle(run, ending, usage, follower, at, fill)

    async def take_over(self, at: datetime) -> tuple[LiveRun, ...]:
        return await self._inner.take_over(at)

    async def leave(self) -> int:
        return await self._inner.leave()

    async def start_waiting(self, fresh: object, at: datetime) -> tuple[LiveRun, ...]:
        return await self._inner.start_waiting(fresh, at)  # pyright: ignore[reportArgumentType]


@pytest.mark.requirement("LANE-7", "LANE-6")
async def test_words_that_arrive_in_the_last_tick_before_settlement_are_answered_by_the_same_run(path: Path) -> None:
    gate: list[LateArrival] = []

    def late(store: RunStore) -> Runs:
        gate.append(LateArrival(store))
        return gate[0]

    async with house(path, runs=late) as captain:
        await captain.say("m1", "first")
        await (await captain.thought()).do(Say("done"))
        await gate[0].reached.wait()
        await captain.say("m2", "at the last moment")
        gate[0].go_on.set()
        going_on = await captain.thought()
        assert "at the last moment" in going_on.requests[0][0]
        await going_on.do(Say("both"))
        assert isinstance(await captain.result("m2"), Absorbed)


@pytest.mark.requirement("LANE-7")
async def test_words_that_arrive_before_the_first_request_ride_in_it(path: Path) -> None:
    gate = asyncio.Event()
    async with house(path, begin_gate=gate) as captain:
        await captain.say("m1", "first")
        await captain.say("m2", "second")
        gate.set()
        thought = await captain.thought()
        assert len(thought.requests[0]) == 2
        await thought.do(Say("both"))
        assert isinstance(await captain.result("m2"), Absorbed)


@pytest.mark.requirement("LANE-5", "FAIL-6")
@pytest.mark.parametrize("end", [Fail(FailureCode.CAPTAIN_MODEL_FAILED), Explode()])
async def test_a_steered_turn_of_a_failed_run_reports_failed_and_the_lane_answers_the_next(
    path: Path, end: Fail | Explode
) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "heard")
        await thought.do(Boundary())
        await thought.do(end)
        codes = {FailureCode.CAPTAIN_MODEL_FAILED, FailureCode.CAPTAIN_INTERNAL_ERROR}
        results = [await captain.result("m1"), await captain.result("m2")]
        assert all(isinstance(each, Failed) and each.code in codes for each in results)
        assert [isinstance(each, Failed) and each.notice for each in results] == [True, False]
        await captain.say("m3", "again")
        await (await captain.thought()).do(Say("fine"))
        assert isinstance(await captain.result("m3"), Replied)


@pytest.mark.requirement("LANE-6")
async def test_words_that_a_failing_run_never_heard_become_turns_of_their_own_in_order(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "second")
        await captain.say("m3", "third")
        await thought.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
        assert isinstance(await captain.result("m1"), Failed)
        second = await captain.thought()
        assert second.order.run != thought.order.run
        assert "second" in second.requests[0][0]
        await second.do(Say("to the second"))
        assert isinstance(await captain.result("m2"), Replied)
        third = await captain.thought()
        await third.do(Say("to the third"))
        assert isinstance(await captain.result("m3"), Replied)


@pytest.mark.requirement("ROOM-1", "LANE-4")
async def test_a_silent_run_leaves_everybody_silent(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "not for you", addressed=False)
        thought = await captain.thought()
        await captain.say("m2", "nor this", addressed=False)
        await thought.do(Boundary())
        await thought.do(Say("[[stay-silent]]."))
        assert isinstance(await captain.result("m1"), Silent)
        assert isinstance(await captain.result("m2"), Silent)


@pytest.mark.requirement("VOX-1", "LANE-3")
async def test_a_voice_lane_is_steered_by_anyone_and_absorbs(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("u1", "one", kind="voice")
        thought = await captain.thought()
        assert thought.order.lane.startswith("voice/")
        await captain.say("u2", "two", kind="voice", actor="100002")
        await thought.do(Boundary())
        await thought.do(Say("both"))
        assert isinstance(await captain.result("u1"), Replied)
        assert isinstance(await captain.result("u2"), Absorbed)


@pytest.mark.requirement("LANE-17")
async def test_no_more_runs_than_allowed_are_live_and_the_others_follow_oldest_first(path: Path) -> None:
    async with house(path, most=2) as captain:
        for number in range(4):
            await captain.say(f"m{number}", "hello", channel=str(10 + number))
        first, second = await captain.thought(), await captain.thought()
        assert captain.loop.thoughts.empty()
        assert captain.registry.live == 2
        await captain.say("m9", "joins the waiting run", channel="12")
        order = [first.order.lane, second.order.lane]
        await first.do(Say("ok"))
        third = await captain.thought()
        assert len(third.requests[0]) == 2
        await third.do(Say("ok"))
        fourth = await captain.thought()
        order += [third.order.lane, fourth.order.lane]
        assert order == [f"rooms/discord:1:{10 + number}" for number in range(4)]
        await second.do(Say("ok"))
        await fourth.do(Say("ok"))
        assert isinstance(await captain.result("m9"), Absorbed)
