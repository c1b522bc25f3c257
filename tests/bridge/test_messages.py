"""From a message in a room to its reply, over real hikari and real HTTP."""

from typing import Any

import pytest

from clankie_settings.wire.failure import FailureCode
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import ANN_ID, BOT_ROLE_ID, GENERAL_ID, GUILD_ID, THREAD_ID
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, absorbed, echo, failed, silent

REPLY = {"author": {"bot": True}}


@pytest.mark.requirement("ING-5")
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
    await bridge.until_outcome(said["id"], "accepted", "replied")


async def test_a_burst_is_handed_over_in_order_and_absorbed_where_the_captain_says_so(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C01: three messages, one reply, and two that are absorbed."""
    bridge: RunningBridge = await start()
    said = [stage.control.say("Ann", f"Clankie, {number}")["id"] for number in range(3)]
    triggers = await captain.until_turns(3)
    assert [each.delivery_id for each in triggers] == said
    captain.reply(said[0], "all three")
    captain.settle(said[1], absorbed(said[1], said[0]))
    captain.settle(said[2], absorbed(said[2], said[0]))
    await bridge.until_outcome(said[0], "accepted", "replied")
    await bridge.until_outcome(said[1], "accepted", "absorbed")
    await bridge.until_outcome(said[2], "accepted", "absorbed")
    await bridge.ended()
    assert len([each for each in stage.control.messages() if each["author"].get("bot")]) == 1


@pytest.mark.requirement("ING-5")
async def test_silence_and_a_failure_without_notice_post_nothing_and_are_evidence(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C17, the bridge's half: what the captain judged silent leaves nothing in the room."""
    bridge: RunningBridge = await start()
    first = stage.control.say("Ann", "Clankie?")["id"]
    second = stage.control.say("Bob", "Clankie!")["id"]
    await captain.until_turns(2)
    captain.settle(first, silent(first))
    captain.settle(second, failed(second, FailureCode.CAPTAIN_MODEL_FAILED))
    captain.think = echo
    await captain.until_receipts(stage.control.say("Ann", "Clankie, hello")["id"])
    await bridge.until_outcome(first, "accepted", "silent")
    await bridge.until_outcome(second, "accepted", "failed")
    await bridge.ended()
    assert len([each for each in stage.control.messages() if each["author"].get("bot")]) == 1


@pytest.mark.requirement("ING-2", "ING-5")
async def test_unaddressed_talk_is_buffered_and_comes_along_as_context(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start()
    talk = stage.control.say("Ann", "nice weather")["id"]
    stage.control.say("Bob", "Clankie, what did Ann say?")
    (trigger,) = await captain.until_turns(1)
    assert [(each.message_id, each.body) for each in trigger.context] == [(talk, "nice weather")]
    await bridge.until_outcome(talk, "buffered")


@pytest.mark.requirement("ING-3")
async def test_after_his_reply_he_reads_on_unaddressed(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    first = stage.control.say("Ann", "Clankie, hello")["id"]
    await captain.until_receipts(first)
    await bridge.ended()
    captain.think = lambda trigger: silent(trigger.delivery_id)
    again: RunningBridge = await start()
    later = [stage.control.say("Ann", f"talk {number}")["id"] for number in range(6)]
    await captain.until_turns(6)
    for each in later[:5]:
        await again.until_outcome(each, "accepted", "silent")
    await again.until_outcome(later[5], "buffered")


@pytest.mark.requirement("ING-3")
async def test_whoever_answers_him_at_once_is_in_conversation(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    await start()
    first = stage.control.say("Ann", "Clankie, hello")["id"]
    await captain.until_receipts(first)
    second = stage.control.say("Ann", "and how are you?")["id"]
    await captain.until_receipts(second)
    assert list(captain.turns) == [first, second]


async def test_a_cold_room_gets_its_history_with_his_own_words_marked(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    for number in range(14):
        stage.control.say("Clankie" if number % 2 else "Ann", f"old {number}")
    await start()
    stage.control.say("Bob", "clankie?")
    (trigger,) = await captain.until_turns(1)
    assert [(each.body, each.is_self) for each in trigger.context] == [
        (f"old {number}", bool(number % 2)) for number in range(2, 14)
    ]


async def test_a_forum_post_is_the_opener_of_its_thread(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    stage.control.create_room("help", forum=True)
    thread = stage.control.create_thread("it broke", parent="help", content="all of it")
    for number in range(13):
        stage.control.say("Ann", f"talk {number}", room=thread["id"])
    await start()
    stage.control.say("Bob", "Clankie, take a look", room=thread["id"])
    (trigger,) = await captain.until_turns(1)
    assert len(trigger.context) == 12
    assert (trigger.context[0].message_id, trigger.context[0].body) == (thread["id"], "all of it")


async def test_a_thread_carries_its_opener(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    opener = stage.control.say("Ann", "the question of the thread")
    thread = stage.control.create_thread("questions", message=opener["id"])
    await start()
    stage.control.say("Bob", "Clankie, take a look", room=thread["id"])
    (trigger,) = await captain.until_turns(1)
    assert trigger.room.parent_id == GENERAL_ID
    assert [(each.message_id, each.body) for each in trigger.context] == [(opener["id"], "the question of the thread")]


@pytest.mark.requirement("ING-2")
async def test_the_managed_role_and_a_dm_call_him(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    await start(discord_users=(ANN_ID,))
    stage.control.say("Ann", f"<@&{BOT_ROLE_ID}> hi")
    stage.control.say("Ann", "psst", room="@Ann")
    triggers = await captain.until_turns(2)
    assert {(each.kind, each.addressed, each.body) for each in triggers} == {
        ("mention", True, "@Clankie hi"),
        ("dm", True, "psst"),
    }
    assert {each.room.guild_id for each in triggers} == {GUILD_ID, None}


@pytest.mark.requirement("ING-1", "ING-5")
async def test_the_first_refusal_of_a_guild_is_said_with_its_remedy(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(discord_guilds=())
    refused = [stage.control.say("Ann", "Clankie?")["id"] for _ in range(3)]
    (line,) = await bridge.log.until("not_admitted")
    assert line["guild"] == GUILD_ID
    assert "CLANKIE_DISCORD_GUILDS" in line["remedy"]
    assert "CLANKIE_DISCORD_GUILDS" in bridge.log.of("no_guilds")[0]["remedy"]
    for each in refused:
        await bridge.until_outcome(each, "dropped")
    assert len(bridge.log.of("not_admitted")) == 1
    assert not captain.turns


@pytest.mark.requirement("ING-1")
async def test_a_thread_that_was_never_announced_is_admitted_by_its_parent(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    stage.control.set_access(THREAD_ID, "none")
    await start(discord_channels=(GENERAL_ID,))
    stage.control.set_access(THREAD_ID, "full")
    stage.control.say("Ann", "Clankie?", room=THREAD_ID)
    (trigger,) = await captain.until_turns(1)
    assert trigger.room.channel_id == THREAD_ID


async def test_an_event_that_is_replayed_starts_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie, once")["id"]
    stage.control.duplicate(1)
    await captain.until_receipts(said)
    last = stage.control.say("Ann", "Clankie, twice")["id"]
    await captain.until_receipts(last)
    await bridge.ended()
    assert sorted(bridge.outcome(said)) == ["accepted", "deduplicated", "replied"]
    assert len([each for each in stage.control.messages() if each["author"].get("bot")]) == 2


async def test_a_dropped_connection_loses_no_message(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    await start()
    stage.control.drop()
    said = [stage.control.say("Ann", f"Clankie, {number}")["id"] for number in range(3)]
    triggers = await captain.until_turns(3)
    assert [each.delivery_id for each in triggers] == said


async def test_a_message_that_was_deleted_or_edited_is_not_shown_as_it_was(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    stage.control.say("Ann", "warm up")
    gone, changed = stage.control.say("Ann", "a secret")["id"], stage.control.say("Ann", "a typo")["id"]
    stage.control.delete(gone)
    stage.control.edit(changed, "a word")
    stage.control.say("Bob", "Clankie?")
    (trigger,) = await captain.until_turns(1)
    assert [each.body for each in trigger.context] == ["warm up", "a word"]


async def test_a_reply_to_an_older_picture_carries_that_picture(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    png = {"filename": "a.png", "content": "iVBORw0KGgo=", "content_type": "image/png"}
    older = stage.control.say("Ann", "mine", attachments=[png])["id"]
    for number in range(13):
        stage.control.say("Bob", f"talk {number}", attachments=[png])
    await start()
    stage.control.say("Bob", "Clankie, what is this?", reply_to=older)
    (trigger,) = await captain.until_turns(1)
    assert trigger.reply_to is not None
    assert trigger.reply_to.message_id == older
    assert trigger.context_visual is not None
    assert trigger.context_visual.message_id == older


@pytest.mark.parametrize("fault", [{"status": 403, "body": {"code": 50001}}, {"status": 500}, {"kill": True}])
async def test_a_history_that_cannot_be_read_costs_the_backlog_alone(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, fault: dict[str, Any]
) -> None:
    captain.think = echo
    stage.control.say("Ann", "before")
    await start()
    stage.control.fault(method="GET", route="/channels/*/messages", **fault)
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_receipts(said)
    assert captain.turns[said].trigger.context == ()
    again = stage.control.say("Ann", "Clankie, again?")["id"]
    await captain.until_receipts(again)
    assert [each.body for each in captain.turns[again].trigger.context][-2:] == ["Clankie?", "heard: Clankie?"]


async def test_a_reply_whose_target_discord_did_not_send_is_looked_up(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    target = stage.control.say("Clankie", "my old words")["id"]
    for number in range(13):
        stage.control.say("Bob", f"talk {number}")
    await start()
    stage.control.say("Ann", "really?", reply_to=target, ping=False, omit=["referenced_message"])
    (trigger,) = await captain.until_turns(1)
    assert (trigger.kind, trigger.addressed) == ("reply", True)
    assert trigger.reply_to is not None
    assert (trigger.reply_to.body, trigger.reply_to.is_self) == ("my old words", True)
