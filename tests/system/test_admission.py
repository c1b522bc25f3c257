"""The bridge listens only where it was let in, and says in one plain line why it cannot start."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from clankie_bridge.app import UNSET
from clankie_bridge.discord.gateway import MISSING_INTENT, REFUSED
from clankie_stage.provider.steps import text
from tests.system.house import BRIDGE, House, bare_house
from tests.system.program import Program
from tests.system.scene import Scene

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

CONFIGURATION = 78
"""The exit code that says: starting again changes nothing, the configuration must (sysexits)."""

ELSEWHERE = "1310000000000009999"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """Only the stage runs."""
    async with bare_house(tmp_path_factory.mktemp("admission")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def bridges(house: House) -> AsyncIterator[list[Program]]:
    """Bridges that a test starts; no one outlives it, and the stage behaves again as it did."""
    started: list[Program] = []
    yield started
    for each in started:
        await each.kill()
    await house.stage.call("reset")


async def started(house: House, bridges: list[Program], **settings: str) -> Program:
    """A bridge with other settings; an empty one is unset."""
    env = {name: value for name, value in (house.env | settings).items() if value}
    bridges.append(program := await Program.started("bridge", BRIDGE, env, house.folder))
    return program


async def expect_one_line(program: Program, sentence: str) -> None:
    """It gives up, and says why and nothing else."""
    assert await program.exit_code() == CONFIGURATION, program.tail
    plain = [line for line in program.lines if not line.startswith("{")]
    assert plain == [f"clankie bridge: {sentence}"]
    assert not [line for line in program.lines if '"level": "error"' in line]


@pytest.mark.requirement("ING-8")
async def test_a_missing_token_is_said_in_one_line(house: House, bridges: list[Program]) -> None:
    await expect_one_line(await started(house, bridges, DISCORD_BOT_TOKEN=""), UNSET)


@pytest.mark.requirement("SEC-2")
@pytest.mark.parametrize("token", ["MTMwMDAwMDAwMDAwMDAwMDAwMQ.of-another.bot", "nonsense"])
async def test_a_wrong_token_is_said_in_one_line(house: House, bridges: list[Program], token: str) -> None:
    program = await started(house, bridges, DISCORD_BOT_TOKEN=token)
    await expect_one_line(program, REFUSED)
    assert token not in "\n".join(program.lines)


@pytest.mark.requirement("ING-8")
async def test_a_missing_intent_is_said_in_one_line(house: House, bridges: list[Program]) -> None:
    await house.stage.behave(application_flags=0)
    await expect_one_line(await started(house, bridges), MISSING_INTENT)


@pytest.mark.requirement("ING-8")
@pytest.mark.parametrize(("code", "sentence"), [(4004, REFUSED), (4014, MISSING_INTENT)])
async def test_a_connection_that_is_closed_for_good_is_said_in_one_line(
    house: House, bridges: list[Program], code: int, sentence: str
) -> None:
    program = await started(house, bridges)
    await program.said("gateway_ready")
    await house.stage.call("close", code=code)
    assert await program.exit_code() == CONFIGURATION, program.tail
    assert [line for line in program.lines if not line.startswith("{")] == [f"clankie bridge: {sentence}"]


@pytest.mark.requirement("ING-1", "ING-5")
async def test_a_guild_that_is_not_admitted_is_dropped_and_its_remedy_said_once(house: House) -> None:
    await house.provider.reset()
    await house.provider.habits(default="unscripted")
    await asyncio.gather(house.start_captain(), house.start_bridge())
    await house.stage.call("create_guild", name="Elsewhere", guild_id=ELSEWHERE)
    told = await house.stage.call("create_room", name="far-away", guild=ELSEWHERE)
    away = Scene(house, told["id"], "far-away")
    here = await Scene.opened(house, "here")
    said = [await away.say(f"Clankie, {number}") for number in range(3)]
    await here.script(text("Here I am."))
    heard = await here.say("Clankie, and here?")
    await here.concluded(heard)
    assert [away.events(each) + away.codes(each) for each in said] == [["dropped", "guild_not_admitted"]] * 3
    assert await away.posted() == []
    lines = [line for line in house.programs["bridge"].lines if '"event": "not_admitted"' in line]
    assert len(lines) == 1
    assert ELSEWHERE in lines[0]
    assert "CLANKIE_DISCORD_GUILDS" in lines[0]
    assert await house.stop("bridge") == 0
    await house.stop("captain")
