"""From a message in a room to its reply, over real hikari and real HTTP."""

from clankie_stage.app import Stage
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo

REPLY = {"author": {"bot": True}}


async def test_a_mention_is_handed_over_and_its_reply_posted(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    said = stage.control.say("Ann", f"hello <@{stage.world.bot_id}>")
    (reply,) = await stage.control.wait_messages(match=REPLY)
    (receipt,) = await captain.until_receipts(said["id"])
    assert reply["content"] == "heard: hello @Clankie"
    assert reply["message_reference"]["message_id"] == said["id"]
    assert (receipt.part, receipt.of, receipt.message_id) == (1, 1, reply["id"])
    await bridge.ended()
    assert [each for each in bridge.evidence() if each[0] == said["id"]] == [
        (said["id"], "accepted"),
        (said["id"], "replied"),
    ]
