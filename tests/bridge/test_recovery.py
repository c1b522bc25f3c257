"""A captain that is away costs delay and nothing else; a bridge that starts takes up what is owed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from clankie_settings.wire.action import TextUpdate, Typing
from clankie_settings.wire.problem import Problem
from clankie_settings.wire.receipt import Receipt
from clankie_settings.wire.trigger import Actor, Room, Trigger
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import ANN_ID, GENERAL_ID, GUILD_ID
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, Turn, echo, silent


def replies(stage: Stage) -> list[str]:
    return [each["content"] for each in stage.control.messages() if each["author"].get("bot")]


async def test_messages_wait_in_order_for_a_captain_that_is_down(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    await captain.down()
    said = [stage.control.say("Ann", f"Clankie, {number}")["id"] for number in range(3)]
    await bridge.log.until("captain_away")
    await captain.up()
    await captain.until_receipts(said[-1])
    assert list(captain.turns) == said
    assert replies(stage) == [f"heard: Clankie, {number}" for number in range(3)]
    assert len(bridge.log.of("captain_away")) == 1
    assert bridge.log.of("captain_back")


async def test_a_result_is_waited_for_over_a_captains_restart(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = stage.control.say("Ann", "Clankie, think")["id"]
    await captain.until_asked(f"GET /v1/turns/{said}")
    await captain.down()
    captain.reply(said, "thought")
    await captain.up()
    await captain.until_receipts(said)
    assert replies(stage) == ["thought"]
    assert captain.asked.count("POST /v1/turns") == 2


@pytest.mark.parametrize("edited", [False, True])
async def test_a_captain_that_forgot_a_delivery_gets_it_again_as_it_reads_now(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, edited: bool
) -> None:
    captain.queued = True
    await start()
    said = stage.control.say("Ann", "Clankie, think")["id"]
    await captain.until_asked(f"GET /v1/turns/{said}")
    if edited:
        stage.control.edit(said, "Clankie, think twice")
        # What is written behind it is handed over when the edit is done.
        stage.control.say("Ann", "Clankie, and this")
        await captain.until_turns(2)
    await captain.down()
    captain.turns.clear()
    captain.think = echo
    await captain.up()
    await captain.until_receipts(said)
    assert ("heard: Clankie, think twice" if edited else "heard: Clankie, think") in replies(stage)


@pytest.mark.requirement("ING-7")
async def test_a_deleted_message_that_a_dead_captain_had_not_heard_after_all_is_taken_back(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie, think")["id"]
    await captain.until_asked(f"GET /v1/turns/{said}")
    stage.control.delete(said)
    await captain.until_asked(f"DELETE /v1/turns/{said}")
    captain.unheard = {said}
    await captain.down()
    captain.queued = True
    await captain.up()
    captain.unheard.clear()
    await bridge.until_outcome(said, "accepted", "withdrawn")
    assert replies(stage) == []


@pytest.mark.requirement("ING-7")
async def test_a_captain_that_forgot_a_delivery_does_not_get_it_again_where_its_message_is_deleted(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie, think")["id"]
    await captain.until_asked(f"GET /v1/turns/{said}")
    stage.control.delete(said)
    await captain.until_asked(f"DELETE /v1/turns/{said}")
    await captain.down()
    captain.turns.clear()
    captain.think = echo
    await captain.up()
    await bridge.log.until("result_lost")
    assert captain.turns == {}
    assert replies(stage) == []


async def test_a_draining_captain_is_asked_again(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    await start()
    waiting = stage.control.say("Ann", "Clankie, one")["id"]
    await captain.until_turns(1)
    captain.draining = True
    said = stage.control.say("Ann", "Clankie, two")["id"]
    await captain.until_asked("POST /v1/turns", 3)
    captain.draining = False
    captain.think = echo
    await captain.until_receipts(said)
    captain.reply(waiting, "one")
    await captain.until_receipts(waiting)


async def test_other_content_under_the_same_id_takes_the_stored_result(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    await captain.down()
    said = stage.control.say("Ann", "Clankie, as it reads now")["id"]
    await bridge.log.until("captain_away")
    other = captain_turn(said, "Clankie, as it read before")
    captain.turns[said] = other
    await captain.up()
    await captain.until_receipts(said)
    assert bridge.log.of("delivery_conflict")
    assert replies(stage) == ["heard: Clankie, as it read before"]


@pytest.mark.parametrize(("status", "code"), [(422, "invalid_trigger"), (413, "too_large")])
async def test_a_trigger_that_the_captain_will_never_take_is_failed_once(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, status: int, code: str
) -> None:
    captain.refuse = Problem(title="x", status=status, detail="x", code=code, field="body")
    bridge: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    (line,) = await bridge.log.until("trigger_refused")
    assert (line["code"], line["field"]) == (code, "body")
    captain.refuse = None
    captain.think = echo
    after = stage.control.say("Ann", "Clankie, still there?")["id"]
    await captain.until_receipts(after)
    await bridge.ended()
    assert [each for each in bridge.evidence() if each[0] == said] == [(said, "failed")]


async def test_a_wrong_token_is_said_once_in_words_that_help(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(captain_token=SecretStr("another-token-altogether"))
    (line,) = await bridge.log.until("captain_refuses")
    assert "CLANKIE_CAPTAIN_TOKEN" in line["reason"]
    assert len(bridge.log.of("captain_refuses")) == 1


@pytest.mark.requirement("WIRE-7")
@pytest.mark.parametrize(("version", "side"), [("0", "upgrade the captain"), ("2", "upgrade the presence")])
async def test_a_captain_of_another_wire_version_is_refused_with_the_side_to_upgrade(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, version: str, side: str
) -> None:
    captain.wire_version = version
    bridge: RunningBridge = await start()
    (line,) = await bridge.log.until("captain_refuses")
    assert side in line["reason"]


async def test_a_started_bridge_posts_what_is_owed_and_skips_parts_that_are_there(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C54, C30: within the nonce window, parts with a receipt are never sent again."""
    first: RunningBridge = await start()
    said = [stage.control.say("Ann", f"Clankie, {number}")["id"] for number in range(3)]
    await captain.until_turns(3)
    await first.killed()
    captain.reply(said[0], "first " * 300 + "second " * 200)
    captain.reply(said[1], "settled while away")
    posted = "the first part, posted by the bridge that was killed"
    stage.control.say("Clankie", posted)
    captain.turns[said[0]].receipts.append(Receipt(part=1, of=2, message_id="1", posted_at=datetime.now(UTC)))
    await start()
    await captain.until_receipts(said[0], 2)
    await captain.until_receipts(said[1])
    captain.act(Typing(delivery_id=said[2]))
    captain.act(TextUpdate(action_id="a1", delivery_id=said[2], text="soon"), 1)
    assert (await captain.until_acknowledged("a1")).ok
    captain.reply(said[2], "settled later")
    await captain.until_receipts(said[2])
    assert [each.split()[0] for each in replies(stage)] == ["the", "second", "settled", "soon", "settled"]


async def test_a_reply_that_was_receipted_is_never_posted_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C54."""
    captain.think = echo
    first: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_receipts(said)
    await first.killed()
    second: RunningBridge = await start()
    captain.think = lambda trigger: silent(trigger.delivery_id)
    last = stage.control.say("Ann", "Clankie, again")["id"]
    await captain.until_turns(2)
    await second.until_outcome(last, "accepted", "silent")
    assert len(replies(stage)) == 1


async def test_what_is_owed_to_a_room_outside_discord_is_left_alone(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    outside = captain_turn("hello-1", "posted by hand")
    room = Room(platform="console", channel_id=GENERAL_ID)
    captain.turns["hello-1"] = replace(outside, trigger=outside.trigger.model_copy(update={"room": room}))
    captain.think = echo
    await start()
    said = stage.control.say("Ann", "Clankie, here?")["id"]
    await captain.until_receipts(said)
    assert replies(stage) == ["heard: Clankie, here?"]
    assert captain.turns["hello-1"].receipts == []


async def test_an_action_that_comes_twice_is_done_once_and_acknowledged_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = stage.control.say("Ann", "Clankie, work")["id"]
    await captain.until_turns(1)
    update = TextUpdate(action_id="a1", delivery_id=said, text="still at it")
    captain.act(update, 1)
    await captain.until_acknowledged("a1")
    captain.action_receipts.clear()
    captain.act(update, 2)
    assert (await captain.until_acknowledged("a1")).ok
    assert replies(stage) == ["still at it"]


async def test_the_stream_of_actions_is_read_on_after_a_captains_restart(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = stage.control.say("Ann", "Clankie, work")["id"]
    await captain.until_turns(1)
    captain.act(TextUpdate(action_id="a1", delivery_id=said, text="one"), 1)
    await captain.until_acknowledged("a1")
    await captain.down()
    captain.act(TextUpdate(action_id="a2", delivery_id=said, text="two"), 2)
    captain.action_receipts.clear()
    await captain.up()
    assert (await captain.until_acknowledged("a2")).ok
    assert list(captain.action_receipts) == ["a2"]
    assert replies(stage) == ["one", "two"]


def captain_turn(delivery_id: str, body: str) -> Turn:
    """A turn that the captain accepted from an earlier bridge."""
    trigger = Trigger(
        wire_version=1,
        delivery_id=delivery_id,
        presence_id="discord",
        kind="mention",
        room=Room(platform="discord", guild_id=GUILD_ID, channel_id=GENERAL_ID),
        actor=Actor(actor_id=ANN_ID, display_name="Ann"),
        message_id=delivery_id,
        sent_at=datetime.now(UTC),
        body=body,
        addressed=True,
    )
    return Turn(trigger, datetime.now(UTC), echo(trigger))
