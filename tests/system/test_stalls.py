"""A run without a sign of life is ended, whatever still drips in; one that lives is not, however long it takes."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from clankie_bridge.core.notices import notice
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider.beats import Step
from clankie_stage.provider.steps import hold, pings, slow, text, unanswered
from tests.system.house import House, whole_house
from tests.system.scene import Scene, heard_in

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

STALL_S = 3.0
BYTES_HOLD_S = 3 * STALL_S
DEAD: dict[str, Step] = {
    "no answer": unanswered(),
    "silence amid words": hold("Half ", "an "),
    "pings for ever": pings(every_s=0.5),
    "pings that end": pings(every_s=0.5, count=4),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A provider that says nothing more: the room, and the message that waits for it."""

    scene: Scene
    message: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("stalls"), CLANKIE_STALL_SECONDS=str(STALL_S)) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cases(house: House) -> dict[str, Case]:
    """All at once, each in a room of its own."""
    await house.provider.reset()
    await house.provider.habits(default="unscripted")
    begun: dict[str, Case] = {}
    alive = slow(*("word " for _ in range(5)), every_s=STALL_S / 2)
    for name, step in {**DEAD, "slow but alive": alive}.items():
        scene = await Scene.opened(house, name.replace(" ", "-"))
        await scene.script(step)
        begun[name] = Case(scene, await scene.say("Clankie, go on"))
    return begun


@pytest.mark.requirement("FAIL-1", "FAIL-6", "ROOM-8")
@pytest.mark.parametrize("name", DEAD)
async def test_a_run_that_says_nothing_more_is_ended_and_its_lane_goes_on(cases: dict[str, Case], name: str) -> None:
    scene, message = cases[name].scene, cases[name].message
    assert await scene.concluded(message) == [["accepted", "failed"]]
    assert scene.codes(message) == ["captain_turn_stalled"]
    (run,) = await scene.runs(1)
    assert run["took_ms"] >= STALL_S * 1000
    told = notice(FailureCode("captain_turn_stalled"))
    assert [each["content"] for each in await scene.replies()] == [told]
    # The provider sees that nobody waits for it any more.
    (request,) = await scene.requests(1)
    assert request.state == "hung_up"

    await scene.script(text("Here I am again."))
    after = await scene.say("Clankie, and now?")
    assert await scene.concluded(after) == [["accepted", "replied"]]
    assert await scene.posted() == [told, "Here I am again."]
    assert heard_in((await scene.requests(2))[-1])[-1] == ("Ann", "Clankie, and now?")


@pytest.mark.requirement("FAIL-3")
async def test_bytes_without_an_event_hold_a_run_longer_and_not_for_ever(cases: dict[str, Case]) -> None:
    took: dict[str, int] = {}
    for name in DEAD:
        await cases[name].scene.concluded(cases[name].message)
        took[name] = (await cases[name].scene.runs(1))[0]["took_ms"]
    assert took["pings for ever"] >= BYTES_HOLD_S * 1000
    assert took["pings for ever"] > took["pings that end"] > took["no answer"]


@pytest.mark.requirement("FAIL-1", "FAIL-3")
async def test_a_run_that_gives_signs_of_life_may_take_longer_than_the_bound(cases: dict[str, Case]) -> None:
    scene, message = cases["slow but alive"].scene, cases["slow but alive"].message
    assert await scene.concluded(message) == [["accepted", "replied"]]
    assert await scene.posted() == ["word " * 4 + "word"]
    (run,) = await scene.runs(1)
    assert run["took_ms"] > 2 * STALL_S * 1000
