"""A run without a sign of life is ended, whatever still drips in; one that lives is not, however long it takes."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from clankie_bridge.core.notices import notice
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider.beats import Hold, Open, Step
from clankie_stage.provider.steps import hold, pings, slow, step, text, unanswered
from tests.system.house import House, whole_house
from tests.system.scene import Scene, heard_in, prompt
from tests.system.test_compaction import WINDOW, answered_in_order, nearly_full

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

STALL_S = 5.0
BYTES_HOLD_S = 3 * STALL_S
PINGS, PINGS_EVERY_S = 4, 0.5
WORDS, WORDS_EVERY_S = 7, 1.6
"""Signs of life that come often enough on a machine that falters, and together take longer than the bound."""

DEAD: dict[str, Step] = {
    "no answer": unanswered(),
    "silence amid words": hold("Half ", "an "),
    "pings for ever": pings(every_s=PINGS_EVERY_S),
    "pings that end": pings(every_s=PINGS_EVERY_S, count=PINGS),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A provider that says nothing more: the room, and the message that waits for it."""

    scene: Scene
    message: str


@dataclass(frozen=True, slots=True)
class Writing:
    """A room whose notes are never finished, and the messages that wait for them."""

    scene: Scene
    waiting: list[str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    settings = {"CLANKIE_STALL_SECONDS": str(STALL_S), "CLANKIE_MODEL_WINDOW": str(WINDOW)}
    async with whole_house(tmp_path_factory.mktemp("stalls"), **settings) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def writing(house: House) -> Writing:
    """The first of all rooms."""
    await house.provider.reset()
    await house.provider.habits(default="unscripted")
    scene = await Scene.opened(house, "writing")
    return Writing(scene, await nearly_full(scene, step(Open(), Hold())))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cases(house: House, writing: Writing) -> dict[str, Case]:
    """All at once, each in a room of its own."""
    del writing
    begun: dict[str, Case] = {}
    alive = slow(*("word " for _ in range(WORDS)), every_s=WORDS_EVERY_S)
    for name, answer in {**DEAD, "slow but alive": alive}.items():
        scene = await Scene.opened(house, name.replace(" ", "-"))
        await scene.script(answer)
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
    assert took["pings that end"] >= (STALL_S + (PINGS - 1) * PINGS_EVERY_S) * 1000


@pytest.mark.requirement("FAIL-1", "FAIL-3")
async def test_a_run_that_gives_signs_of_life_may_take_longer_than_the_bound(cases: dict[str, Case]) -> None:
    scene, message = cases["slow but alive"].scene, cases["slow but alive"].message
    assert await scene.concluded(message) == [["accepted", "replied"]]
    assert await scene.posted() == [("word " * WORDS).strip()]
    (run,) = await scene.runs(1)
    assert run["took_ms"] > STALL_S * 1000


@pytest.mark.requirement("CTX-7")
async def test_those_who_wait_are_answered_once_a_writer_of_notes_that_hangs_is_given_up(writing: Writing) -> None:
    """C26."""
    second, _ = await answered_in_order(writing.scene, writing.waiting)
    assert "it rained" in prompt(second)
    assert (await writing.scene.requests(2))[1].state == "hung_up"
