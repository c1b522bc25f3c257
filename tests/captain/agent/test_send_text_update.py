"""Mid-turn words, and what the model is told about them."""

import asyncio
from datetime import timedelta

import pytest

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.tools import LATE
from clankie_captain.core.run import Answered, UpdateOutcome
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.provider import Provider, Say


def told(provider: Provider) -> str:
    return next(message["content"] for message in reversed(provider.messages()) if message["role"] == "tool")


@pytest.mark.requirement("ROOM-3")
async def test_the_tool_says_when_it_is_meant_to_be_used(provider: Provider, loop: PydanticLoop, lane: Lane) -> None:
    provider.plays(Say(["x"]))
    await lane.run(loop, "go")
    (tool,) = provider.frame(0)["tools"]
    assert tool["function"]["name"] == "send_text_update"
    for phrase in ("slow work", "links that nobody asked about", "600 characters", "at most 3 updates"):
        assert phrase in tool["function"]["description"]


async def test_a_lane_without_tools_offers_none(provider: Provider, loop: PydanticLoop) -> None:
    provider.plays(Say(["x"]))
    await Lane(tools=()).run(loop, "go")
    assert "tools" not in provider.frame(0)


@pytest.mark.requirement("ROOM-3")
@pytest.mark.parametrize(
    ("outcome", "answer"),
    [
        (UpdateOutcome("posted"), "Posted."),
        (UpdateOutcome("refused", "three updates were posted already."), "three updates were posted already."),
        (UpdateOutcome("refused"), "Not posted"),
        (UpdateOutcome("unknown"), "The outcome is unknown; do not send it again."),
    ],
)
async def test_the_model_learns_what_became_of_its_update(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, outcome: UpdateOutcome, answer: str
) -> None:
    line.outcome = outcome
    provider.plays(Say(calls=[("send_text_update", '{"text": " soon "}')]), Say(["Done"]))
    assert await lane.run(loop, "go", line=line) == Answered("Done")
    assert line.updates == ["soon"]
    assert answer in told(provider)


@pytest.mark.requirement("ROOM-3")
@pytest.mark.parametrize(("text", "posted"), [("", 0), (" ", 0), ("\\u200b", 0), ("x" * 601, 0), ("👍" * 600, 1)])
async def test_an_update_has_one_to_600_characters(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, text: str, posted: int
) -> None:
    provider.plays(Say(calls=[("send_text_update", f'{{"text": "{text}"}}')]), Say(["Done"]))
    assert await lane.run(loop, "go", line=line) == Answered("Done")
    assert len(line.updates) == posted
    assert told(provider).startswith("Posted." if posted else "Not posted")


@pytest.mark.requirement("ROOM-3")
async def test_updates_of_one_response_are_posted_in_its_order(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    async def hand_over() -> None:
        assert line.calls.count("update") == len(line.updates)

    line.while_updating = hand_over
    texts = [f"update {number}" for number in range(3)]
    provider.plays(Say(calls=[("send_text_update", f'{{"text": "{text}"}}') for text in texts]), Say(["Done"]))
    await lane.run(loop, "go", line=line)
    assert line.updates == texts


@pytest.mark.requirement("FAIL-1")
async def test_a_call_that_no_tool_ends_is_ended_before_its_run_counts_as_dead_and_the_run_goes_on(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    async def for_ever() -> None:
        await asyncio.Event().wait()

    line.while_updating, line.within = for_ever, timedelta(milliseconds=100)
    provider.plays(Say(calls=[("send_text_update", '{"text": "soon"}')]), Say(["Done"]))
    assert await lane.run(loop, "go", line=line) == Answered("Done")
    assert told(provider) == LATE
