"""Two bridges with one token: one of them acts, and a message gets one answer whichever it is."""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from clankie_bridge.desk.standing import TAKEN_OVER
from clankie_stage.provider.steps import gated, text
from tests.system.house import BRIDGE, House, whole_house
from tests.system.program import Program
from tests.system.scene import Scene

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("one-bridge")) as running:
        await running.stage.call("behave", nonce_window_s=-1)
        yield running


async def second_bridge(house: House, name: str) -> Program:
    """Another bridge on the same token and captain, in a home of its own."""
    env = house.env | {"CLANKIE_STATE": str(house.folder / name), "CLANKIE_CAPTAIN_TOKEN": house.token()}
    program = await Program.started(name, BRIDGE, env, house.folder)
    house.programs[name] = program
    await program.said("presence_leased")
    return program


@pytest.mark.requirement("OUT-1", "ING-9")
async def test_a_second_bridge_is_refused_and_takes_over_from_one_that_was_killed(scene: Scene) -> None:
    """C74: what was said in between is answered, once."""
    house = scene.house
    await scene.script(text("Here."), text("Back."))
    second = await second_bridge(house, "second")
    await scene.concluded(await scene.say("Clankie, one?"))
    assert await scene.posted() == ["Here."]
    assert not any("gateway_ready" in line for line in second.lines)
    await house.kill("bridge")
    two = await scene.say("Clankie, two?")
    await second.said("gateway_ready")
    await house.until_async(lambda: is_paid(house, two), "the second bridge has answered")
    assert await scene.posted() == ["Here.", "Back."]
    assert await house.stop("second") == 0
    await house.start_bridge()


@pytest.mark.requirement("OUT-1")
async def test_a_frozen_bridge_that_wakes_finds_itself_taken_over_and_posts_nothing(scene: Scene) -> None:
    """C74: it had its turn in hand."""
    house = scene.house
    await scene.script(gated("frozen", "Once."))
    one = await scene.say("Clankie, take your time")
    await scene.accepted(one)
    await scene.requests(1)
    first = house.programs.pop("bridge")
    house.past.append(first)
    second = await second_bridge(house, "relief")
    first.suspend()
    await second.said("gateway_ready")
    await scene.open("frozen")
    await house.until_async(lambda: is_paid(house, one), "the other bridge has answered")
    first.wake()
    assert await first.exit_code() == os.EX_CONFIG
    assert TAKEN_OVER in first.tail
    assert await scene.posted() == ["Once."]
    assert await house.stop("relief") == 0
    await house.start_bridge()


async def is_paid(house: House, delivery: str) -> bool:
    found = await house.captain.get(
        f"/v1/turns/{delivery}", headers={"Authorization": f"Bearer {house.token()}", "Prefer": "wait=0"}
    )
    return found.status_code == 200 and not found.json()["owed"]
