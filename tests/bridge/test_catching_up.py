"""What was said without him, where he once spoke, becomes one turn after a while."""

import pytest

from clankie_stage.app import Stage
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo, silent

SOON = 0.01
"""Minutes."""

LATE = 1_000


async def drifted(stage: Stage, captain: LoopbackCaptain) -> list[str]:
    """He spoke in the room, and seven messages later he is out of the conversation; ids of the last two."""
    captain.think = echo
    await captain.until_receipts(stage.control.say("Ann", "Clankie, hello")["id"])
    captain.think = lambda trigger: silent(trigger.delivery_id)
    said = [stage.control.say("Ann" if each % 2 else "Bob", f"talk {each}")["id"] for each in range(7)]
    return said[5:]


@pytest.mark.requirement("ING-4", "ING-5")
async def test_talk_he_drifted_from_becomes_one_turn_with_the_newest_in_front(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(catch_up_minutes=SOON)
    waited = await drifted(stage, captain)
    trigger = (await captain.until_turns(7))[-1]
    assert (trigger.kind, trigger.addressed) == ("catch_up", False)
    assert [*trigger.covers, trigger.message_id] == waited
    assert trigger.context[-1].message_id == waited[0]
    await bridge.ended()
    assert [event for subject, event in bridge.evidence() if subject == waited[0]] == ["buffered"]
    assert [event for subject, event in bridge.evidence() if subject == waited[1]] == ["buffered", "accepted", "silent"]


@pytest.mark.requirement("ING-4")
async def test_a_reply_to_it_opens_the_conversation_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start(catch_up_minutes=SOON)
    waited = await drifted(stage, captain)
    captain.think = echo
    await captain.until_receipts(waited[-1])
    captain.think = lambda trigger: silent(trigger.delivery_id)
    later = stage.control.say("Ann", "really?")["id"]
    await captain.changes.until(lambda: later in captain.turns, 15.0)
    assert captain.turns[later].trigger.kind == "message"


@pytest.mark.requirement("ING-4")
async def test_there_is_no_turn_where_he_never_spoke_or_where_it_is_off(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(catch_up_minutes=SOON)
    never = stage.control.say("Bob", "talk", room="random")["id"]
    await drifted(stage, captain)
    await captain.until_turns(7)
    await bridge.ended()
    assert never not in {
        each for turn in captain.turns.values() for each in (turn.trigger.message_id, *turn.trigger.covers)
    }
    off: RunningBridge = await start(catch_up_minutes=0)
    for number in range(3):
        stage.control.say("Bob", f"more {number}")
    await captain.until_turns(len(captain.turns) + 0)
    last = stage.control.say("Bob", "Clankie?")["id"]
    await captain.changes.until(lambda: last in captain.turns, 15.0)
    await off.ended()
    assert len(captain.turns) == 8


@pytest.mark.requirement("ING-4")
async def test_a_call_takes_along_what_waited(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    bridge: RunningBridge = await start(catch_up_minutes=SOON)
    captain.think = echo
    await captain.until_receipts(stage.control.say("Ann", "Clankie, hello")["id"])
    captain.think = lambda trigger: silent(trigger.delivery_id)
    talk = [stage.control.say("Bob", f"talk {each}")["id"] for each in range(7)]
    called = stage.control.say("Ann", "Clankie?")["id"]
    await captain.changes.until(lambda: called in captain.turns, 15.0)
    elsewhere = stage.control.say("Clankie", "here I was", room="random")["id"]
    waited = stage.control.say("Bob", "talk", room="random")["id"]
    for number in range(6):
        waited = stage.control.say("Bob", f"talk {number}", room="random")["id"]
    await captain.changes.until(lambda: waited in captain.turns, 15.0)
    await bridge.ended()
    assert not {*talk[5:], elsewhere} & captain.turns.keys()
    assert [turn.trigger.kind for turn in captain.turns.values()].count("catch_up") == 1


@pytest.mark.requirement("ING-4", "ING-7")
async def test_what_was_deleted_or_edited_while_it_waited_is_not_handed_over_as_it_was(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start(catch_up_minutes=0.03)
    edited, deleted = await drifted(stage, captain)
    stage.control.delete(deleted)
    stage.control.edit(edited, "other words")
    trigger = (await captain.until_turns(7))[-1]
    assert (trigger.message_id, trigger.body, trigger.covers) == (edited, "other words", ())
