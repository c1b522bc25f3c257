"""What keeps the bridge from starting is said in one plain line."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from clankie_bridge.errors import CannotStart
from clankie_stage.app import Stage
from clankie_stage.discord.behaviour import MESSAGE_CONTENT_LIMITED
from clankie_stage.discord.scenery import GUILD_ID
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import TOKEN, LoopbackCaptain, echo

PATIENCE_S = 60.0


class BridgeProcess:
    """`python -m clankie_bridge` with these variables and no others of ours."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._folder = folder
        self._variables = variables

    async def started(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "clankie_bridge",
            cwd=self._folder,
            env={**os.environ, "CLANKIE_STATE": str(self._folder), **self._variables},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def ended(self) -> tuple[int, str]:
        process = await self.started()
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate()
        assert not out
        return process.returncode or 0, err.decode()


def plain_line(said: str) -> str:
    (line,) = [each for each in said.splitlines() if not each.startswith("{")]
    assert "Traceback" not in said
    return line


async def test_without_a_token_the_process_says_where_to_get_one(tmp_path: Path) -> None:
    code, said = await BridgeProcess(tmp_path).ended()
    assert code == 78
    assert "DISCORD_BOT_TOKEN is not set" in plain_line(said)
    assert len(said.splitlines()) == 1


async def test_a_misspelt_setting_is_named(tmp_path: Path) -> None:
    code, said = await BridgeProcess(tmp_path, CLANKIE_DISCORD_GUILD="1").ended()
    assert code == 78
    assert "CLANKIE_DISCORD_GUILDS" in plain_line(said)


@pytest.mark.parametrize("token", ["not-a-token", "MTMwMDAwMDAwMDAwMDAwMDAwMQ.wrong.token"])
async def test_a_wrong_token_is_said_and_never_shown(tmp_path: Path, stage: Stage, token: str) -> None:
    process = BridgeProcess(tmp_path, DISCORD_BOT_TOKEN=token, CLANKIE_DISCORD_REST_URL=stage.rest_url)
    code, said = await process.ended()
    assert code == 78
    assert "Discord refuses DISCORD_BOT_TOKEN" in plain_line(said)
    assert token not in said


@pytest.mark.requirement("ING-8")
async def test_a_missing_intent_is_said_with_where_to_switch_it_on(tmp_path: Path, stage: Stage) -> None:
    """C25."""
    stage.control.behave(application_flags=0)
    process = BridgeProcess(tmp_path, DISCORD_BOT_TOKEN=stage.token, CLANKIE_DISCORD_REST_URL=stage.rest_url)
    code, said = await process.ended()
    assert code == 78
    assert "Message Content intent is off" in plain_line(said)


async def test_the_process_works_and_ends_cleanly_on_a_signal(
    tmp_path: Path, stage: Stage, captain: LoopbackCaptain
) -> None:
    captain.think = echo
    process = await BridgeProcess(
        tmp_path,
        DISCORD_BOT_TOKEN=stage.token,
        CLANKIE_DISCORD_REST_URL=stage.rest_url,
        CLANKIE_CAPTAIN_URL=captain.url,
        CLANKIE_CAPTAIN_TOKEN=TOKEN,
        CLANKIE_DISCORD_GUILDS=GUILD_ID,
    ).started()
    try:
        await stage.control.wait_connected(within_s=PATIENCE_S)
        said = stage.control.say("Ann", "Clankie, a secret word")["id"]
        await captain.until_receipts(said)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0
    assert not out
    assert "secret word" not in err.decode()
    assert stage.base_url not in err.decode()
    assert "secret word" not in (tmp_path / "bridge/evidence.jsonl").read_text()


@pytest.mark.requirement("ING-8")
@pytest.mark.parametrize(("code", "said"), [(4004, "refuses DISCORD_BOT_TOKEN"), (4014, "intent is off")])
async def test_a_gateway_that_is_closed_for_good_ends_the_bridge_with_the_reason(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, code: int, said: str
) -> None:
    bridge: RunningBridge = await start()
    stage.control.close(code)
    with pytest.raises(CannotStart, match=said):
        async with asyncio.timeout(PATIENCE_S):
            await bridge.life


async def test_a_discord_that_is_away_at_the_start_is_waited_for(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    stage.control.fault(method="GET", route="/applications/@me", kill=True)
    stage.control.fault(method="GET", route="/gateway/bot", status=500, times=4)
    stage.control.behave(application_flags=MESSAGE_CONTENT_LIMITED)
    captain.think = echo
    bridge: RunningBridge = await start()
    assert bridge.log.of("discord_away")
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_receipts(said)


async def test_a_bridge_that_reaches_both_sides_shows_that_it_lives(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start()
    mark = bridge.settings.state / "bridge" / "alive"
    async with asyncio.timeout(PATIENCE_S):
        while not mark.exists():  # noqa: ASYNC110 -- a file announces nothing
            await asyncio.sleep(0)


async def test_a_bridge_without_a_token_does_not_start(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(connected=False, discord_bot_token=None)
    with pytest.raises(CannotStart, match="DISCORD_BOT_TOKEN is not set"):
        await bridge.life
