"""The tool-activity card of a turn, and reactions."""

from datetime import timedelta

import pytest

from clankie_bridge.core import card
from clankie_settings.schema import RoomSettings
from clankie_settings.wire.action import Clear, React, Speak, ToolActivity
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Room
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import GENERAL_ID, GUILD_ID
from clankie_stage.discord.world import Json
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo, failed, silent

POST = {"kind": "rest", "method": "POST", "path": "/channels/*/messages"}
EDIT = {"kind": "rest", "method": "PATCH", "path": "/channels/*/messages/*"}
REMOVAL = {"kind": "rest", "method": "DELETE", "path": "/channels/*/messages/*"}


def working(delivery_id: str, elapsed_s: int = 5, **counts: int) -> ToolActivity:
    return ToolActivity(delivery_id=delivery_id, state="working", categories=counts, elapsed_s=elapsed_s)


def his(stage: Stage) -> list[str]:
    return [each["content"] for each in stage.control.messages() if each["author"].get("bot")]


async def at_work(stage: Stage, captain: LoopbackCaptain) -> str:
    said = stage.control.say("Ann", "Clankie, look it up")["id"]
    await captain.until_turns(len(captain.turns) + 1)
    return said


@pytest.mark.requirement("ROOM-4", "ROOM-6")
async def test_a_turn_that_works_shows_one_card_that_follows_it_and_goes_before_the_reply_is_done(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = await at_work(stage, captain)
    captain.act(working(said, web=1))
    (posted,) = await stage.control.wait(POST)
    body = posted["what"]["body"]
    assert body["content"] == "🛠️ At work: web x 1"
    assert body["flags"] & 1 << 12
    assert body["allowed_mentions"]["parse"] == []
    assert "message_reference" not in body
    for count in range(2, 9):
        captain.act(working(said, web=count))
    await stage.control.wait(EDIT)
    captain.act(working(said, web=9, files=1))
    first, second = await stage.control.wait(EDIT, count=2)
    assert second["what"]["body"]["content"] == "🛠️ At work: web x 9, files x 1"
    assert first["what"]["started_at"] - posted["what"]["started_at"] >= 2
    assert second["what"]["started_at"] - first["what"]["started_at"] >= 2
    captain.reply(said, "found it")
    await captain.until_receipts(said)
    await stage.control.wait(REMOVAL)
    assert his(stage) == ["found it"]
    assert len(stage.control.recorded(POST)) == 2


@pytest.mark.requirement("ROOM-4")
@pytest.mark.parametrize("end", ["clear", "silent", "failed", "stop"])
async def test_a_card_goes_with_its_turn_however_it_ends(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, end: str
) -> None:
    bridge: RunningBridge = await start()
    said = await at_work(stage, captain)
    captain.act(working(said, web=1))
    await stage.control.wait_messages(match={"content": "*At work*"})
    if end == "clear":
        captain.act(Clear(delivery_id=said))
    elif end == "silent":
        captain.settle(said, silent(said))
    elif end == "failed":
        captain.settle(said, failed(said, FailureCode.CAPTAIN_MODEL_FAILED))
    else:
        await bridge.ended()
    await stage.control.wait(REMOVAL)
    assert his(stage) == []
    captain.act(working(said, web=2))
    captain.think = echo
    if end != "stop":
        await captain.until_receipts(stage.control.say("Ann", "Clankie, hello")["id"])
        assert his(stage) == ["heard: Clankie, hello"]


@pytest.mark.requirement("ROOM-4")
async def test_a_card_whose_message_is_gone_stays_away_and_harms_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = await at_work(stage, captain)
    captain.act(working(said, web=1))
    (card,) = await stage.control.wait_messages(match={"content": "*At work*"})
    stage.control.delete(card["id"])
    captain.act(working(said, web=2))
    (edit,) = await stage.control.wait(EDIT)
    assert edit["what"]["status"] == 404
    captain.act(working(said, web=3))
    captain.reply(said, "done")
    await captain.until_receipts(said)
    assert his(stage) == ["done"]
    assert len(stage.control.recorded(EDIT)) == 1


@pytest.mark.requirement("ROOM-4")
@pytest.mark.parametrize("fault", [{"status": 403, "body": {"code": 50013}}, {"status": 500}, {"hold": "card"}])
async def test_a_card_that_cannot_be_shown_costs_the_turn_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, fault: Json
) -> None:
    await start()
    said = await at_work(stage, captain)
    stage.control.fault(method="POST", route="/channels/*/messages", **fault)
    captain.act(working(said, web=1))
    if "hold" in fault:
        await stage.control.wait_held("card")
    else:
        await stage.control.wait(POST)
    captain.reply(said, "here")
    (receipt,) = await captain.until_receipts(said)
    assert receipt.message_id is not None
    assert "here" in his(stage)


@pytest.mark.requirement("ROOM-4")
async def test_a_card_whose_answer_was_lost_is_one_message_and_goes(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C19: the card has a nonce as well."""
    await start()
    said = await at_work(stage, captain)
    stage.control.fault(method="POST", route="/channels/*/messages", after=True, kill=True)
    captain.act(working(said, web=1))
    await stage.control.wait(POST, count=2)
    captain.settle(said, silent(said))
    await stage.control.wait(REMOVAL)
    assert his(stage) == []


@pytest.mark.requirement("ROOM-4")
async def test_quick_work_and_a_room_without_cards_show_none(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "FIRST_AFTER", timedelta(hours=1))
    await start(rooms={f"{GUILD_ID}:{GENERAL_ID}": RoomSettings(card=False)})
    said = await at_work(stage, captain)
    captain.act(working(said, elapsed_s=7_200, web=1))
    quick = stage.control.say("Ann", "Clankie, quick", room="random")["id"]
    await captain.until_turns(2)
    captain.act(working(quick, elapsed_s=0, web=1))
    captain.act(working("nobody", web=1))
    captain.reply(quick, "quick")
    captain.reply(said, "done")
    await captain.until_receipts(quick)
    await captain.until_receipts(said)
    assert {each["what"]["body"]["content"] for each in stage.control.recorded(POST)} == {"quick", "done"}


@pytest.mark.parametrize(
    ("emoji", "code"),
    [("👍", None), ("blob:1310000000000000009", None), ("<a:blob:131000000000000>", None), ("yes", "x")],
)
async def test_a_reaction_is_put_on_the_message_and_receipted(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, emoji: str, code: str | None
) -> None:
    await start()
    said = await at_work(stage, captain)
    captain.act(React(action_id="a1", delivery_id=said, emoji=emoji), 1)
    receipt = await captain.until_acknowledged("a1")
    assert (receipt.ok, receipt.code) == ((True, None) if code is None else (False, "discord_10014"))
    assert bool(stage.control.messages()[-1].get("reactions")) is receipt.ok


async def test_a_reaction_for_nobody_and_words_to_say_aloud_are_refused(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    said = await at_work(stage, captain)
    room = Room(platform="discord", guild_id=GUILD_ID, channel_id=GENERAL_ID)
    captain.act(React(action_id="a1", delivery_id="gone", emoji="👍"), 1)
    captain.act(Speak(action_id="a2", delivery_id=said, room=room, text="hello"), 2)
    assert (await captain.until_acknowledged("a1")).code == "unknown_delivery"
    assert (await captain.until_acknowledged("a2")).code == "not_supported"
