"""Replies reach the room once, whatever Discord does."""

import pytest

from clankie_settings.wire.action import Clear, Post, TextUpdate, Typing
from clankie_settings.wire.trigger import Room
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import GENERAL_ID, GUILD_ID
from clankie_stage.discord.world import Json
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo, replied

POST = "/channels/*/messages"
REPLY = {"author": {"bot": True}}


def posts(stage: Stage) -> list[Json]:
    return stage.control.recorded({"kind": "rest", "method": "POST", "path": POST})


def replies(stage: Stage, room: str = "general") -> list[str]:
    return [each["content"] for each in stage.control.messages(room) if each["author"].get("bot")]


@pytest.mark.requirement("ROOM-6")
async def test_nobody_is_pinged_whatever_he_writes(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    """C14."""
    captain.think = lambda trigger: replied(trigger.delivery_id, "@everyone <@1> <@&2> `@here`")
    await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    captain_update = TextUpdate(action_id="a1", delivery_id=said, text="@everyone, soon")
    captain.act(captain_update, 1)
    await captain.until_receipts(said)
    await captain.until_acknowledged("a1")
    assert posts(stage)
    assert all(each["what"]["body"]["allowed_mentions"]["parse"] == [] for each in posts(stage))
    assert all(each["what"]["body"]["allowed_mentions"]["replied_user"] is False for each in posts(stage))
    assert all(each["what"]["body"]["enforce_nonce"] is True for each in posts(stage))


@pytest.mark.parametrize(
    "fault",
    [{"status": 502, "after": True}, {"status": 504, "after": True}, {"after": True, "kill": True}, {"status": 500}],
)
async def test_a_lost_answer_makes_one_message(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, fault: Json
) -> None:
    """C19."""
    captain.think = echo
    await start()
    stage.control.fault(method="POST", route=POST, **fault)
    said = stage.control.say("Ann", "Clankie, once")["id"]
    (receipt,) = await captain.until_receipts(said)
    assert replies(stage) == ["heard: Clankie, once"]
    assert receipt.message_id == stage.control.messages()[-1]["id"]
    assert len(posts(stage)) == 2


@pytest.mark.requirement("OUT-2")
@pytest.mark.parametrize("everywhere", [False, True])
async def test_a_rate_limit_is_waited_out_and_not_hammered(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, everywhere: bool
) -> None:
    """C49."""
    captain.think = echo
    await start()
    body = {"message": "slow down", "retry_after": 0.3, "global": everywhere}
    stage.control.fault(method="POST", route=POST, status=429, body=body)
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_receipts(said)
    first, second = posts(stage)
    assert second["what"]["started_at"] - first["what"]["started_at"] >= 0.3
    assert len(replies(stage)) == 1


@pytest.mark.requirement("OUT-3")
async def test_a_reply_to_a_deleted_message_is_posted_without_the_reference(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C16."""
    await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_turns(1)
    stage.control.delete(said)
    captain.reply(said, "still here")
    (receipt,) = await captain.until_receipts(said)
    assert receipt.message_id is not None
    assert replies(stage) == ["still here"]


@pytest.mark.requirement("OUT-3")
@pytest.mark.parametrize(
    "refusal",
    [
        {"code": 10008, "message": "Unknown Message"},
        {
            "code": 50035,
            "message": "Invalid Form Body",
            "errors": {"message_reference": {"_errors": [{"code": "REPLIES_UNKNOWN_MESSAGE", "message": "x"}]}},
        },
        {
            "code": 50035,
            "message": "Invalid Form Body",
            "errors": {
                "message_reference": {"_errors": [{"code": "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "message": "x"}]}
            },
        },
    ],
)
async def test_a_reference_that_discord_refuses_is_dropped(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, refusal: Json
) -> None:
    """C16, C70: gone, or a system message."""
    captain.think = echo
    await start()
    stage.control.fault(method="POST", route=POST, status=400, body=refusal)
    said = stage.control.say("Ann", "Clankie?")["id"]
    (receipt,) = await captain.until_receipts(said)
    assert receipt.message_id is not None
    _, second = posts(stage)
    assert "message_reference" not in second["what"]["body"]


@pytest.mark.requirement("OUT-4")
async def test_a_permanent_refusal_is_receipted_and_not_tried_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie?", room="notices")["id"]
    (receipt,) = await captain.until_receipts(said)
    assert receipt.code == "discord_50013"
    assert len(posts(stage)) == 1
    await bridge.ended()
    assert (said, "failed") in bridge.evidence()


async def test_a_long_reply_arrives_in_parts_of_which_the_first_alone_answers(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    text = "\n\n".join("word " * 100 for _ in range(30)).strip()
    captain.think = lambda trigger: replied(trigger.delivery_id, text)
    await start()
    said = stage.control.say("Ann", "Clankie, tell me all")["id"]
    receipts = await captain.until_receipts(said, 5)
    assert [(each.part, each.of) for each in receipts] == [(number, 5) for number in range(1, 6)]
    posted = stage.control.messages()[1:]
    assert [bool(each.get("message_reference")) for each in posted] == [True, False, False, False, False]
    assert [len(each["attachments"]) for each in posted] == [0, 0, 0, 0, 1]
    in_file = posted[-1]["attachments"][0]["size"]
    assert sum(len(each["content"]) for each in posted) + in_file >= len(text) - 20
    assert len({each["what"]["body"]["nonce"] for each in posts(stage)}) == 5


async def test_a_part_that_fails_is_tried_alone(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    """C30."""
    captain.think = lambda trigger: replied(trigger.delivery_id, "first " * 300 + "second " * 200)
    await start()
    stage.control.fault(method="POST", route=POST, hold="first")
    said = stage.control.say("Ann", "Clankie?")["id"]
    await stage.control.wait_held("first")
    stage.control.fault(method="POST", route=POST, status=500)
    stage.control.release("first")
    receipts = await captain.until_receipts(said, 2)
    assert [each.message_id for each in receipts] == [each["id"] for each in stage.control.messages()[1:]]
    assert [each["what"]["status"] for each in posts(stage)] == [200, 500, 200]


async def test_a_reply_that_cannot_be_finished_is_incomplete(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C30."""
    captain.think = lambda trigger: replied(trigger.delivery_id, "first " * 300 + "second " * 600)
    bridge: RunningBridge = await start()
    stage.control.fault(method="POST", route=POST, hold="first")
    said = stage.control.say("Ann", "Clankie?")["id"]
    await stage.control.wait_held("first")
    stage.control.fault(method="POST", route=POST, status=403, body={"code": 50013, "message": "x"})
    stage.control.release("first")
    receipts = await captain.until_receipts(said, 3)
    assert [each.code for each in receipts] == [None, "discord_50013", "discord_50013"]
    assert len(replies(stage)) == 1
    await bridge.log.until("reply_incomplete")


async def test_a_reply_that_nobody_could_see_is_not_posted(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C60."""
    captain.think = lambda trigger: replied(trigger.delivery_id, "\u200b\u3164")
    await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    (receipt,) = await captain.until_receipts(said)
    assert receipt.code == "empty_reply"
    assert not posts(stage)


async def test_the_receipt_of_a_reply_precedes_the_rooms_next_trigger(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    await start()
    stage.control.fault(method="POST", route=POST, hold="reply")
    first = stage.control.say("Ann", "Clankie, one")["id"]
    await stage.control.wait_held("reply")
    second = stage.control.say("Ann", "Clankie, two")["id"]
    elsewhere = stage.control.say("Bob", "Clankie, elsewhere", room="random")["id"]
    await captain.until_turns(2)
    assert list(captain.turns) == [first, elsewhere]
    stage.control.release("reply")
    await captain.until_receipts(second)
    receipt = captain.asked.index(f"POST /v1/turns/{first}/receipts")
    assert captain.asked[receipt + 1 :].count("POST /v1/turns") == 1


@pytest.mark.requirement("ROOM-2")
async def test_each_typing_action_lights_the_indicator_once_until_the_reply_is_on_its_way(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C63 (a)."""
    await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_turns(1)
    typing = {"kind": "rest", "method": "POST", "path": "/channels/*/typing"}
    captain.act(Typing(delivery_id=said))
    await stage.control.wait(typing)
    captain.act(Typing(delivery_id=said))
    await stage.control.wait(typing, count=2)
    captain.reply(said, "done")
    await captain.until_receipts(said)
    captain.act(Typing(delivery_id=said))
    captain.act(Typing(delivery_id="unknown"))
    other = stage.control.say("Ann", "Clankie, more")["id"]
    await captain.until_turns(2)
    captain.act(Typing(delivery_id=other))
    await stage.control.wait(typing, count=3)
    assert len(stage.control.typings()) == 3


@pytest.mark.requirement("ROOM-2")
@pytest.mark.parametrize("fault", [{"status": 403, "body": {"code": 50013}}, {"status": 500}, {"hold": "typing"}])
async def test_a_typing_call_that_fails_or_hangs_costs_the_turn_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, fault: Json
) -> None:
    """C63 (e)."""
    await start()
    stage.control.fault(method="POST", route="/channels/*/typing", times=9, **fault)
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_turns(1)
    captain.act(Typing(delivery_id=said))
    mark = stage.control.mark()
    if "hold" in fault:
        await stage.control.wait_held("typing")
    else:
        await stage.control.wait({"kind": "rest", "path": "/channels/*/typing"}, after=mark - 1)
    captain.act(Clear(delivery_id=said))
    captain.reply(said, "here")
    await captain.until_receipts(said)
    assert replies(stage) == ["here"]


@pytest.mark.requirement("ROOM-3")
async def test_an_update_answers_the_message_before_the_reply_and_has_a_nonce_of_its_own(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = stage.control.say("Ann", "Clankie, work")["id"]
    await captain.until_turns(1)
    captain.reply(said, "the result", after_action=1)
    captain.act(TextUpdate(action_id="a1", delivery_id=said, text="still at it"), 1)
    receipt = await captain.until_acknowledged("a1")
    await captain.until_receipts(said)
    update, reply = stage.control.messages()[1:]
    assert (update["content"], reply["content"]) == ("still at it", "the result")
    assert update["message_reference"]["message_id"] == said
    assert (receipt.ok, receipt.message_id) == (True, update["id"])
    assert len({each["what"]["body"]["nonce"] for each in posts(stage)}) == 2


@pytest.mark.requirement("ROOM-3")
async def test_an_update_after_the_result_is_superseded_and_one_for_nobody_refused(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = stage.control.say("Ann", "Clankie, work")["id"]
    await captain.until_turns(1)
    stage.control.fault(method="POST", route=POST, hold="reply")
    captain.reply(said, "the result")
    await stage.control.wait_held("reply")
    captain.act(TextUpdate(action_id="a1", delivery_id=said, text="too late"), 1)
    captain.act(TextUpdate(action_id="a2", delivery_id="gone", text="for whom?"), 2)
    assert (await captain.until_acknowledged("a2")).code == "unknown_delivery"
    stage.control.release("reply")
    assert (await captain.until_acknowledged("a1")).code == "superseded"
    await captain.until_receipts(said)
    assert replies(stage) == ["the result"]


async def test_words_that_nobody_waits_for_are_posted_and_acknowledged(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    room = Room(platform="discord", guild_id=GUILD_ID, channel_id=GENERAL_ID)
    captain.act(Post(action_id="p1", delivery_id="d1", room=room, text="the fork is done"), 1)
    captain.act(Post(action_id="p2", delivery_id="d2", room=room, text="\u200b"), 2)
    receipt = await captain.until_acknowledged("p1")
    assert receipt.message_id == stage.control.messages()[-1]["id"]
    assert (await captain.until_acknowledged("p2")).code == "empty_text"
    assert replies(stage) == ["the fork is done"]
