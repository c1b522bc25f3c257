"""Whatever the gateway does on a bad day, the bridge comes back by itself, or says plainly why it cannot."""

import asyncio

import pytest

from clankie_bridge.errors import CannotStart
from clankie_stage.app import Stage
from tests.bridge.conftest import PATIENCE_S, RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo

IDENTIFY, RESUME = 2, 6

COMES_BACK = {4000: RESUME, 4001: IDENTIFY, 4002: RESUME, 4003: IDENTIFY, 4005: IDENTIFY, 4007: IDENTIFY, 4008: RESUME,
              4009: IDENTIFY, 1001: RESUME, 1011: RESUME}  # fmt: skip
"""Discord's close codes after which a client may connect again, and what it ends in there.

Source: https://docs.discord.com/developers/topics/opcodes-and-status-codes.
"""

FOR_GOOD = {
    4004: "DISCORD_BOT_TOKEN",
    4010: "upgrade Clankie",
    4011: "more servers than one connection",
    4012: "upgrade Clankie",
    4013: "upgrade Clankie",
    4014: "Message Content intent",
}
"""Close codes after which connecting again changes nothing, and what the owner is told."""


async def answered(stage: Stage, captain: LoopbackCaptain, text: str) -> str:
    """Somebody calls him and he answers; the message's id."""
    said = stage.control.say("Ann", f"Clankie, {text}")["id"]
    await captain.until_receipts(said)
    return said


def replies(stage: Stage) -> list[str]:
    return [each["content"] for each in stage.control.messages() if each["author"].get("bot")]


@pytest.mark.parametrize("code", COMES_BACK)
async def test_a_close_that_may_be_followed_by_a_connection_is(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, code: int
) -> None:
    captain.think = echo
    await start()
    await answered(stage, captain, "before")
    before = stage.control.mark()
    stage.control.close(code)
    await stage.control.wait({"kind": "gateway_in", "op": COMES_BACK[code]}, after=before, within_s=PATIENCE_S)
    await stage.control.wait_connected(within_s=PATIENCE_S)
    await answered(stage, captain, "after")
    assert replies(stage) == ["heard: Clankie, before", "heard: Clankie, after"]


@pytest.mark.parametrize("code", FOR_GOOD)
async def test_a_close_for_good_ends_the_bridge_with_what_to_do(stage: Stage, start: StartBridge, code: int) -> None:
    bridge: RunningBridge = await start()
    before = stage.control.mark()
    stage.control.close(code)
    with pytest.raises(CannotStart, match=FOR_GOOD[code]):
        await asyncio.wait_for(bridge.life, PATIENCE_S)
    assert stage.control.recorded({"kind": "gateway_in", "op": IDENTIFY}, after=before) == []


async def test_a_session_that_is_lost_is_begun_anew_and_nothing_is_answered_twice(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    one = await answered(stage, captain, "one")
    stage.control.invalidate(resumable=False)
    await bridge.log.until("gateway_ready", 2)
    two = await answered(stage, captain, "two")
    stage.control.forget_sessions()
    await bridge.log.until("gateway_ready", 3)
    three = await answered(stage, captain, "three")
    assert list(captain.turns) == [one, two, three]
    assert len(replies(stage)) == 3


async def test_events_that_a_resume_brings_a_second_time_start_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    await start()
    said = [await answered(stage, captain, str(number)) for number in range(3)]
    before = stage.control.mark()
    stage.control.drop()
    await stage.control.wait({"kind": "gateway_in", "op": RESUME}, after=before, within_s=PATIENCE_S)
    await stage.control.wait_connected(within_s=PATIENCE_S)
    stage.control.duplicate(20)
    said.append(await answered(stage, captain, "and now"))
    assert list(captain.turns) == said
    assert len(replies(stage)) == 4


async def test_a_connection_that_is_dead_without_a_word_is_noticed_by_its_heartbeat(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    stage.control.behave(heartbeat_interval_ms=400)
    await start()
    before = stage.control.mark()
    stage.control.behave(acknowledge_heartbeats=False)
    await stage.control.wait({"kind": "gateway_in", "op": RESUME}, after=before, within_s=PATIENCE_S)
    stage.control.behave(acknowledge_heartbeats=True)
    await stage.control.wait_connected(within_s=PATIENCE_S)
    await answered(stage, captain, "still there?")
    assert len(replies(stage)) == 1
