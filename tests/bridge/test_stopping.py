"""A bridge that stops waits for results while its captain stops with it, and for nobody who goes on or is gone."""

import pytest

from clankie_stage.app import Stage
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain

pytestmark = pytest.mark.requirement("DUR-5")

READY = "GET /readyz"


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
    bridge: RunningBridge = await start()
    said = await thinking(stage, captain)
    captain.draining = True
    bridge.stop.set()
    # Far beyond the moment in which a captain that goes on is told apart.
    await captain.until_asked(READY, 30)
    assert not bridge.life.done()
    captain.reply(said, "thought")
    await bridge.ended()
    assert replies(stage) == ["thought"]
    assert not captain.turns[said].owed


async def test_a_captain_that_is_told_to_stop_a_moment_later_is_waited_for_too(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start()
    said = await thinking(stage, captain)
    bridge.stop.set()
    await captain.until_asked(READY)
    captain.draining = True
    await captain.until_asked(READY, 30)
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
