"""Work moves to the background: what the room's run reads of it, and what its child begins with."""

import json
from dataclasses import replace

import pytest

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.tools.fork import ELSEWHERE, HERE, MOVED
from clankie_captain.core.children import FULL, Unforked
from clankie_captain.core.run import Answered
from clankie_captain.errors import FencedError
from clankie_settings import bounds
from clankie_settings.ids import LaneId, RunId
from clankie_stage.provider import steps
from clankie_stage.provider.records import extends
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.provider import Provider, Say
from tests.captain.agent.strict import Strict, refusals

pytestmark = pytest.mark.requirement("LOOP-6")

TOOLS = ("send_text_update", "fork")
TASK = "read all the pages, and say which is longest"
FORK = ("fork", json.dumps({"task": TASK}))


@pytest.fixture
def lane() -> Lane:
    return Lane(tools=TOOLS)


def told(provider: Provider) -> list[str]:
    return [message["content"] for message in provider.messages() if message["role"] == "tool"]


async def test_the_rooms_run_reads_that_it_goes_on_and_answers(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(calls=[FORK]), Say(["I am at it."]))
    assert await lane.run(loop, "read it all", line=line) == Answered("I am at it.")
    assert [task for task, _ in line.children] == [TASK]
    assert told(provider) == [MOVED]


async def test_where_it_may_not_the_model_reads_why(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    line.forking = Unforked(FULL)
    provider.plays(Say(calls=[FORK]), Say(["Later."]))
    await lane.run(loop, "read it all", line=line)
    assert told(provider) == [f"Not begun: {FULL}."]


@pytest.mark.parametrize("task", ["", " \u200b\n", "x" * (bounds.TASK_CHARS + 1)])
async def test_a_task_that_is_none_begins_nothing(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, task: str
) -> None:
    provider.plays(Say(calls=[("fork", json.dumps({"task": task}))]), Say(["Well."]))
    assert await lane.run(loop, "read it all", line=line) == Answered("Well.")
    assert "fork" not in line.calls


@pytest.mark.requirement("GRANT-5")
async def test_what_nobody_granted_begins_nothing(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    line.withheld["fork"] = "nobody has said so"
    provider.plays(Say(calls=[FORK]), Say(["No."]))
    await lane.run(loop, "read it all", line=line)
    assert line.children == []
    assert "nobody has said so" in told(provider)[0]


@pytest.mark.requirement("LANE-13", "LANE-14")
async def test_a_child_goes_on_from_the_very_bytes_of_its_lane(strict: Strict, lane: Lane, line: Line) -> None:
    work = steps.calls(steps.call("fork", {"task": TASK}), steps.call("send_text_update", {"text": "one moment"}))
    strict.brain.script(work, steps.text("I am at it."), steps.text("The third."))
    assert await lane.run(strict.loop(), "read it all", line=line) == Answered("I am at it.")
    ((task, child),) = line.children
    assert await child.run(strict.loop(), f"in the background: {task}") == Answered("The third.")

    asked, answered, worked = await strict.ended(3)
    assert refusals([asked, answered, worked]) == []
    assert extends(asked, answered)
    assert extends(asked, worked)
    read = worked.raw.decode()
    assert HERE in read
    assert ELSEWHERE in read
    assert MOVED not in read
    assert TASK in read


@pytest.mark.requirement("DUR-2")
async def test_a_fork_is_not_repeated_after_a_death(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    def dies(name: str) -> None:
        if name == "finish":
            raise FencedError(LaneId("rooms/1"), RunId("run_1"))

    line.on = dies
    provider.plays(Say(calls=[FORK]), Say(["I am at it."]))
    with pytest.raises(FencedError):
        await lane.run(loop, "read it all", line=line)
    line.on = lambda _: None
    again = replace(lane.order(), run=line.run)
    assert await loop.think(again, line) == Answered("I am at it.")
    assert len(line.children) == 1
    assert told(provider) == [MOVED]
