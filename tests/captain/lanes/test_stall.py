"""A run that gives no sign of life is aborted, and its lane answers the next message."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from clankie_captain.core import stall
from clankie_captain.lanes.watchdog import StalledError, Watchdog
from clankie_settings import bounds
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Failed, Replied
from tests.captain.lanes.fakes import Boundary, Say, StillClock, Write
from tests.captain.lanes.house import SOON, House, house


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def _ticks(captain: House, span: timedelta) -> None:
    """Let time pass tick by tick, so that the watchdog reads the clock each time."""
    passed = timedelta()
    while passed < span:
        await _asleep(captain.clock)
        captain.clock.advance(bounds.STALL_TICK)
        passed += bounds.STALL_TICK


async def _asleep(clock: StillClock) -> None:
    async with asyncio.timeout(SOON.total_seconds()):
        while not clock.sleeping:  # noqa: ASYNC110 - the clock is a value, and yielding is all the waiting there is
            await asyncio.sleep(0)


@pytest.mark.requirement("FAIL-1", "FAIL-6", "LANE-5")
async def test_five_minutes_without_an_event_abort_the_run_and_everyone_it_heard(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "second")
        await thought.do(Boundary())
        await captain.say("m3", "unheard")
        await _ticks(captain, bounds.STALL_AFTER)
        for delivery in ("m1", "m2"):
            failed = await captain.result(delivery)
            assert isinstance(failed, Failed)
            assert failed.code is FailureCode.CAPTAIN_TURN_STALLED
        assert thought.ended
        follower = await captain.thought()
        assert "unheard" in follower.requests[0][0]
        await follower.do(Say("here"))
        assert isinstance(await captain.result("m3"), Replied)


@pytest.mark.requirement("FAIL-1")
async def test_a_run_that_stalled_is_said_in_the_log(path: Path) -> None:
    async with house(path) as captain:
        with capture_logs() as logged:
            await captain.say("m1", "first")
            await captain.thought()
            await _ticks(captain, bounds.STALL_AFTER)
            await captain.result("m1")
    assert [(each["event"], each["code"]) for each in logged] == [("run.broken", FailureCode.CAPTAIN_TURN_STALLED)]


@pytest.mark.requirement("FAIL-1", "FAIL-3")
async def test_a_run_that_gives_a_sign_of_life_now_and_then_is_never_cut(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        for _ in range(5):
            await _ticks(captain, bounds.STALL_AFTER - 2 * bounds.STALL_TICK)
            await thought.do(Write("."))
        await thought.do(Say("done"))
        assert isinstance(await captain.result("m1"), Replied)


@pytest.mark.requirement("FAIL-6")
async def test_a_task_that_ignores_cancellation_does_not_hold_its_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "ABORT_GRACE", timedelta(milliseconds=1))
    clock = StillClock()
    let_go = asyncio.Event()

    async def deaf() -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        raise RuntimeError("late and unheard")

    task = asyncio.ensure_future(deaf())
    guarding = asyncio.ensure_future(Watchdog(clock, stall.limits(bounds.STALL_AFTER)).guard(task))
    passed = timedelta()
    while passed < bounds.STALL_AFTER:
        await _asleep(clock)
        clock.advance(bounds.STALL_TICK)
        passed += bounds.STALL_TICK
    await asyncio.wait({guarding})
    with pytest.raises(StalledError):
        guarding.result()
    assert not task.done()
    let_go.set()
    await asyncio.wait({task})
