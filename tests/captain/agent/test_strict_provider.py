"""The stage's provider refuses what real ones refuse; it finds nothing to refuse."""

import asyncio
from itertools import pairwise

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from clankie_captain.agent import history
from clankie_captain.core.run import Answered, Entry
from clankie_settings.ids import RunId
from clankie_stage.provider import steps
from clankie_stage.provider.records import extends
from tests.captain.agent.lane import Lane, Line, words
from tests.captain.agent.strict import Strict

UPDATE = steps.call("send_text_update", {"text": "soon"})
POISON: list[ModelMessage] = [
    ModelResponse(parts=[TextPart("stray")]),
    ModelRequest(parts=[ToolReturnPart("t", "orphan", "gone")]),
    ModelRequest(parts=[UserPromptPart("first")]),
    ModelResponse(parts=[TextPart("")]),
    ModelResponse(parts=[TextPart(" \n"), ToolCallPart("send_text_update", {"text": "x"}, "a")]),
    ModelRequest(parts=[ToolReturnPart("send_text_update", "", "a"), UserPromptPart("\u200b")]),
    ModelRequest(parts=[UserPromptPart(" ")]),
    ModelResponse(parts=[ToolCallPart("send_text_update", "{}", "b"), ToolCallPart("send_text_update", "{}", "c")]),
    ModelRequest(parts=[ToolReturnPart("send_text_update", "Posted.", "c"), UserPromptPart("steered")]),
    ModelResponse(parts=[TextPart("second")]),
    ModelRequest(parts=[UserPromptPart("never answered")]),
    ModelResponse(parts=[ToolCallPart("send_text_update", "{}", "d")]),
]


@pytest.mark.requirement("LANE-14", "FAIL-6")
async def test_a_poisoned_history_is_accepted(strict: Strict, lane: Lane) -> None:
    stored = [history.draft(message) for message in POISON]
    lane.entries = [Entry(seq, RunId("old"), draft.kind, draft.payload) for seq, draft in enumerate(stored)]
    strict.brain.script(steps.text("Hello"), steps.text("again"))
    assert await lane.run(strict.loop(), "hi \ud83d\0") == Answered("Hello")
    assert await lane.run(strict.loop(), "and?") == Answered("again")
    first, second = await strict.brain.wait_ended(2)
    assert extends(first, second)
    assert not first.refused
    assert not second.refused


@pytest.mark.requirement("LANE-3", "LANE-13", "LANE-14")
async def test_a_lane_that_lived_through_everything_is_accepted(strict: Strict, lane: Lane, line: Line) -> None:
    async def somebody_speaks() -> None:
        line.steered.extend(words("wait"))
        line.while_updating = None

    line.while_updating = somebody_speaks
    strict.brain.script(steps.calls(UPDATE, UPDATE, before="Let me see."), steps.text("Both."), steps.hold("Ha"))
    assert await lane.run(strict.loop(), "look", line=line) == Answered("Both.")
    stalled = Line()
    task = asyncio.create_task(lane.run(strict.loop(), "again", line=stalled))
    await stalled.heard("wrote")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    strict.brain.script(steps.text("Here."))
    assert await lane.run(strict.loop(), "still there?") == Answered("Here.")
    records = await strict.brain.wait_ended(4)
    assert [record.refused for record in records] == [""] * 4
    assert records[2].state == "hung_up"
    assert all(extends(earlier, later) for earlier, later in pairwise(records))
