"""Slash commands: registered, used and answered by real hikari, and refused as Discord refuses."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import hikari
import pytest

from clankie_stage.app import Stage
from clankie_stage.client import StageClient
from clankie_stage.discord.interactions import ANSWER_WITHIN_S, TOKEN_LIFETIME_S
from clankie_stage.discord.scenery import BOT_ID, GUILD_ID
from tests.stage.discord.conftest import Connect


class SetClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = timedelta(hours=1)

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.at

    def elapsed(self) -> timedelta:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        self.at += duration


def form(name: str = "ping", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "Says something back", "type": 1, **more}


@pytest.fixture
async def caller(stage: Stage) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client with the bot's token, rooted at the REST interface."""
    headers = {"Authorization": f"Bot {stage.token}"}
    async with aiohttp.ClientSession(f"{stage.base_url}/api/v10/", headers=headers) as session:
        await session.put(f"applications/{BOT_ID}/commands", json=[form()])
        yield session


async def answered(session: aiohttp.ClientSession, method: str, path: str, json: Any) -> tuple[int, int]:
    async with session.request(method, path, json=json) as response:
        body: Any = await response.json() if response.content_length else {}
        return response.status, body.get("code", 0) if response.status >= 400 else 0


def callback(stage: Stage, interaction: str) -> str:
    return f"interactions/{interaction}/{stage.control.parts.interactions.by_id[interaction].token}/callback"


def original(stage: Stage, interaction: str) -> str:
    return f"webhooks/{BOT_ID}/{stage.control.parts.interactions.by_id[interaction].token}/messages/@original"


async def test_hikari_registers_hears_defers_and_answers(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    bot = listener.bot
    heard: list[hikari.CommandInteraction] = []

    async def respond(event: hikari.InteractionCreateEvent) -> None:
        interaction = event.interaction
        assert isinstance(interaction, hikari.CommandInteraction)
        heard.append(interaction)
        await interaction.create_initial_response(
            hikari.ResponseType.DEFERRED_MESSAGE_CREATE, flags=hikari.MessageFlag.EPHEMERAL
        )
        await interaction.edit_initial_response("pong")
        await interaction.execute("and more", flags=hikari.MessageFlag.EPHEMERAL)

    bot.subscribe(hikari.InteractionCreateEvent, respond)
    command = bot.rest.slash_command_builder("ping", "Says something back")
    (made,) = await bot.rest.set_application_commands(int(BOT_ID), [command])
    (again,) = await bot.rest.set_application_commands(int(BOT_ID), [command])
    assert made.id == again.id
    for room in ("general", "@Ann"):
        used = stage.control.interact("Ann", "ping", room=room)
        shown = await stage.control.wait_interaction(used["id"])
        assert (shown["content"], shown["ephemeral"]) == ("pong", True)
    assert [each.command_name for each in heard] == ["ping", "ping"]
    assert [each.guild_id for each in heard] == [int(GUILD_ID), None]
    assert stage.control.messages() == []


async def test_commands_of_a_guild_and_those_for_dms_are_usable_where_they_are(stage: Stage, connect: Connect) -> None:
    bot = (await connect()).bot
    guild = bot.rest.slash_command_builder("here", "Of this guild")
    await bot.rest.set_application_commands(int(BOT_ID), [guild], int(GUILD_ID))
    assert [each["name"] for each in stage.control.commands(GUILD_ID)] == ["here"]
    assert stage.control.interact("Ann", "here")["state"] == "waiting"
    with pytest.raises(LookupError, match="no command 'here'"):
        stage.control.interact("Ann", "here", room="@Ann")
    with pytest.raises(LookupError, match="no interaction"):
        stage.control.interaction("1")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ([form("Ping")], 400, 50035),
        ([form("a b")], 400, 50035),
        ([form("x" * 33)], 400, 50035),
        ([form("a", description="")], 400, 50035),
        ([form("a", description="x" * 101)], 400, 50035),
        ([form("a"), form("a")], 400, 50035),
        ([form("a", type=2)], 400, 50035),
        ([{"description": "x"}], 400, 50035),
        ([form(f"c{each}") for each in range(101)], 400, 30032),
        ([1], 400, 50035),
        ({}, 400, 50035),
    ],
)
async def test_commands_that_discord_would_not_take_are_refused(
    caller: aiohttp.ClientSession, body: Any, status: int, code: int
) -> None:
    assert await answered(caller, "PUT", f"applications/{BOT_ID}/commands", body) == (status, code)


async def test_an_interaction_is_answered_once_and_edited_after_that_alone(
    stage: Stage, caller: aiohttp.ClientSession
) -> None:
    used = stage.control.interact("Ann", "ping")["id"]
    first, edit = callback(stage, used), original(stage, used)
    assert await answered(caller, "PATCH", edit, {"content": "too soon"}) == (404, 10015)
    assert await answered(caller, "POST", first, {"type": 99}) == (400, 50035)
    assert await answered(caller, "POST", first, {"type": 4, "data": {"content": " "}}) == (400, 50006)
    assert await answered(caller, "POST", first, {"type": 4, "data": {"content": "x" * 2_001}}) == (400, 50035)
    assert await answered(caller, "POST", first, {"type": 5, "data": {"flags": 64}}) == (204, 0)
    assert await answered(caller, "POST", first, {"type": 5}) == (400, 40060)
    assert await answered(caller, "GET", edit, None) == (404, 10008)
    assert await answered(caller, "PATCH", edit, {"content": "done"}) == (200, 0)
    assert stage.control.interaction(used)["content"] == "done"
    assert await answered(caller, "DELETE", edit, None) == (204, 0)
    assert await answered(caller, "PATCH", edit, {"content": "again"}) == (404, 10008)
    assert await answered(caller, "POST", f"interactions/{used}/wrong/callback", {"type": 5}) == (404, 10062)
    assert await answered(caller, "PUT", "applications/1/commands", []) == (403, 50001)


async def test_an_interaction_needs_no_bot_token_but_its_own(stage: Stage, caller: aiohttp.ClientSession) -> None:
    used = stage.control.interact("Ann", "ping")["id"]
    async with aiohttp.ClientSession(f"{stage.base_url}/api/v10/") as nobody:
        assert await answered(nobody, "POST", callback(stage, used), {"type": 5}) == (204, 0)
        assert (await answered(nobody, "PUT", f"applications/{BOT_ID}/commands", []))[0] == 401


async def test_an_answer_after_three_seconds_or_a_quarter_of_an_hour_comes_too_late() -> None:
    clock = SetClock()
    async with (
        Stage.running(clock=clock) as stage,
        aiohttp.ClientSession(f"{stage.base_url}/api/v10/", headers={"Authorization": f"Bot {stage.token}"}) as caller,
    ):
        await caller.put(f"applications/{BOT_ID}/commands", json=[form()])
        late, deferred = (stage.control.interact("Ann", "ping")["id"] for _ in range(2))
        assert await answered(caller, "POST", callback(stage, deferred), {"type": 5}) == (204, 0)
        clock.at += timedelta(seconds=ANSWER_WITHIN_S + 0.1)
        assert await answered(caller, "POST", callback(stage, late), {"type": 5}) == (404, 10062)
        clock.at += timedelta(seconds=TOKEN_LIFETIME_S)
        assert await answered(caller, "PATCH", original(stage, deferred), {"content": "x"}) == (404, 10015)


async def test_another_process_uses_commands_as_well(
    stage: Stage, caller: aiohttp.ClientSession, remote: StageClient
) -> None:
    used = await remote.call("interact", user="Ann", command="ping")
    await answered(caller, "POST", callback(stage, used["id"]), {"type": 4, "data": {"content": "pong"}})
    shown = await remote.call("wait_interaction", interaction=used["id"])
    assert (shown["content"], shown["ephemeral"]) == ("pong", False)
    assert [each["name"] for each in await remote.call("commands")] == ["ping"]
