"""Slash commands: known to Discord, forwarded to the captain, answered to their giver alone."""

from typing import Any

import pytest

from clankie_bridge.core.commands import AWAY, DESCRIPTIONS, NOT_DONE, NOT_HERE
from clankie_bridge.discord import interactions
from clankie_settings.wire.problem import Problem
from clankie_stage.app import Stage
from clankie_stage.discord import interactions as stage_interactions
from clankie_stage.discord.scenery import ANN_ID, BOB_ID, GENERAL_ID, GUILD_ID, THREAD_ID
from clankie_stage.discord.world import Json
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain

CALLBACK = "/interactions/*/*/callback"
ORIGINAL = "/webhooks/*/*/messages/@original"


@pytest.fixture(autouse=True)
def nobody_is_in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is slow is no Discord that does not answer."""
    monkeypatch.setattr(interactions, "PROMISE_WITHIN_S", 60.0)
    monkeypatch.setattr(stage_interactions, "ANSWER_WITHIN_S", 600.0)


async def registered(start: StartBridge, **changed: Any) -> RunningBridge:
    bridge: RunningBridge = await start(**changed)
    await bridge.log.until("commands_registered")
    return bridge


@pytest.mark.requirement("OPS-5")
async def test_the_commands_are_registered_once_for_guilds_and_direct_messages(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge = await registered(start)
    assert {each["name"]: each["description"] for each in stage.control.commands()} == DESCRIPTIONS
    assert all(each["contexts"] == [0, 1] for each in stage.control.commands())
    stage.control.invalidate()
    await bridge.log.until("gateway_ready", 2)
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_turns(1)
    assert said in captain.turns
    assert len(stage.control.recorded({"kind": "rest", "method": "PUT", "path": "/applications/*/commands"})) == 1


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize("name", DESCRIPTIONS)
@pytest.mark.parametrize("room", ["general", "questions", "@Ann"])
async def test_a_command_is_promised_an_answer_and_gets_the_captains(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, name: str, room: str
) -> None:
    if room == "questions":
        room = THREAD_ID
    await registered(start, discord_users=(ANN_ID,), discord_channels=(GENERAL_ID,))
    used = stage.control.interact("Ann", name, room=room)["id"]
    shown = await stage.control.wait_interaction(used)
    assert (shown["content"], shown["ephemeral"]) == (f"{name}: done, @everyone", True)
    command = captain.commands[used]
    assert (command.name, command.actor.actor_id, command.actor.display_name) == (name, ANN_ID, "Ann")
    assert command.room.guild_id == (None if room == "@Ann" else GUILD_ID)
    assert command.room.parent_id == (GENERAL_ID if room == THREAD_ID else None)
    first, edit = stage.control.recorded({"kind": "rest", "path": "*@original"}), stage.control.messages(room)
    assert first[0]["what"]["body"]["allowed_mentions"] == {"parse": []}
    assert not [each for each in edit if each["author"].get("bot")]


@pytest.mark.requirement("OPS-5")
async def test_a_command_does_not_wait_behind_messages_or_a_captain_that_thinks(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await registered(start)
    stage.control.fault(method="GET", route="/channels/*/messages", hold="history")
    stage.control.say("Ann", "Clankie, work")
    await stage.control.wait_held("history")
    used = stage.control.interact("Ann", "stop")["id"]
    await stage.control.wait_interaction(used)
    assert not captain.turns
    stage.control.release("history")


@pytest.mark.requirement("OPS-5", "ING-1")
@pytest.mark.parametrize(
    ("user", "room", "settings"),
    [
        ("Ann", "general", {"discord_guilds": ("1310000000000099999",)}),
        ("Ann", "random", {"discord_channels": (GENERAL_ID,)}),
        ("Ann", "general", {"discord_users": (BOB_ID,)}),
        ("Ann", "@Ann", {"discord_dm_policy": "deny"}),
    ],
)
async def test_whoever_is_not_admitted_is_told_so_and_the_captain_hears_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, user: str, room: str, settings: dict[str, Any]
) -> None:
    await registered(start, **settings)
    shown = await stage.control.wait_interaction(stage.control.interact(user, "stop", room=room)["id"])
    assert (shown["content"], shown["ephemeral"]) == (NOT_HERE, True)
    assert not captain.commands


@pytest.mark.requirement("OPS-5")
async def test_while_the_captain_is_away_its_giver_is_told_plainly(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await registered(start)
    await captain.down()
    shown = await stage.control.wait_interaction(stage.control.interact("Ann", "status")["id"])
    assert (shown["content"], shown["ephemeral"]) == (AWAY, True)
    await captain.up()
    used = stage.control.interact("Ann", "status")["id"]
    assert (await stage.control.wait_interaction(used))["content"].startswith("status: done")


@pytest.mark.requirement("OPS-5", "SEC-2")
async def test_a_refused_command_tells_nothing_of_the_refusal(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.refuse = Problem(title="no", status=422, detail="CANARY", code="invalid_command")
    bridge = await registered(start)
    shown = await stage.control.wait_interaction(stage.control.interact("Ann", "new")["id"])
    assert shown["content"] == NOT_DONE
    assert "CANARY" not in str(bridge.log.lines)
    assert "token" not in str(bridge.log.lines)


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize("fault", [{"after": True, "kill": True}, {"kill": True}, {"status": 500}])
async def test_a_promise_or_an_answer_that_is_lost_is_made_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, fault: Json
) -> None:
    await registered(start)
    stage.control.fault(method="POST", route=CALLBACK, **fault)
    stage.control.fault(method="PATCH", route=ORIGINAL, **fault)
    used = stage.control.interact("Ann", "usage")["id"]
    assert (await stage.control.wait_interaction(used))["content"].startswith("usage: done")
    assert list(captain.commands) == [used]


@pytest.mark.requirement("OPS-5")
async def test_a_command_whose_use_discord_has_forgotten_is_not_carried_out(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge = await registered(start)
    stage.control.fault(method="POST", route=CALLBACK, status=404, body={"code": 10062, "message": "Unknown"}, times=2)
    stage.control.interact("Ann", "stop")
    await bridge.log.until("command_answer_failed", 2)
    used = stage.control.interact("Ann", "stop")["id"]
    await stage.control.wait_interaction(used)
    assert list(captain.commands) == [used]


async def test_commands_that_cannot_be_registered_cost_nothing_else(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    stage.control.fault(
        method="PUT", route="/applications/*/commands", status=403, body={"code": 50001, "message": "x"}
    )
    bridge: RunningBridge = await start()
    await bridge.log.until("commands_not_registered")
    stage.control.say("Ann", "Clankie?")
    await captain.until_turns(1)
