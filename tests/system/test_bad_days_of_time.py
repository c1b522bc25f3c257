"""A host that sleeps, and a wall clock that somebody sets: nothing is lost, doubled, stuck or late for it."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from clankie_stage.provider.steps import gated, text
from tests.system.house import House, Json, bare_house
from tests.system.program import Program
from tests.system.scene import Scene, heard_in

pytestmark = [
    pytest.mark.system,
    pytest.mark.requirement("DUR-3"),
    pytest.mark.asyncio(loop_scope="module"),
]

SHIFTED = str(Path(__file__).with_name("shifted.py"))
DAY = timedelta(days=1)
SESSION_TIMED_OUT = 4009
"""How Discord closes a connection whose client was silent for too long. Source: Discord's documentation."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """Captain and bridge with a wall clock that a file sets."""
    folder = tmp_path_factory.mktemp("time")
    set_clock(folder, timedelta())
    async with bare_house(folder, captain_program=(SHIFTED, "captain", str(folder / "clock"))) as running:
        await running.start_captain()
        bridge = await Program.started("bridge", (SHIFTED, "bridge", str(folder / "clock")), running.env, folder)
        running.programs["bridge"] = bridge
        await bridge.said("gateway_ready")
        yield running


@pytest.fixture(autouse=True)
def right_clock(house: House) -> None:
    set_clock(house.folder, timedelta())


def set_clock(folder: Path, wrong_by: timedelta) -> None:
    """Set the wall clock of both services."""
    draft = folder / "clock.new"
    draft.write_text(str(wrong_by.total_seconds()))
    draft.replace(folder / "clock")


@pytest.mark.requirement("ING-5", "WIRE-5")
async def test_a_host_that_slept_answers_what_was_asked_meanwhile_once(scene: Scene) -> None:
    """C73."""
    house = scene.house
    await scene.script(gated("asleep", "Awake."), text("Both."), text("Both."))
    one = await scene.say("Clankie, one")
    await scene.requests(1)
    await scene.accepted(one)
    services = [house.programs[name] for name in ("captain", "bridge")]
    for each in services:
        each.suspend()
    two = await scene.say("Clankie, two", "Bob")
    await scene.open("asleep")
    for each in services:
        each.wake()
    ends = await scene.concluded(one, two)
    assert [each[0] for each in ends] == ["accepted", "accepted"]
    assert {each[-1] for each in ends} <= {"replied", "absorbed"}
    # Whether the second joined the first's run or had its own: every answer stands in the room once.
    assert await scene.posted() in (["Both."], ["Awake.", "Both."])


async def test_a_bridge_that_slept_too_long_for_discord_begins_a_new_session_and_goes_on(scene: Scene) -> None:
    house = scene.house
    bridge = house.programs["bridge"]
    sessions = sum("gateway_ready" in line for line in bridge.lines)
    bridge.suspend()
    await house.stage.call("close", code=SESSION_TIMED_OUT)
    bridge.wake()
    await bridge.said("gateway_ready", sessions + 1)
    await scene.script(text("Here again."))
    one = await scene.say("Clankie, back?")
    assert await scene.concluded(one) == [["accepted", "replied"]]
    assert await scene.posted() == ["Here again."]


JUMPS = {
    "back": (-DAY,),
    "forward": (DAY,),
    "forward and back": (DAY, -DAY),
    "back and forward": (-DAY, DAY),
    "a year and right again": (400 * DAY, timedelta()),
}


@pytest.mark.parametrize("kind", JUMPS)
async def test_a_wall_clock_that_jumps_neither_stops_a_lane_nor_changes_its_order(scene: Scene, kind: str) -> None:
    """C73."""
    house, jumps = scene.house, JUMPS[kind]
    said: list[str] = []
    for number, jump in enumerate((timedelta(), *jumps)):
        await scene.script(gated(f"gate-{number}", f"Lost {number}."), text(f"Answer {number}."))
        said.append(await scene.say(f"Clankie, {number}"))
        await scene.requests(2 * number + 1)
        await scene.accepted(said[-1])
        set_clock(house.folder, jump)
        said.append(await scene.say(f"Clankie, {number} and a half", "Bob"))
        await scene.accepted(said[-1])
        await scene.open(f"gate-{number}")
        ends = [events[-1] for events in await scene.concluded(*said[-2:])]
        assert ends == ["replied", "absorbed"]
    assert await scene.posted() == [f"Answer {number}." for number in range(len(jumps) + 1)]
    heard = [words for request in (await scene.requests(len(said)))[1::2] for _, words in heard_in(request)]
    assert [each for each in heard if each.endswith("half")] == [
        f"Clankie, {number} and a half" for number in range(len(jumps) + 1)
    ]
    runs: list[Json] = await scene.runs(len(jumps) + 1)
    assert all(0 <= run["waited_ms"] < DAY.total_seconds() * 1000 and run["took_ms"] >= 0 for run in runs)


async def test_a_captain_that_is_restarted_with_a_clock_set_back_goes_on_with_what_it_left(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("never", "Lost."), text("Found."))
    one = await scene.say("Clankie, one")
    await scene.requests(1)
    await scene.accepted(one)
    await house.kill("captain")
    set_clock(house.folder, -DAY)
    await house.start_captain()
    assert (await scene.concluded(one))[0][-1] == "replied"
    assert await scene.posted() == ["Found."]
