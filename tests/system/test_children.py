"""Work in the background: the room talks on, and is told of it once, whoever is killed on the way."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from clankie_captain.core import crash_points
from clankie_stage.provider.records import extends
from clankie_stage.provider.steps import call, calls, gated, text, when
from tests.system.house import House
from tests.system.mortal_house import arm, died, mend, mortal_house
from tests.system.scene import Scene, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module"), pytest.mark.requirement("LOOP-6")]

WORK = "From here on you are in the background"
REPORT = "Work that you moved to the background has ended"
FORK = calls(call("fork", {"task": "count all the pages"}))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with mortal_house(tmp_path_factory.mktemp("children")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def mended(house: House) -> AsyncIterator[None]:
    yield
    await mend(house)


async def children(scene: Scene) -> list[dict[str, Any]]:
    """The room's children as the operator sees them, newest first."""
    headers = {"Authorization": f"Bearer {scene.house.token('operator-token')}"}
    answer = await scene.house.captain.get("/v1/children", headers=headers)
    assert answer.status_code == 200, answer.text
    return [each for each in answer.json()["children"] if scene.room in each["room"]]


async def forked(scene: Scene, *work: Any, told: str = "Twelve pages.") -> str:
    """Somebody asks for long work, which waits at the barrier ``work``; the message that asked."""
    await scene.house.provider.script(
        when(FORK, last_user="count them"),
        when(text("I am at it."), last_user="count them"),
        *(when(each, last_user=WORK) for each in work or (gated("work", "There are twelve."),)),
        when(text("Nothing."), last_user="what else"),
        when(text(told), last_user=REPORT),
    )
    return await scene.say("Clankie, count them")


async def test_the_room_talks_on_and_is_told_once_what_came_of_it(scene: Scene) -> None:
    one = await forked(scene)
    assert await scene.concluded(one) == [["accepted", "replied"]]
    asked, answered, worked = await scene.requests(3)
    if told_by_tools(answered) == told_by_tools(worked):
        answered, worked = worked, answered
    assert extends(asked, answered)
    assert extends(asked, worked)
    two = await scene.say("Clankie, what else is new?", "Bob")
    assert await scene.concluded(two) == [["accepted", "replied"]]
    assert [each["state"] for each in await children(scene)] == ["running"]

    await scene.open("work")
    *_, told = await scene.replies(3)
    assert (told["content"], told["message_reference"]["message_id"]) == ("Twelve pages.", one)
    (child,) = await children(scene)
    assert (child["state"], child["report"], child["task"]) == ("done", "replied", "count all the pages")
    assert await scene.posted() == ["I am at it.", "Nothing.", "Twelve pages."]


@pytest.mark.requirement("DUR-2")
async def test_a_captain_killed_while_a_child_works_goes_on_with_it_and_the_room_is_told_once(scene: Scene) -> None:
    again = gated("again", "There are twelve.")
    one = await forked(scene, gated("work", "There are twelve."), again)
    await scene.concluded(one)
    await scene.requests(3)
    await scene.house.kill("captain")
    await scene.house.start_captain()
    await scene.requests(4)
    assert [(each["state"], each["attempt"]) for each in await children(scene)] == [("running", 2)]
    await scene.open("again")
    await scene.replies(2)
    assert await scene.posted() == ["I am at it.", "Twelve pages."]


@pytest.mark.requirement("DUR-2")
async def test_a_captain_killed_right_after_a_fork_has_forked_once(scene: Scene) -> None:
    arm(scene.house, crash_points.FORKED)
    one = await forked(scene)
    await died(scene.house)
    await scene.house.start_captain()
    await scene.concluded(one)
    assert len(await children(scene)) == 1
    await scene.open("work")
    await scene.replies(2)
    assert await scene.posted() == ["I am at it.", "Twelve pages."]


@pytest.mark.requirement("DUR-1")
@pytest.mark.parametrize("point", [crash_points.ANSWERED, crash_points.SETTLING, crash_points.SETTLED])
async def test_a_captain_killed_around_a_childs_end_tells_of_it_once(scene: Scene, point: str) -> None:
    one = await forked(scene)
    await scene.concluded(one)
    await scene.requests(3)
    arm(scene.house, point)
    await scene.open("work")
    await died(scene.house)
    await scene.house.start_captain()
    await scene.replies(2)
    assert await scene.posted() == ["I am at it.", "Twelve pages."]


async def test_work_that_the_operator_ends_is_told_of(scene: Scene) -> None:
    one = await forked(scene, told="That was stopped.")
    await scene.concluded(one)
    await scene.requests(3)
    (child,) = await children(scene)
    headers = {"Authorization": f"Bearer {scene.house.token('operator-token')}"}
    answer = await scene.house.captain.post(f"/v1/children/{child['id']}/cancel", headers=headers)
    assert answer.status_code == 200, answer.text
    await scene.replies(2)
    assert await scene.posted() == ["I am at it.", "That was stopped."]
    assert [each["state"] for each in await children(scene)] == ["cancelled"]
