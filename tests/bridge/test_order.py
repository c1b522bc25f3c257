"""Words stand in a room in the order in which they settled, whichever the bridge happens to hear of first."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from clankie_bridge.core import notices
from clankie_bridge.desk import order
from clankie_settings.wire.action import React, TextUpdate
from clankie_settings.wire.failure import FailureCode
from clankie_stage.app import Stage
from tests.bridge.conftest import StartBridge
from tests.bridge.loopback_captain import PATIENCE_S, LoopbackCaptain, Settled, absorbed, failed, replied, silent

OWED = "GET /v1/turns"

Outcome = Callable[[str], Settled]

NOTHING_SAID: dict[str, Outcome | None] = {
    "without a result": None,
    "silent": silent,
    "absorbed": lambda delivery: absorbed(delivery, "another"),
    "failed without a notice": lambda delivery: failed(delivery, FailureCode.CAPTAIN_CANCELLED),
    "withdrawn": lambda delivery: failed(delivery, FailureCode.WITHDRAWN),
}


async def three_said(stage: Stage, captain: LoopbackCaptain) -> list[str]:
    said: list[str] = []
    for number in range(3):
        said.append(stage.control.say("Ann", f"Clankie, {number}")["id"])
        await captain.until_turns(number + 1)
    return said


def posted(stage: Stage) -> list[str]:
    return [each["content"] for each in stage.control.messages() if each["author"].get("bot")]


@pytest.mark.requirement("OUT-2")
@pytest.mark.parametrize("heard", [(2, 1, 0), (2, 0, 1), (1, 2, 0)], ids=str)
async def test_replies_stand_as_they_settled_though_the_later_are_heard_of_first(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, heard: tuple[int, ...]
) -> None:
    await start()
    said = await three_said(stage, captain)
    captain.unheard = {*said}
    captain.settle(said[0], failed(said[0], FailureCode.CAPTAIN_TURN_STALLED, notice=True))
    captain.settle(said[1], replied(said[1], "second"))
    captain.settle(said[2], replied(said[2], "third"))
    for each in heard[:-1]:
        before = captain.asked.count(OWED)
        captain.unheard.remove(said[each])
        await captain.changes.until(
            lambda each=each, before=before: captain.asked.count(OWED) > before or captain.turns[said[each]].receipts,
            PATIENCE_S,
        )
    captain.unheard.clear()
    for each in said:
        await captain.until_receipts(each)
    assert posted(stage) == [notices.notice(FailureCode.CAPTAIN_TURN_STALLED), "second", "third"]


@pytest.mark.requirement("OUT-2")
@pytest.mark.parametrize("outcome", NOTHING_SAID.values(), ids=NOTHING_SAID.keys())
async def test_a_reply_waits_for_nobody_who_has_nothing_to_say(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, outcome: Outcome | None
) -> None:
    await start()
    said = await three_said(stage, captain)
    captain.unheard = {*said[:2]}
    if outcome is not None:
        captain.settle(said[0], outcome(said[0]))
        captain.settle(said[1], outcome(said[1]))
    captain.reply(said[2], "third")
    await captain.until_receipts(said[2])
    assert posted(stage) == ["third"]


@pytest.mark.requirement("OUT-2")
@pytest.mark.parametrize("knows", [False, True], ids=["from the first", "while it is waited for"])
async def test_a_reply_waits_for_no_captain_that_cannot_say_what_has_settled_before(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    monkeypatch.setattr(order, "ASKED_AGAIN_EVERY", timedelta(milliseconds=50))
    monkeypatch.setattr(order, "AWAY_FOR", timedelta(milliseconds=200))
    await start()
    said = await three_said(stage, captain)
    captain.unheard = {*said[:2]}
    captain.settle(said[0], replied(said[0], "first"))
    captain.listless, before = not knows, captain.asked.count(OWED)
    captain.reply(said[2], "third")
    if knows:
        await captain.until_asked(OWED, before + 2)
        assert posted(stage) == []
        captain.listless = True
    await captain.until_receipts(said[2])
    captain.listless = False
    captain.unheard.clear()
    await captain.until_receipts(said[0])
    assert posted(stage) == ["third", "first"]


@pytest.mark.requirement("OUT-2", "ROOM-3")
async def test_an_interim_word_does_not_overtake_a_reply_that_settled_before(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = await three_said(stage, captain)
    captain.unheard, before = {said[0]}, captain.asked.count(OWED)
    captain.settle(said[0], replied(said[0], "first"))
    captain.act(TextUpdate(action_id="a1", delivery_id=said[1], text="at work on the second"), 1)
    await captain.until_asked(OWED, before + 1)
    captain.unheard.clear()
    assert (await captain.until_acknowledged("a1")).ok
    assert posted(stage) == ["first", "at work on the second"]


@pytest.mark.requirement("OUT-2", "ROOM-3")
async def test_interim_words_stand_in_the_order_in_which_they_were_said(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = await three_said(stage, captain)
    captain.listing = slow = asyncio.Event()
    before = captain.asked.count(OWED)
    captain.act(TextUpdate(action_id="a1", delivery_id=said[1], text="one"), 1)
    await captain.until_asked(OWED, before + 1)
    captain.act(TextUpdate(action_id="a2", delivery_id=said[1], text="two"), 2)
    captain.act(React(action_id="a3", delivery_id=said[0], emoji="👍"), 3)
    await captain.until_acknowledged("a3")
    slow.set()
    await captain.until_acknowledged("a1")
    await captain.until_acknowledged("a2")
    assert posted(stage) == ["one", "two"]
