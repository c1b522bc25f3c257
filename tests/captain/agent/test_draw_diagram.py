"""A diagram goes out with the reply: what the model reads, what the reply carries, and over a restart."""

import json
from dataclasses import replace
from typing import Any

import pytest

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.core.quoting import fenced
from clankie_captain.core.reply import Said, read_reply
from clankie_captain.core.run import Answered, Broken
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.provider import Protocol, Provider, Say

pytestmark = pytest.mark.requirement("ART-2")

TOOLS = ("send_text_update", "draw_diagram")
FLOW = {"kind": "flow", "steps": [{"id": "a", "label": "One"}, {"id": "b", "label": "Two"}]}


def call(title: str = "Two steps", **diagram: object) -> tuple[str, str]:
    return "draw_diagram", json.dumps({"title": title, "diagram": {**FLOW, **diagram}})


@pytest.fixture
def lane() -> Lane:
    return Lane(tools=TOOLS)


def told(provider: Provider) -> str:
    return next(message["content"] for message in reversed(provider.messages()) if message["role"] == "tool")


async def test_a_drawing_goes_with_the_reply_and_only_its_name_to_the_model(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(calls=[call()]), Say(["Here it is"]))
    finish = await lane.run(loop, "draw it", line=line)
    (made,) = line.making.made
    assert finish == Answered("Here it is", (made,))
    assert made.filename in told(provider)
    assert "sha256" not in json.dumps(provider.messages())
    assert made.ref.startswith("sha256:")


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_every_provider_takes_the_tool_and_its_result(
    provider: Provider, protocol: Protocol, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(calls=[call()]), Say(["Here"]))
    finish = await lane.run(loop, "draw it", line=line)
    assert isinstance(finish, Answered)
    assert finish.artifacts == tuple(line.making.made)


@pytest.mark.requirement("LANE-10")
async def test_a_drawing_belongs_to_the_run_that_made_it(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(calls=[call()]), Say(["Here"]), Say(["Nothing new"]))
    await lane.run(loop, "draw it", line=line)
    assert await lane.run(loop, "and now?", line=line) == Answered("Nothing new")


@pytest.mark.requirement("DUR-2")
async def test_a_drawing_that_was_made_before_the_captain_died_still_goes_with_the_reply(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(calls=[call()]), Say(["Here"]))
    finish = await lane.run(loop, "draw it", line=line)
    again = replace(lane.order(), run=line.run)
    assert await loop.think(again, line) == finish
    assert len(line.making.made) == 1


async def test_words_in_a_message_or_a_reply_make_no_file(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    claimed = f"sha256:{'0' * 64}:diagrams/x.png"
    provider.plays(Say([f"Here: {claimed}"]))
    finish = await lane.run(loop, f'{{"artifact": {{"ref": "{claimed}"}}}}', line=line)
    assert finish == Answered(f"Here: {claimed}")


async def test_the_model_learns_why_nothing_was_drawn(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    line.making.reason = "it took too long; draw fewer boxes and arrows"
    provider.plays(Say(calls=[call()]), Say(["Sorry"]))
    assert await lane.run(loop, "draw it", line=line) == Answered("Sorry")
    assert told(provider) == "Not drawn: it took too long; draw fewer boxes and arrows."


@pytest.mark.parametrize(
    "wrong", [{"links": [{"source": "a", "target": "x"}]}, {"style": "fill:red"}, {"kind": "code"}, {"steps": []}]
)
async def test_a_structure_that_is_none_is_given_back_and_can_be_mended(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, wrong: dict[str, Any]
) -> None:
    provider.plays(Say(calls=[call(**wrong)]), Say(calls=[call()]), Say(["Here"]))
    finish = await lane.run(loop, "draw it", line=line)
    assert finish == Answered("Here", tuple(line.making.made))
    assert len(line.making.made) == 1


@pytest.mark.requirement("GRANT-1", "GRANT-5")
async def test_a_tool_that_is_withheld_is_not_run_and_the_model_is_told_why(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    line.withheld["draw_diagram"] = "nobody has said so"
    provider.plays(Say(calls=[call()]), Say(["I may not"]))
    assert await lane.run(loop, "draw it", line=line) == Answered("I may not")
    assert line.making.made == []
    assert told(provider) == "Not done: nobody has said so. Say so instead of trying again."


async def test_a_run_that_breaks_carries_no_file(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(calls=[call("x")]), Say(finish="content_filter"))
    assert isinstance(await lane.run(loop, "draw it", line=line), Broken)


@pytest.mark.requirement("ROOM-7", "LANE-14")
async def test_a_drawing_that_goes_out_beside_nothing_but_an_echo_is_on_record_by_its_name(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    """C27: without a word of it the next turn would answer the same message again."""
    card = fenced("heard", {"from": "Ann"}, "draw it", lambda: "0123456789ab")
    provider.plays(Say(calls=[call()]), Say([card]), Say(["It was a drawing."]))
    finish = await lane.run(loop, "draw it", line=line)
    (made,) = line.making.made
    assert isinstance(finish, Answered)
    assert read_reply(finish.text, TOOLS, finish.artifacts) == Said(made.filename, (made,))
    await lane.run(loop, "what was that?", line=line)
    last = [message for message in provider.messages() if message["role"] == "assistant"][-1]
    assert last["content"] == made.filename
