"""C26: whoever writes while older talk becomes notes is answered, whatever becomes of the notes."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from clankie_stage.provider.beats import Gate, Open, Step
from clankie_stage.provider.records import Record
from clankie_stage.provider.steps import gated, overloaded_error, step, text
from tests.system.house import House, whole_house
from tests.system.scene import Scene, prompt

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module"), pytest.mark.requirement("CTX-7")]

WINDOW = 1_200
"""Tokens: the system part and one long message come near it, a short one does not."""

LONG = "Clankie, remember the red door. " + "And then it rained for a day. " * 55
NOTES = "Somebody spoke of a red door."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("compaction"), CLANKIE_MODEL_WINDOW=str(WINDOW)) as running:
        yield running


async def nearly_full(scene: Scene, notes: Step) -> list[str]:
    """A room whose notes are being written, and the messages that come meanwhile."""
    await scene.script(text("I will."), notes, text("To the second."), text("To the third."))
    first = await scene.say(LONG)
    assert await scene.concluded(first) == [["accepted", "replied"]]
    await scene.requests(2)
    second = await scene.say("Clankie, the second")
    await scene.accepted(second)
    third = await scene.say("Clankie, the third", user="Bob")
    await scene.accepted(third)
    return [second, third]


async def answered_in_order(scene: Scene, messages: list[str]) -> list[Record]:
    """The requests that answered them."""
    assert await scene.concluded(*messages) == [["accepted", "replied"]] * 2
    assert (await scene.posted())[1:] == ["To the second.", "To the third."]
    requests = (await scene.requests(4))[:4]
    assert [each.refused for each in requests if each.refused] == []
    assert "the second" in prompt(requests[2])
    assert "the third" not in prompt(requests[2])
    return requests[2:]


async def test_they_are_answered_in_order_with_the_notes_before_them(scene: Scene) -> None:
    waiting = await nearly_full(scene, gated("notes", NOTES))
    # Two wait for it, and neither has broken it off.
    (_, writing) = await scene.requests(2)
    assert writing.state != "hung_up"
    await scene.open("notes")
    second, third = await answered_in_order(scene, waiting)
    assert NOTES in prompt(second)
    assert "it rained" not in prompt(second)
    assert third.open_messages.startswith(second.open_messages)
    assert len(await scene.runs(3)) == 3


async def test_they_are_answered_as_before_where_no_notes_come(scene: Scene) -> None:
    waiting = await nearly_full(scene, step(Open(), Gate("no notes"), overloaded_error()))
    await scene.open("no notes")
    second, _ = await answered_in_order(scene, waiting)
    assert "it rained" in prompt(second)


async def test_they_are_answered_by_the_next_captain_where_one_dies_amid_the_notes(scene: Scene) -> None:
    waiting = await nearly_full(scene, gated("never", NOTES))
    await scene.house.kill("captain")
    await scene.house.start_captain()
    second, _ = await answered_in_order(scene, waiting)
    assert "it rained" in prompt(second)
