"""No tool-activity card outlives its turn, whoever died, and whatever Discord did not answer."""

import asyncio

import pytest

from clankie_settings.wire.action import ToolActivity
from clankie_stage.app import Stage
from tests.bridge.conftest import PATIENCE_S, RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo, silent

pytestmark = pytest.mark.requirement("ROOM-4")

POSTS = "/channels/*/messages"
ONE = "/channels/*/messages/*"
POST = {"kind": "rest", "method": "POST", "path": POSTS}
LOOK = {"kind": "rest", "method": "GET", "path": POSTS}
REMOVAL = {"kind": "rest", "method": "DELETE", "path": ONE}


def at_work(delivery_id: str) -> ToolActivity:
    return ToolActivity(delivery_id=delivery_id, state="working", categories={"search": 1}, elapsed_s=9)


def cards(stage: Stage) -> list[str]:
    return [each["id"] for each in stage.control.messages() if each["content"].startswith("🛠️")]


async def until_no_card(stage: Stage) -> None:
    async with asyncio.timeout(PATIENCE_S):
        removals = 0
        while cards(stage):
            removals += 1
            await stage.control.wait(REMOVAL, count=removals)


async def with_a_card(stage: Stage, captain: LoopbackCaptain, words: str = "Clankie, work") -> str:
    """Let a turn show its card; the turn's delivery."""
    said = stage.control.say("Ann", words)["id"]
    await captain.changes.until(lambda: said in captain.turns, PATIENCE_S)
    captain.act(at_work(said))
    await stage.control.wait_messages("general", match={"author": {"bot": True}})
    return said


async def steered(stage: Stage, captain: LoopbackCaptain) -> str:
    """Let somebody say more while he is at work, and the captain have it."""
    said = stage.control.say("Bob", "Clankie, and hurry")["id"]
    await captain.changes.until(lambda: said in captain.turns, PATIENCE_S)
    await captain.changes.until(lambda: captain.lease is not None and captain.lease.listening_at, PATIENCE_S)
    return said


async def test_a_card_in_front_of_a_message_that_was_handed_over_goes_when_the_bridge_comes_back(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """The room holds nothing that was missed, and nothing is owed, and yet a card stands there that nobody knows of."""
    first: RunningBridge = await start()
    said = await with_a_card(stage, captain)
    steering = await steered(stage, captain)
    await first.killed()
    captain.settle(said, silent(said))
    captain.settle(steering, silent(steering))
    await start()
    await until_no_card(stage)


async def test_the_card_of_a_turn_that_this_life_goes_on_with_stays_until_its_end(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    first: RunningBridge = await start()
    said = await with_a_card(stage, captain)
    (card,) = cards(stage)
    steering = await steered(stage, captain)
    await first.killed()
    before = len(stage.control.recorded(LOOK))
    stage.control.fault(method="GET", route=POSTS, hold="history")
    await start()
    await stage.control.wait_held("history")
    # The captain's news comes again, and Discord, which knows the message's name, gives the same one back.
    await stage.control.wait(POST, count=2)
    stage.control.release("history")
    await stage.control.wait(LOOK, count=before + 1)
    captain.reply(steering, "hurried")
    # Before its own words, and behind its own message: what was found before is done with by then.
    await stage.control.wait(LOOK, count=before + 3)
    assert cards(stage) == [card]
    captain.reply(said, "done")
    await captain.until_receipts(said)
    await until_no_card(stage)


async def test_a_card_none_of_whose_posts_was_answered_is_sought_when_its_turn_ends(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    stage.control.fault(method="POST", route=POSTS, after=True, kill=True, times=4)
    said = await with_a_card(stage, captain)
    await stage.control.wait(POST, count=4)
    captain.settle(said, silent(said))
    await until_no_card(stage)


async def test_a_card_that_would_not_go_is_tried_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = await with_a_card(stage, captain)
    stage.control.fault(method="DELETE", route=ONE, status=503, times=5)
    captain.settle(said, silent(said))
    await stage.control.wait(REMOVAL, count=6)
    await until_no_card(stage)


async def test_a_room_that_cannot_be_swept_is_answered_all_the_same(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    first: RunningBridge = await start()
    await with_a_card(stage, captain)
    await first.killed()
    captain.think = echo
    stage.control.fault(method="GET", route=POSTS, status=403, body={"code": 50013}, times=99)
    await start()
    await captain.until_receipts(stage.control.say("Ann", "Clankie, hello")["id"])
    assert len(cards(stage)) == 1
