"""The bot and its servers, as a real stage shows them: what is wrong is said with what to do, and the token never."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from clankie_cli.checks import bot, guilds
from clankie_cli.checks.bot import Bot
from clankie_cli.checks.discord import Discord
from clankie_cli.checks.finding import Finding
from clankie_settings.schema import BridgeSettings
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import BOT_ID, GENERAL_ID, GUILD_ID, NOTICES_ID, OWNER_ID, RANDOM_ID, THREAD_ID
from tests.ports import free_ports

pytestmark = pytest.mark.requirement("OPS-9")

CANARY = "CANARY.wrong.token"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with Stage.running(port=0) as stage:
        yield stage


async def looked(
    stage: Stage, token: str | None = None, ahead: timedelta = timedelta()
) -> tuple[Bot | None, dict[str, Finding]]:
    async with Discord.opened(SecretStr(token or stage.token), stage.rest_url) as discord:
        known, found = await bot.looked_at(discord, datetime.now(UTC) + ahead)
    assert all((token or stage.token) not in each.said for each in found)
    return known, {each.check: each for each in found}


async def servers(stage: Stage, **settings: Any) -> list[Finding]:
    place = {"state": Path("/nowhere"), "discord_attachment_root": Path("/nowhere")}
    async with Discord.opened(SecretStr(stage.token), stage.rest_url) as discord:
        known, _ = await bot.looked_at(discord, datetime.now(UTC))
        assert known is not None
        chosen = BridgeSettings.model_validate({**place, "discord_guilds": (GUILD_ID,), **settings})
        return await guilds.looked_at(discord, known, chosen)


def states(found: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(each.check, each.state) for each in found]


async def test_a_bot_that_is_set_up_is_fine(stage: Stage) -> None:
    known, found = await looked(stage)
    assert known is not None
    assert (known.user, known.owner) == (BOT_ID, OWNER_ID)
    assert {name: each.state for name, each in found.items()} == {"token": "ok", "intent": "ok", "clock": "ok"}


async def test_a_refused_token_is_said_and_never_shown(stage: Stage) -> None:
    known, found = await looked(stage, CANARY)
    assert known is None
    assert found["token"].state == "wrong"
    assert "Reset Token" in found["token"].said
    assert found["intent"].state == "skipped"


@pytest.mark.parametrize("token", ["line\nbreak", "ümlaut", " "])
async def test_a_token_that_no_request_can_carry_is_wrong(stage: Stage, token: str) -> None:
    async with Discord.opened(SecretStr(token), stage.rest_url) as discord:
        known, found = await bot.looked_at(discord, datetime.now(UTC))
    assert (known, found[0].state) == (None, "wrong")


@pytest.mark.requirement("ING-8")
async def test_a_missing_message_content_intent_is_said_with_where_it_is(stage: Stage) -> None:
    stage.control.behave(application_flags=0)
    _, found = await looked(stage)
    assert found["intent"].state == "wrong"
    assert "Privileged Gateway Intents" in found["intent"].said


@pytest.mark.parametrize(("off", "word"), [(timedelta(minutes=5), "ahead of"), (timedelta(minutes=-5), "behind")])
async def test_a_clock_that_is_off_is_said_with_its_direction(stage: Stage, off: timedelta, word: str) -> None:
    _, found = await looked(stage, ahead=off)
    assert found["clock"].state == "wrong"
    assert word in found["clock"].said
    assert "NTP" in found["clock"].said


@pytest.mark.parametrize(("status", "word"), [(429, "wait a minute"), (500, "discordstatus.com"), (503, "503")])
async def test_an_answer_that_is_none_says_what_to_do(stage: Stage, status: int, word: str) -> None:
    stage.control.fault(route="/users/@me", status=status, times=9)
    known, found = await looked(stage)
    assert known is None
    assert word in found["token"].said


async def test_without_a_network_every_line_is_clear() -> None:
    async with Discord.opened(SecretStr(CANARY), f"http://127.0.0.1:{free_ports(1)[0]}") as discord:
        known, found = await bot.looked_at(discord, datetime.now(UTC))
    assert known is None
    assert states(found) == [("token", "wrong"), ("intent", "skipped"), ("clock", "skipped")]
    assert "check this machine's network" in found[0].said


async def test_no_admitted_server_is_wrong(stage: Stage) -> None:
    assert "CLANKIE_DISCORD_GUILDS" in (await servers(stage, discord_guilds=()))[0].said


async def test_a_server_that_he_is_not_on_is_said_with_the_invitation(stage: Stage) -> None:
    (found,) = await servers(stage, discord_guilds=("99999",))
    assert found.state == "wrong"
    assert f"client_id={BOT_ID}" in found.said


@pytest.mark.parametrize("named", [(GUILD_ID,), ("*",)])
async def test_a_room_that_is_not_for_him_is_worth_a_note(stage: Stage, named: tuple[str, ...]) -> None:
    found = await servers(stage, discord_guilds=named)
    assert states(found) == [("server", "ok"), ("permissions", "note")]
    assert "2 of 3 channels" in found[1].said
    assert f"{NOTICES_ID} lacks Send Messages" in found[1].said


async def test_a_room_that_the_settings_name_and_that_is_shut_is_wrong(stage: Stage) -> None:
    found = await servers(stage, discord_channels=(GENERAL_ID, NOTICES_ID))
    assert states(found) == [("server", "ok"), ("permissions", "wrong")]
    assert GENERAL_ID not in found[1].said


async def test_rooms_that_are_all_shut_are_wrong(stage: Stage) -> None:
    for room in (GENERAL_ID, RANDOM_ID, NOTICES_ID):
        stage.control.set_access(room, "none")
    assert states(await servers(stage))[1] == ("permissions", "wrong")


async def test_an_open_room_is_fine(stage: Stage) -> None:
    assert states(await servers(stage, discord_channels=(GENERAL_ID,))) == [("server", "ok"), ("permissions", "ok")]


async def test_a_thread_of_the_settings_is_told_from_an_id_that_nothing_has(stage: Stage) -> None:
    found = await servers(stage, discord_channels=(GENERAL_ID, THREAD_ID, "88888"))
    assert states(found) == [("server", "ok"), ("permissions", "ok"), ("permissions", "note"), ("permissions", "wrong")]
    assert "thread" in found[2].said
    assert "correct the id" in found[3].said


async def test_a_server_that_discord_does_not_show_is_said(stage: Stage) -> None:
    stage.control.fault(route=f"/guilds/{GUILD_ID}/roles", status=500, times=9)
    found = await servers(stage)
    assert states(found) == [("server", "ok"), ("permissions", "wrong")]
