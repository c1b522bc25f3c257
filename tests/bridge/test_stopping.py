"""A bridge that stops waits for results while its captain stops with it, and for nobody who goes on or is gone."""

from datetime import timedelta

import pytest

from clankie_settings.clock import SystemClock
from clankie_stage.app import Stage
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain

pytestmark = pytest.mark.requirement("DUR-5")

READY = "GET /readyz"
BEYOND_A_MOMENT = timedelta(seconds=10)
"""Longer than a captain that goes on is given to say otherwise, and shorter than runs may go on by default."""


class ToldClock(SystemClock):
    """Sleeps as the machine does; no time passes but what a test lets pass."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = super().elapsed()

    def elapsed(self) -> timedelta:
        return self.passed


async def thinking(stage: Stage, captain: LoopbackCaptain) -> str:
    """A delivery whose result the bridge waits for."""
    said = stage.control.say("Ann", "Clankie, think")["id"]
    await captain.until_asked(f"GET /v1/turns/{said}")
    return said


def replies(stage: Stage) -> list[str]:
    return [each["content"] for each in stage.control.messages() if each["author"].get("bot")]


async def test_what_a_stopping_captain_still_finishes_is_posted_and_receipted(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    clock = ToldClock()
    bridge: RunningBridge = await start(clock=clock)
    said = await thinking(stage, captain)
    captain.draining = True
    bridge.stop.set()
    await captain.until_asked(READY)
    clock.passed += BEYOND_A_MOMENT
    await captain.until_asked(READY, 3)
    assert not bridge.life.done()
    captain.reply(said, "thought")
    await bridge.ended()
    assert replies(stage) == ["thought"]
    assert not captain.turns[said].owed


async def test_a_captain_that_is_told_to_stop_a_moment_later_is_waited_for_too(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    clock = ToldClock()
    bridge: RunningBridge = await start(clock=clock)
    said = await thinking(stage, captain)
    bridge.stop.set()
    await captain.until_asked(READY, 2)
    captain.draining = True
    await captain.until_asked(READY, 4)
    clock.passed += BEYOND_A_MOMENT
    await captain.until_asked(READY, 6)
    captain.reply(said, "thought")
    await bridge.ended()
    assert replies(stage) == ["thought"]


async def test_runs_of_a_captain_that_goes_on_are_left_to_the_next_bridge(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(drain_seconds=3_600)
    said = await thinking(stage, captain)
    await bridge.ended()
    assert replies(stage) == []
    await start()
    captain.reply(said, "thought")
    await captain.until_receipts(said)
    assert replies(stage) == ["thought"]


async def test_a_stopping_captain_that_is_gone_is_waited_for_no_longer(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(drain_seconds=3_600)
    said = await thinking(stage, captain)
    captain.draining = True
    bridge.stop.set()
    await captain.until_asked(READY, 3)
    await captain.down()
    await bridge.ended()
    assert captain.turns[said].owed
