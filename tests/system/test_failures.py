"""Whatever a provider does, the turn ends with its code, the room is told plainly, and the next message is answered."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from clankie_bridge.core.notices import notice
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider.beats import Step
from clankie_stage.provider.records import extends
from clankie_stage.provider.steps import (
    blank,
    broken_stream,
    content_filter,
    cut_short,
    empty,
    ended,
    failed,
    key_error,
    overflow_error,
    quota_error,
    refusal,
    server_error,
    text,
    thinking_only,
)
from tests.system.house import House, whole_house
from tests.system.scene import Scene, heard_in, prompt

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

TRIES = 6
"""A request is made once, and again five times. Source: FAIL-3."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a provider does to a turn, and the code that the turn ends with."""

    code: str
    steps: tuple[Step, ...]


TROUBLES = {
    "no credit left": Trouble("captain_usage_limit_reached", (failed(quota_error()),)),
    "a key refused": Trouble("captain_model_failed", (failed(key_error()),)),
    "errors without end": Trouble("captain_model_failed", (failed(server_error()),) * TRIES),
    "an end amid words": Trouble("captain_model_failed", (ended("Half an "),)),
    "an error amid words": Trouble("captain_model_failed", (broken_stream("Half an "),)),
    "the token limit": Trouble("captain_model_failed", (cut_short("Half an "),)),
    "nothing at all": Trouble("captain_response_missing", (empty(),)),
    "white space": Trouble("captain_response_missing", (blank(),)),
    "thoughts and no words": Trouble("captain_response_missing", (thinking_only(),)),
    "a refusal": Trouble("captain_model_refused", (refusal(),)),
    "a filter": Trouble("captain_model_refused", (content_filter("Half an "),)),
    "too long by itself": Trouble("captain_context_overflow", (failed(overflow_error()),)),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A trouble under way: its room, and the message that met it."""

    scene: Scene
    message: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("failures")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cases(house: House) -> dict[str, Case]:
    """Every trouble at once, each in a room of its own, so that nobody waits for the longest."""
    await house.provider.reset()
    await house.provider.habits(default="unscripted")
    begun: dict[str, Case] = {}
    for name, trouble in TROUBLES.items():
        scene = await Scene.opened(house, name.replace(",", "").replace(" ", "-"))
        await scene.script(*trouble.steps)
        begun[name] = Case(scene, await scene.say("Clankie, go on"))
    return begun


@pytest.mark.requirement("CTX-8")
async def test_a_history_that_grew_too_long_is_cut_once_and_the_message_answered(
    house: House, cases: dict[str, Case]
) -> None:
    assert cases  # begun before, so that they run meanwhile
    scene = await Scene.opened(house, "long-ago")
    await scene.script(*(text(f"Answer {number}. " + "words " * 300) for number in range(4)))
    for number in range(4):
        await scene.concluded(await scene.say(f"Clankie, question {number}"))
    await scene.script(failed(overflow_error()), text("Short."), text("And again."))
    for number in range(2):
        message = await scene.say(f"Clankie, another {number}")
        assert await scene.concluded(message) == [["accepted", "replied"]]
    assert (await scene.posted())[-2:] == ["Short.", "And again."]
    refused, cut, after = (await scene.requests(7))[-3:]
    assert "question 0" in prompt(refused)
    assert "question 0" not in prompt(cut)
    assert "another 0" in prompt(cut)
    assert extends(cut, after)


@pytest.mark.requirement("FAIL-4", "FAIL-6", "ING-5", "ROOM-8")
@pytest.mark.parametrize("name", TROUBLES)
async def test_a_turn_ends_with_its_code_and_the_next_message_is_answered(cases: dict[str, Case], name: str) -> None:
    scene, message = cases[name].scene, cases[name].message
    assert await scene.concluded(message) == [["accepted", "failed"]]
    assert scene.codes(message) == [TROUBLES[name].code]
    told = notice(FailureCode(TROUBLES[name].code))
    assert [each["content"] for each in await scene.replies()] == [told]
    (run,) = await scene.runs(1)
    assert run["outcome"] == TROUBLES[name].code
    asked = len(await scene.requests(1))
    assert asked == len(TROUBLES[name].steps)

    await scene.script(text("Here I am again."))
    after = await scene.say("Clankie, and now?")
    assert await scene.concluded(after) == [["accepted", "replied"]]
    assert await scene.posted() == [told, "Here I am again."]
    # What the failed turn had heard is not lost to him.
    assert ("Ann", "Clankie, and now?") in heard_in((await scene.requests(asked + 1))[-1])
