"""A run that somebody ends is cancelled, whatever it is at, and its lane answers the next message."""

import asyncio
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from clankie_captain.core.compaction import EMPTY, Fill
from clankie_captain.core.lane import OPERATOR, Trust, lane_for
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import Broken, Usage
from clankie_captain.core.turns import Acceptance, Ended, LiveRun, Settling
from clankie_captain.ports import Runs
from clankie_captain.store.arrivals import Terms
from clankie_captain.store.lanes import LaneStore
from clankie_captain.store.runs import RunStore
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, RunId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from clankie_settings.wire.trigger import Trigger
from tests.captain.lanes.fakes import Boundary, CountedIds, Deaf, Say, Write
from tests.captain.lanes.house import DISCORD, House, house, trigger

pytestmark = pytest.mark.requirement("OPS-5", "FAIL-6")

NAMED = Terms(names=("Clankie",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def cancelled(captain: House, delivery: str) -> None:
    result = await captain.result(delivery)
    assert isinstance(result, Failed)
    assert result.code is FailureCode.CAPTAIN_CANCELLED


async def answers_the_next(captain: House) -> None:
    await captain.say("next", "are you there?")
    await (await captain.thought()).do(Say("yes"))
    assert isinstance(await captain.result("next"), Replied)


@pytest.mark.parametrize("body", ["stop", "Clankie, stop!"])
@pytest.mark.parametrize("heard", [True, False])
async def test_a_plain_stop_of_whoever_is_being_answered_ends_the_run_in_silence(
    path: Path, body: str, heard: bool
) -> None:
    async with house(path, terms=NAMED) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "and this", actor="100002")
        if heard:
            await thought.do(Boundary())
        stop = await captain.say("m3", body, actor="100002")
        assert isinstance(stop.result, Silent)
        assert (stop.result.run_id, stop.result.owed) == (thought.order.run, False)
        await cancelled(captain, "m1")
        assert thought.ended
        if heard:
            await cancelled(captain, "m2")
        else:
            await (await captain.thought()).do(Say("to the second"))
            assert isinstance(await captain.result("m2"), Replied)
        await answers_the_next(captain)
        assert captain.turn_log.records[0].outcome == "captain_cancelled"


@pytest.mark.parametrize(("actor", "body"), [("100003", "stop"), ("100001", "stop the music"), ("100001", "stop, Ann")])
async def test_a_stop_of_somebody_else_and_one_that_says_more_is_a_message_like_any_other(
    path: Path, actor: str, body: str
) -> None:
    async with house(path, terms=NAMED) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", body, actor=actor)
        await thought.do(Boundary())
        assert body in thought.requests[1][0]
        await thought.do(Say("both"))
        assert isinstance(await captain.result("m2"), Absorbed)


async def test_a_stop_where_nothing_runs_is_a_message_like_any_other(path: Path) -> None:
    async with house(path, terms=NAMED) as captain:
        await captain.say("m1", "stop")
        await (await captain.thought()).do(Say("[[stay-silent]]"))
        assert isinstance(await captain.result("m1"), Silent)


@pytest.mark.requirement("DUR-2")
async def test_a_stop_outlives_a_captain_that_is_killed_before_it_acts_on_it(path: Path) -> None:
    ids = CountedIds()
    async with house(path, ids=ids, terms=NAMED) as captain:
        await captain.say("m1", "first")
        await captain.thought()
        accepted = await _accept(LaneStore(captain.database, NAMED), trigger("m2", "stop"), captain)
        assert accepted.stops is not None
    async with house(path, ids=ids, terms=NAMED) as captain:
        await cancelled(captain, "m1")
        assert captain.loop.thoughts.empty()
        assert isinstance(await captain.result("m2"), Silent)
        await answers_the_next(captain)


async def _accept(lanes: LaneStore, said: Trigger, captain: House) -> Acceptance:
    """Accept in the store alone, as a captain that dies right behind the transaction."""
    turn = TurnId("turn_dying")
    return await lanes.accept(said, lane_for(said, turn, Trust()), turn, RunId("run_dying"), captain.clock.now())


@pytest.mark.requirement("LANE-17")
async def test_a_run_that_waits_for_a_slot_is_cancelled_without_one(path: Path) -> None:
    async with house(path, most=1) as captain:
        await captain.say("m1", "holds the slot", channel="10")
        held = await captain.thought()
        await captain.say("m2", "waits", channel="11")
        await captain.desk.cancel(DISCORD, DeliveryId("m2"))
        await cancelled(captain, "m2")
        await captain.say("m3", "waits again", channel="11")
        await held.do(Say("ok"))
        following = await captain.thought()
        assert "waits again" in following.requests[0][0]
        await following.do(Say("ok"))
        assert isinstance(await captain.result("m3"), Replied)
        assert captain.registry.live == 0


async def test_a_run_that_is_settled_or_unknown_is_not_there_to_cancel(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await thought.do(Say("done"))
        assert isinstance(await captain.result("m1"), Replied)
        assert not captain.registry.cancel(RunId(thought.order.run))
        assert not captain.registry.cancel(RunId("run_nowhere"))
        await answers_the_next(captain)


async def test_a_task_that_ignores_its_cancellation_does_not_keep_its_lane(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "ABORT_GRACE", timedelta(milliseconds=1))
    deaf = Deaf()
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await thought.do(deaf)
        await captain.desk.cancel(DISCORD, DeliveryId("m1"))
        await cancelled(captain, "m1")
        assert not thought.ended
        await answers_the_next(captain)
        deaf.let_go.set()


class SlowNews:
    """The runs' port that tells late which run follows; in the store it is live already."""

    def __init__(self, inner: RunStore) -> None:
        self._inner = inner
        self.settled, self.go_on = asyncio.Event(), asyncio.Event()

    async def settle(
        self, run: LiveRun, ending: Reply | Broken, usage: Usage, follower: RunId, at: datetime, fill: Fill = EMPTY
    ) -> Settling:
        settled = await self._inner.settle(run, ending, usage, follower, at, fill)
        if isinstance(settled, Ended) and settled.follows is not None:
            self.settled.set()
            await self.go_on.wait()
        return settled

    async def take_over(self, at: datetime) -> tuple[LiveRun, ...]:
        return await self._inner.take_over(at)

    async def leave(self) -> int:
        return await self._inner.leave()

    async def start_waiting(self, fresh: object, at: datetime) -> tuple[LiveRun, ...]:
        return await self._inner.start_waiting(fresh, at)  # pyright: ignore[reportArgumentType]


@pytest.mark.requirement("OPS-1")
async def test_a_run_that_is_cancelled_before_its_captain_knows_of_it_ends_as_it_comes(path: Path) -> None:
    gate: list[SlowNews] = []

    def slow(store: RunStore) -> Runs:
        gate.append(SlowNews(store))
        return gate[0]

    async with house(path, runs=slow) as captain:
        first = await captain.ask("a", "first")
        thought = await captain.thought()
        queued = await captain.ask("b", "queued", "queue")
        await thought.do(Say("done"))
        await gate[0].settled.wait()
        await captain.desk.cancel(OPERATOR, DeliveryId(queued))
        gate[0].go_on.set()
        assert isinstance(await captain.receipt(first), Replied)
        ended = await captain.receipt(queued)
        assert isinstance(ended, Failed)
        assert ended.code is FailureCode.CAPTAIN_CANCELLED


@pytest.mark.requirement("DUR-2")
async def test_what_was_half_written_at_a_stop_is_kept_in_the_transcript_and_nowhere_else(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await thought.do(Write("This was"))
        await captain.desk.cancel(DISCORD, DeliveryId("m1"))
        await cancelled(captain, "m1")
        (broken,) = await captain.entries("broken")
        assert json.loads(broken)["words"] == "This was"
        await captain.say("m2", "second")
        again = await captain.thought()
        assert "This was" not in str(again.order.history)
        await again.do(Say("yes"))
        assert isinstance(await captain.result("m2"), Replied)
