"""A failure is said in the room once, where somebody called him."""

import pytest

from clankie_bridge.core.notices import notice
from clankie_settings.schema import RoomSettings
from clankie_settings.wire.action import Post
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.trigger import Room
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import GENERAL_ID, GUILD_ID, RANDOM_ID
from tests.bridge.conftest import StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, failed, replied

POST = "/channels/*/messages"
HIS = {"author": {"bot": True}}


@pytest.mark.requirement("ROOM-8", "ROOM-6", "ING-10")
@pytest.mark.parametrize("code", [FailureCode.CAPTAIN_TURN_STALLED, FailureCode.BUDGET_REACHED])
async def test_a_failure_is_said_in_one_short_reply_that_pings_nobody(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, code: FailureCode
) -> None:
    """C14: a notice carries no mentions either."""
    captain.think = lambda trigger: failed(trigger.delivery_id, code, notice=True)
    bridge = await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    (receipt,) = await captain.until_receipts(said)
    (posted,) = await stage.control.wait_messages(match=HIS)
    assert posted["content"] == notice(code)
    assert posted["message_reference"]["message_id"] == said
    assert (receipt.part, receipt.of, receipt.message_id) == (1, 1, posted["id"])
    (sent,) = stage.control.recorded({"kind": "rest", "method": "POST", "path": POST})
    assert sent["what"]["body"]["allowed_mentions"] == {"parse": [], "replied_user": False}
    await bridge.ended()
    assert (said, "failed") in bridge.evidence()


@pytest.mark.requirement("ROOM-8")
async def test_a_room_without_notices_gets_a_receipt_and_no_words(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = lambda trigger: failed(trigger.delivery_id, FailureCode.CAPTAIN_MODEL_FAILED, notice=True)
    await start(rooms={f"{GUILD_ID}:{GENERAL_ID}": RoomSettings(notices=False)})
    quiet = stage.control.say("Ann", "Clankie?")["id"]
    (receipt,) = await captain.until_receipts(quiet)
    assert (receipt.code, receipt.message_id) == ("notices_off", None)
    elsewhere = stage.control.say("Ann", "Clankie?", room="random")["id"]
    (receipt,) = await captain.until_receipts(elsewhere)
    assert receipt.message_id is not None
    here = Room(platform="discord", guild_id=GUILD_ID, channel_id=GENERAL_ID)
    there = here.model_copy(update={"channel_id": RANDOM_ID})
    captain.act(Post(action_id="p1", delivery_id="d1", room=here, text="it failed", notice=True), 1)
    assert (await captain.until_acknowledged("p1")) == ActionReceipt(ok=False, code="notices_off")
    captain.act(Post(action_id="p2", delivery_id="d2", room=there, text="it failed", notice=True), 2)
    assert (await captain.until_acknowledged("p2")).ok
    assert not [each for each in stage.control.messages() if each["author"].get("bot")]


@pytest.mark.requirement("ROOM-8")
async def test_an_answer_that_comes_after_its_notice_is_not_taken_for_it(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C45: notice and answer of one delivery have nonces of their own."""
    captain.think = lambda trigger: failed(trigger.delivery_id, FailureCode.CAPTAIN_INTERRUPTED, notice=True)
    bridge = await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_receipts(said)
    await bridge.ended()
    captain.turns[said].receipts.clear()
    captain.settle(said, replied(said, "the answer"))
    await start()
    await captain.until_receipts(said)
    assert [each["content"] for each in stage.control.messages()[1:]] == [
        notice(FailureCode.CAPTAIN_INTERRUPTED),
        "the answer",
    ]


@pytest.mark.requirement("ROOM-8")
async def test_a_notice_whose_answer_is_lost_is_posted_once(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C19: the notice's nonce is the same for every attempt."""
    captain.think = lambda trigger: failed(trigger.delivery_id, FailureCode.CAPTAIN_MODEL_FAILED, notice=True)
    await start()
    stage.control.fault(method="POST", route=POST, after=True, kill=True)
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_receipts(said)
    assert len([each for each in stage.control.messages() if each["author"].get("bot")]) == 1
