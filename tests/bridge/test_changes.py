"""Edits and deletions: they hold while nobody has heard the words, and never make a second turn."""

import pytest

from clankie_settings.wire.problem import Problem
from clankie_stage.app import Stage
from tests.bridge.conftest import StartBridge
from tests.bridge.loopback_captain import PATIENCE_S, LoopbackCaptain, echo, silent

POST = {"kind": "rest", "method": "POST", "path": "/channels/*/messages"}
PREVIEW = [{"type": "link", "url": "https://example.test", "title": "A page"}]


def calls(captain: LoopbackCaptain, method: str) -> list[str]:
    return [each for each in captain.asked if each.startswith(f"{method} /v1/turns/")]


async def settled(stage: Stage, captain: LoopbackCaptain) -> None:
    """Everything that was said before is worked on: a room's line is kept in order."""
    captain.think = lambda trigger: silent(trigger.delivery_id)
    last = stage.control.say("Bob", "Clankie, last")["id"]
    await captain.until_asked("POST /v1/turns", captain.asked.count("POST /v1/turns") + 1)
    await captain.changes.until(lambda: last in captain.turns, PATIENCE_S)


@pytest.mark.requirement("ING-7", "ING-5")
async def test_an_edit_replaces_the_words_while_the_turn_is_queued(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C67 (a): once for each edit, and never for Discord's own additions."""
    captain.queued = True
    bridge = await start()
    said = stage.control.say("Ann", "Clankie, buy mlik")["id"]
    await captain.until_turns(1)
    stage.control.unfurl(said, PREVIEW)
    stage.control.edit(said, "Clankie, buy milk")
    await captain.until_asked(f"PATCH /v1/turns/{said}")
    stage.control.unfurl(said, PREVIEW)
    stage.control.edit(said, "Clankie, buy milk")
    await settled(stage, captain)
    assert [each.body for each in captain.turns[said].edits] == ["Clankie, buy milk"]
    assert len(calls(captain, "PATCH")) == 1
    await bridge.ended()
    assert bridge.outcome(said) == ["accepted", "accepted"]


@pytest.mark.requirement("ING-7")
async def test_an_edit_of_what_a_run_has_heard_changes_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C67 (a), before and after the reply."""
    await start()
    said = stage.control.say("Ann", "Clankie, one")["id"]
    await captain.until_turns(1)
    stage.control.edit(said, "Clankie, two")
    await captain.until_asked(f"PATCH /v1/turns/{said}")
    captain.reply(said, "one it is")
    await captain.until_receipts(said)
    stage.control.edit(said, "Clankie, three")
    stage.control.unfurl(said, PREVIEW)
    await settled(stage, captain)
    assert len(calls(captain, "PATCH")) == 1
    assert len(captain.turns) == 2
    assert len(stage.control.recorded(POST)) == 1


@pytest.mark.requirement("ING-7", "ING-5")
@pytest.mark.parametrize("bulk", [False, True])
async def test_a_deletion_withdraws_a_queued_turn(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, bulk: bool
) -> None:
    """C67 (c), (d)."""
    captain.queued = True
    bridge = await start()
    said = stage.control.say("Ann", "Clankie, never mind")["id"]
    await captain.until_turns(1)
    if bulk:
        stage.control.delete_bulk("general", [said])
    else:
        stage.control.delete(said)
    await captain.until_asked(f"DELETE /v1/turns/{said}")
    await settled(stage, captain)
    await bridge.until_outcome(said, "accepted", "withdrawn")
    assert not stage.control.recorded(POST)


@pytest.mark.requirement("ING-7", "OUT-3")
async def test_the_reply_to_a_message_that_is_gone_goes_without_the_reference(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C67, C16: all its parts arrive, and none of them refers to what is gone."""
    await start()
    said = stage.control.say("Ann", "Clankie, tell me")["id"]
    await captain.until_turns(1)
    stage.control.delete(said)
    await captain.until_asked(f"DELETE /v1/turns/{said}")
    captain.reply(said, "word " * 900)
    receipts = await captain.until_receipts(said, 3)
    assert all(each.message_id for each in receipts)
    sent = [each["what"]["body"] for each in stage.control.recorded(POST)]
    assert len(sent) == 3
    assert not any("message_reference" in each for each in sent)


@pytest.mark.requirement("ING-7", "ING-5")
async def test_what_was_not_handed_over_yet_is_changed_or_dropped_here(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C67: the captain is down, one message is on its way to it, and others wait behind that one."""
    captain.think = echo
    bridge = await start()
    first = stage.control.say("Ann", "Clankie, hello")["id"]
    await captain.until_receipts(first)
    await captain.down()
    on_its_way = stage.control.say("Ann", "Clankie, frist")["id"]
    edited = stage.control.say("Ann", "Clankie, secnod")["id"]
    deleted = stage.control.say("Bob", "Clankie, third")["id"]
    await bridge.log.until("captain_away")
    stage.control.edit(on_its_way, "Clankie, first")
    stage.control.edit(edited, "Clankie, second")
    stage.control.delete(deleted)
    stage.control.say("Ann", "whatever", room="@Ann")
    await bridge.log.until("not_admitted")  # so what came before that was seen as well
    await captain.up()
    await captain.until_receipts(edited)
    await bridge.ended()
    assert [each.trigger.body for each in captain.turns.values()] == [
        "Clankie, hello",
        "Clankie, first",
        "Clankie, second",
    ]
    assert not calls(captain, "PATCH")
    assert bridge.outcome(deleted) == ["withdrawn"]


@pytest.mark.requirement("ING-7")
async def test_a_message_deleted_on_its_way_to_a_captain_that_is_down_is_never_handed_over(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge = await start()
    first = stage.control.say("Ann", "Clankie, hello")["id"]
    await captain.until_receipts(first)
    await captain.down()
    deleted = stage.control.say("Ann", "Clankie, never mind")["id"]
    await bridge.log.until("captain_away")
    stage.control.delete(deleted)
    stage.control.say("Ann", "whatever", room="@Ann")
    await bridge.log.until("not_admitted")  # so the deletion was seen as well
    last = stage.control.say("Bob", "Clankie, me")["id"]
    await captain.up()
    await captain.until_receipts(last)
    await bridge.ended()
    assert list(captain.turns) == [first, last]
    assert bridge.outcome(deleted) == ["withdrawn"]


@pytest.mark.requirement("ING-7")
async def test_a_message_deleted_while_the_captain_has_no_space_left_is_not_asked_about(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """A captain whose disk is full keeps nothing of what it is given."""
    captain.think = echo
    bridge = await start()
    captain.refuse = Problem(title="x", status=507, detail="x", code="store_full")
    said = stage.control.say("Ann", "Clankie, hello")["id"]
    await bridge.log.until("captain_in_trouble")
    stage.control.delete(said)
    stage.control.say("Ann", "whatever", room="@Ann")
    await bridge.log.until("not_admitted")  # so what came before that was seen as well
    captain.refuse = None
    await captain.until_receipts(stage.control.say("Bob", "Clankie, and me?")["id"])
    await bridge.ended()
    assert bridge.outcome(said) == ["withdrawn"]
    assert not calls(captain, "DELETE")
