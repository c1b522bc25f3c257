"""A room that thinks in one loop, with real processes; each check is also taken away, and then is missed."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from clankie_stage.provider.records import Record
from clankie_stage.provider.steps import gated, text
from tests.system.house import CAPTAIN, House, whole_house
from tests.system.scene import Scene, heard_in, prompt

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

LOOSE_CAPTAIN = str(Path(__file__).with_name("loose_captain.py"))
GIVEN = 'room_loop = "all"\ntools = ["draw_diagram"]\n'
WITHDRAWN = 'room_loop = "all"\ntools = []\n'
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


@pytest.mark.requirement("LOOP-2")
async def test_two_speakers_at_once_get_two_turns_of_one_loop_one_after_the_other(scene: Scene) -> None:
    await scene.script(gated("answer", "First."), text("Second."))
    said = await asyncio.gather(scene.say("Clankie, one"), scene.say("Clankie, two", "Bob"))
    await scene.accepted(*said)
    await scene.house.provider.arrived("answer")
    assert len(await scene.requests(1)) == 1
    await scene.open("answer")
    assert await scene.concluded(*said) == [["accepted", "replied"]] * 2
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
async def test_without_turns_the_next_speaker_joins_the_run_and_the_test_of_a_burst_notices(tmp_path: Path) -> None:
    async for loose in _loose(tmp_path, "turns", "without-turns"):
        told = await burst(loose)
        assert told.ends[1] == ["accepted", "absorbed"]
        assert ("Bob", "Clankie, two") in heard_in(told.requests[1])
        assert len(await loose.runs(1)) == 1


@pytest.mark.requirement("LOOP-4")
async def test_without_the_second_look_a_withdrawn_turn_runs_and_the_test_of_it_notices(tmp_path: Path) -> None:
    async for loose in _loose(tmp_path, "grants", "without-grants"):
        told, two = await withdrawal(loose)
        assert told.ends[1] == ["accepted", "replied"]
        assert loose.codes(two) == []
        assert told.posted == ["To Ann.", "To Bob."]
