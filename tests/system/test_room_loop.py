"""A room that thinks in one loop, with real processes; each check is also taken away, and then is missed."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from clankie_stage.discord.scenery import ANN_ID, GENERAL_ID, GUILD_ID
from clankie_stage.provider.beats import Finish, Gate
from clankie_stage.provider.records import Record
from clankie_stage.provider.steps import call, calls, gated, step, text
from tests.system.house import CAPTAIN, House, whole_house
from tests.system.scene import Scene, heard_in, prompt, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

LOOSE_CAPTAIN = str(Path(__file__).with_name("loose_captain.py"))
PLAIN = f'[rooms."{GUILD_ID}:{GENERAL_ID}"]\nroom_loop = false\n'
GIVEN = f'room_loop = "all"\ntools = ["draw_diagram"]\n{PLAIN}'
WITHDRAWN = f'room_loop = "all"\ntools = []\n{PLAIN}'
ANNS = f'{WITHDRAWN}[actors."{ANN_ID}"]\ntools = ["draw_diagram"]\n'
BOXES = [{"id": "a", "label": "Ann"}, {"id": "b", "label": "Bob"}]
LINKS = [{"source": "a", "target": "b"}]
DRAW = call("draw_diagram", {"title": "Who", "diagram": {"kind": "flow", "steps": BOXES, "links": LINKS}})
CHANGED = "room_loop_grant_changed"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("room_loop"), CAPTAIN, GIVEN) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def given(house: House) -> None:
    set_to(house, GIVEN)


def set_to(house: House, toml: str) -> None:
    """Change the owner's settings while everything runs."""
    fresh = house.folder / "clankie.new"
    fresh.write_text(toml, encoding="utf-8")
    fresh.replace(house.folder / "clankie.toml")


@dataclass(frozen=True, slots=True)
class Told:
    """What became of messages: their evidence, the requests, and what was posted."""

    ends: list[list[str]]
    requests: list[Record]
    posted: list[str]


async def burst(scene: Scene) -> Told:
    """Ann writes, Bob writes while she is answered, and Ann adds something."""
    await scene.script(gated("answer", "To Ann alone."), text("To Ann, both."), text("To Bob."))
    one = await scene.say("Clankie, one")
    await scene.house.provider.arrived("answer")
    two = await scene.say("Clankie, two", "Bob")
    await scene.accepted(two)
    more = await scene.say("Clankie, more")
    await scene.accepted(more)
    await scene.open("answer")
    ends = await scene.concluded(one, two, more)
    return Told(ends, await scene.requests(2), await scene.posted())


async def withdrawal(scene: Scene) -> tuple[Told, str]:
    """Ann is answered, Bob waits, and the owner withdraws what both had; then Ann has her answer."""
    await scene.script(gated("answer", "To Ann."), text("To Bob."))
    one = await scene.say("Clankie, one")
    await scene.house.provider.arrived("answer")
    two = await scene.say("Clankie, two", "Bob")
    await scene.accepted(two)
    set_to(scene.house, WITHDRAWN)
    await scene.open("answer")
    ends = await scene.concluded(one, two)
    return Told(ends, await scene.requests(1), await scene.posted()), two


@pytest.mark.requirement("LOOP-2", "LOOP-3")
async def test_a_burst_is_absorbed_and_the_next_speakers_turn_carries_the_loops_history(scene: Scene) -> None:
    told = await burst(scene)
    assert told.ends == [["accepted", "replied"], ["accepted", "replied"], ["accepted", "absorbed"]]
    assert told.posted == ["To Ann, both.", "To Bob."]
    first, second, third = told.requests
    assert heard_in(first) == [("Ann", "Clankie, one")]
    assert heard_in(second) == [("Ann", "Clankie, one"), ("Ann", "Clankie, more")]
    assert "Clankie, two" not in prompt(second)
    assert heard_in(third) == [("Bob", "Clankie, two")]
    assert all(words in prompt(third) for words in ("Clankie, one", "Clankie, more", "To Ann, both."))
    lanes = {line["lane"] for line in await scene.runs(2)}
    assert len(lanes) == 1
    assert "~" in lanes.pop()


@pytest.mark.requirement("LOOP-4", "GRANT-3")
async def test_a_queued_turn_whose_grant_was_withdrawn_is_refused(scene: Scene) -> None:
    told, two = await withdrawal(scene)
    assert told.ends == [["accepted", "replied"], ["accepted", "failed"]]
    assert scene.codes(two) == [CHANGED]
    assert len(told.requests) == 1
    await scene.script(text("A new loop."))
    three = await scene.say("Clankie, three", "Bob")
    assert await scene.concluded(three) == [["accepted", "replied"]]
    *_, last = await scene.requests(2)
    assert not any(message["role"] == "assistant" for message in last.messages)
    old, refused, new = [line["lane"] for line in await scene.runs(3)]
    assert old == refused != new


@pytest.mark.requirement("LOOP-4", "GRANT-3")
async def test_a_queued_turn_is_refused_by_the_next_captain_as_well(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("answer", "To Ann."), text("To Ann."), text("To Bob."))
    one = await scene.say("Clankie, one")
    await house.provider.arrived("answer")
    two = await scene.say("Clankie, two", "Bob")
    await scene.accepted(two)
    await house.kill("captain")
    set_to(house, WITHDRAWN)
    await house.start_captain()
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "failed"]]
    assert scene.codes(two) == [CHANGED]
    assert not any("Clankie, two" in prompt(each) for each in await scene.requests(2))


@pytest.mark.requirement("LOOP-5", "GRANT-1", "GRANT-5")
async def test_a_call_is_judged_by_the_grant_that_whoever_has_the_turn_has_at_that_moment(scene: Scene) -> None:
    await scene.script(text("To Ann."), step(Gate("bobs"), DRAW, Finish("tool_calls")), text("To Bob."))
    await scene.concluded(await scene.say("Clankie, one"))
    two = await scene.say("Clankie, draw it", "Bob")
    await scene.house.provider.arrived("bobs")
    set_to(scene.house, ANNS)
    await scene.open("bobs")
    await scene.concluded(two)
    *_, last = await scene.requests(3)
    assert "the person whose message you are answering may use draw_diagram" in told_by_tools(last)[0]
    assert len({line["lane"] for line in await scene.runs(2)}) == 1


@pytest.mark.requirement("LOOP-1", "GRANT-1", "GRANT-5")
async def test_in_a_room_that_is_no_loop_two_speakers_share_a_run_and_it_may_what_both_may(house: House) -> None:
    set_to(house, ANNS)
    # Barriers that another test opened are open still.
    await house.provider.reset()
    scene = Scene(house, GENERAL_ID, "general")
    await scene.script(gated("answer", "To Ann."), calls(DRAW), text("To both."), calls(DRAW), text("To Ann alone."))
    one = await scene.say("Clankie, one")
    await house.provider.arrived("answer")
    two = await scene.say("Clankie, draw it", "Bob")
    await scene.accepted(two)
    await scene.open("answer")
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    assert await scene.concluded(await scene.say("Clankie, draw it then")) == [["accepted", "replied"]]
    *_, last = await scene.requests(5)
    refused, drawn = told_by_tools(last)
    assert "not everybody whose messages you have read in this turn may use draw_diagram" in refused
    assert "may use draw_diagram" not in drawn
    assert all("~" not in line["lane"] for line in await scene.runs(2))


async def together(scene: Scene) -> list[list[str]]:
    """Two speakers at once; what became of their messages."""
    await scene.script(gated("answer", "First."), text("Second."))
    said = await asyncio.gather(scene.say("Clankie, one"), scene.say("Clankie, two", "Bob"))
    await scene.accepted(*said)
    await scene.house.provider.arrived("answer")
    assert len(await scene.requests(1)) == 1
    await scene.open("answer")
    return await scene.concluded(*said)


@pytest.mark.requirement("LOOP-2")
async def test_two_speakers_at_once_get_two_turns_of_one_loop_one_after_the_other(scene: Scene) -> None:
    assert await together(scene) == [["accepted", "replied"]] * 2
    first, second = await scene.requests(2)
    assert len(heard_in(first)) == len(heard_in(second)) == 1
    assert heard_in(first) != heard_in(second)
    assert "First." in prompt(second)
    settled = await scene.runs(2)
    assert len({line["lane"] for line in settled}) == 1
    assert [line["absorbed"] for line in settled] == [0, 0]


async def _loose(tmp_path: Path, missing: str, name: str) -> AsyncIterator[Scene]:
    async with whole_house(tmp_path, (LOOSE_CAPTAIN, missing), GIVEN) as running:
        await running.provider.habits(default="unscripted")
        yield await Scene.opened(running, name)


@pytest.mark.requirement("LOOP-2")
async def test_without_turns_the_next_speaker_joins_the_run_and_both_tests_of_turns_notice(tmp_path: Path) -> None:
    async for loose in _loose(tmp_path, "turns", "without-turns"):
        told = await burst(loose)
        assert told.ends[1] == ["accepted", "absorbed"]
        assert ("Bob", "Clankie, two") in heard_in(told.requests[1])
        assert len(await loose.runs(1)) == 1
        await loose.house.provider.reset()
        assert ["accepted", "absorbed"] in await together(await Scene.opened(loose.house, "at-once"))


@pytest.mark.requirement("LOOP-4")
async def test_without_the_second_look_a_withdrawn_turn_runs_and_the_test_of_it_notices(tmp_path: Path) -> None:
    async for loose in _loose(tmp_path, "grants", "without-grants"):
        told, two = await withdrawal(loose)
        assert told.ends[1] == ["accepted", "replied"]
        assert loose.codes(two) == []
        assert told.posted == ["To Ann.", "To Bob."]
