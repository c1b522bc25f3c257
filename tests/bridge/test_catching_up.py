"""What was said without him, where he once spoke, becomes one turn after a while."""

from datetime import timedelta

import pytest

from clankie_stage.app import Stage
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import PATIENCE_S, LoopbackCaptain, echo, silent
from tests.bridge.test_stopping import ToldClock

SOON = 0.01
"""Minutes after which the bridge looks, on a clock on which none has passed until a test says so."""

A_WHILE = timedelta(minutes=1)


async def drifted(stage: Stage, captain: LoopbackCaptain, bridge: RunningBridge) -> list[str]:
    """He spoke in the room, and seven messages later he is out of the conversation; ids of the last two."""
    captain.think = echo
    await captain.until_receipts(stage.control.say("Ann", "Clankie, hello")["id"])
    captain.think = lambda trigger: silent(trigger.delivery_id)
    said = [stage.control.say("Ann" if each % 2 else "Bob", f"talk {each}")["id"] for each in range(7)]
    await bridge.until_outcome(said[-1], "buffered")
    return said[5:]


@pytest.mark.requirement("ING-4", "ING-5")
async def test_talk_he_drifted_from_becomes_one_turn_with_the_newest_in_front(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    clock = ToldClock()
    bridge: RunningBridge = await start(catch_up_minutes=SOON, clock=clock)
    waited = await drifted(stage, captain, bridge)
    clock.passed += A_WHILE
    trigger = (await captain.until_turns(7))[-1]
    assert (trigger.kind, trigger.addressed) == ("catch_up", False)
    assert [*trigger.covers, trigger.message_id] == waited
    assert trigger.context[-1].message_id == waited[0]
    await bridge.until_outcome(waited[1], "buffered", "accepted", "silent")
    assert bridge.outcome(waited[0]) == ["buffered"]


@pytest.mark.requirement("ING-4")
async def test_a_reply_to_it_opens_the_conversation_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    clock = ToldClock()
    bridge: RunningBridge = await start(catch_up_minutes=SOON, clock=clock)
    waited = await drifted(stage, captain, bridge)
    captain.think = echo
    clock.passed += A_WHILE
    await captain.until_receipts(waited[-1])
    captain.think = lambda trigger: silent(trigger.delivery_id)
    later = stage.control.say("Ann", "really?")["id"]
    await captain.changes.until(lambda: later in captain.turns, PATIENCE_S)
    assert captain.turns[later].trigger.kind == "message"


@pytest.mark.requirement("ING-4")
async def test_there_is_no_turn_where_he_never_spoke_or_where_it_is_off(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    clock = ToldClock()
    bridge: RunningBridge = await start(catch_up_minutes=SOON, clock=clock)
    never = stage.control.say("Bob", "talk", room="random")["id"]
    await drifted(stage, captain, bridge)
    clock.passed += A_WHILE
    await captain.until_turns(7)
    await bridge.ended()
    assert never not in {
        each for turn in captain.turns.values() for each in (turn.trigger.message_id, *turn.trigger.covers)
    }
    off: RunningBridge = await start(catch_up_minutes=0)
    for number in range(3):
        stage.control.say("Bob", f"more {number}")
    last = stage.control.say("Bob", "Clankie?")["id"]
    await captain.changes.until(lambda: last in captain.turns, PATIENCE_S)
    await off.ended()
    assert len(captain.turns) == 8


@pytest.mark.requirement("ING-4")
async def test_a_call_takes_along_what_waited(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    clock = ToldClock()
    bridge: RunningBridge = await start(catch_up_minutes=SOON, clock=clock)
    captain.think = echo
    await captain.until_receipts(stage.control.say("Ann", "Clankie, hello")["id"])
    captain.think = lambda trigger: silent(trigger.delivery_id)
    talk = [stage.control.say("Bob", f"talk {each}")["id"] for each in range(7)]
    called = stage.control.say("Ann", "Clankie?")["id"]
    await captain.changes.until(lambda: called in captain.turns, PATIENCE_S)
    clock.passed += A_WHILE
    elsewhere = stage.control.say("Clankie", "here I was", room="random")["id"]
    waited = stage.control.say("Bob", "talk", room="random")["id"]
    for number in range(6):
        waited = stage.control.say("Bob", f"talk {number}", room="random")["id"]
    await bridge.until_outcome(waited, "buffered")
    clock.passed += A_WHILE
    await captain.changes.until(lambda: waited in captain.turns, PATIENCE_S)
    await bridge.ended()
    assert not {*talk[5:], elsewhere} & captain.turns.keys()
    assert [turn.trigger.kind for turn in captain.turns.values()].count("catch_up") == 1


@pytest.mark.requirement("ING-4", "ING-7")
async def test_what_was_deleted_or_edited_while_it_waited_is_not_handed_over_as_it_was(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    clock = ToldClock()
    bridge: RunningBridge = await start(catch_up_minutes=SOON, clock=clock)
    edited, deleted = await drifted(stage, captain, bridge)
    stage.control.delete(deleted)
    stage.control.edit(edited, "other words")
    stage.control.say("Ann", "whatever", room="@Ann")
    await bridge.log.until("not_admitted")  # so what came before that was seen as well
    clock.passed += A_WHILE
    trigger = (await captain.until_turns(7))[-1]
    assert (trigger.message_id, trigger.body, trigger.covers) == (edited, "other words", ())
