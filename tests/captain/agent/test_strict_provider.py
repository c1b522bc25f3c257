"""The stage's provider refuses what real ones refuse; it finds nothing to refuse."""

import asyncio
from itertools import pairwise
from pathlib import Path

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
from clankie_captain.agent.model import DEFAULT_MODELS, build_loop
from clankie_captain.core.quoting import fenced
from clankie_captain.core.run import Answered, Broken, Entry
from clankie_settings.ids import RunId
from clankie_settings.schema import CaptainSettings
from clankie_stage.app import Stage
from clankie_stage.provider import steps
from clankie_stage.provider.beats import Call, Fail, Finish, Say, Think
from clankie_stage.provider.records import extends
from tests.captain.agent.lane import Lane, Line, StillClock, words
from tests.captain.agent.provider import Protocol
from tests.captain.agent.strict import SHAPES, Strict

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
    # C02, C10, C43, C52
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


@pytest.mark.requirement("LANE-14", "FAIL-6")
async def test_broken_characters_from_people_models_and_calls_never_make_a_request_invalid(
    strict: Strict, lane: Lane, line: Line
) -> None:
    # C43, C52
    call = steps.call("send_text_update", {"text": "a\0b \ud99c \x1b[31m \x85 \ufffe"})
    strict.brain.script(
        steps.calls(call, before="half \ud83d"),
        steps.lone_surrogate(),
        steps.text("\ud83d", "\ude00"),
        steps.text("ok"),
    )
    for text in ("hi \ud83d \udc4d \0 there", "a\0", "👍\ud83d"):
        await lane.run(strict.loop(), text, line=line)
    # Nothing is asked where nothing was said.
    assert isinstance(await lane.run(strict.loop(), "\0\0"), Broken)
    records = await strict.ended(4)
    assert [record.refused for record in records] == [""] * 4
    assert line.updates == ["ab \ufffd \x1b[31m \x85 \ufffe"]
    assert all(extends(earlier, later) for earlier, later in pairwise(records))
    stored = "".join(entry.payload for entry in lane.entries)
    assert "\\u0000" not in stored
    stored.encode()


@pytest.mark.requirement("ROOM-7", "LANE-14")
async def test_an_echo_is_not_shown_as_his_own_words_in_the_next_turn(strict: Strict, lane: Lane) -> None:
    """C27"""
    card = fenced("heard", {"from": "Ann"}, "secret", lambda: "0123456789ab")
    answer = steps.step(Think("Hm."), Say(card[:20]), Say(f"{card[20:]}\nIt is four."), Finish())
    # One that only echoes is missing, and its turn stays unanswered.
    strict.brain.script(answer, steps.text(card), steps.text("Fine."), steps.text("Bye."))
    assert await lane.run(strict.loop(), "two and two?") == Answered("It is four.")
    assert await lane.run(strict.loop(), "really?") == Answered(card)
    assert await lane.run(strict.loop(), "how are you?") == Answered("Fine.")
    assert await lane.run(strict.loop(), "bye") == Answered("Bye.")
    records = await strict.ended(4)
    assert [record.refused for record in records] == [""] * 4
    assert all(extends(earlier, later) for earlier, later in pairwise(records))
    last = records[-1].raw.decode()
    assert last.count("It is four.") == last.count("Fine.") == 1
    assert "secret" not in last


@pytest.mark.requirement("FAIL-6", "LANE-14")
async def test_a_past_that_a_provider_refuses_as_such_is_left_behind_and_the_message_answered(
    strict: Strict, lane: Lane, line: Line
) -> None:
    # C04: what it is, the provider knows; no later message would pass it either.
    refused = steps.failed(Fail(400, "invalid_request_error", message="messages.0.content: Could not process it."))
    strict.brain.script(steps.text("one"), refused, steps.text("Here"), steps.text("Next"))
    assert await lane.run(strict.loop(), "bad words") == Answered("one")
    assert await lane.run(strict.loop(), "hello", line=line) == Answered("Here")
    assert line.cuts == [1]
    assert await lane.run(strict.loop(), "next") == Answered("Next")
    records = await strict.ended(4)
    assert b"bad words" not in records[2].raw
    assert extends(records[2], records[3])


@pytest.mark.requirement("FAIL-5", "FAIL-6")
async def test_a_message_that_is_refused_as_such_is_not_sent_twice_and_does_not_doom_the_next(
    strict: Strict, lane: Lane, line: Line
) -> None:
    # C04
    refused = steps.failed(Fail(400, "invalid_request_error", message="messages.0.content: Could not process it."))
    strict.brain.script(refused, refused, steps.text("Here"))
    assert isinstance(await lane.run(strict.loop(), "bad words", line=line), Broken)
    await strict.ended(1)
    assert await lane.run(strict.loop(), "hello") == Answered("Here")
    assert b"bad words" not in (await strict.ended(3))[-1].raw


@pytest.mark.requirement("FAIL-5")
async def test_a_refusal_of_anything_else_costs_no_history(strict: Strict, lane: Lane, line: Line) -> None:
    refused = steps.failed(Fail(400, "invalid_request_error", message="max_tokens: too many for this model"))
    strict.brain.script(steps.text("one"), refused)
    await lane.run(strict.loop(), "words")
    assert isinstance(await lane.run(strict.loop(), "hello", line=line), Broken)
    assert line.cuts == []


@pytest.mark.requirement("LANE-14")
async def test_tools_that_a_model_made_up_and_arguments_that_are_none_leave_a_valid_history(
    strict: Strict, lane: Lane, line: Line
) -> None:
    # C02
    made_up = Call("functions.no such tool", ("{}",))
    unreadable = Call("send_text_update", ('{"text": "so',))
    strict.brain.script(steps.calls(made_up, unreadable), steps.text("Sorry"), steps.text("Next"))
    assert await lane.run(strict.loop(), "go", line=line) == Answered("Sorry")
    assert await lane.run(strict.loop(), "next") == Answered("Next")
    assert [record.refused for record in await strict.ended(3)] == [""] * 3
    assert line.updates == []


@pytest.mark.parametrize(
    ("shape", "name"), [*((shape, "any") for shape in SHAPES), *((each, DEFAULT_MODELS[each]) for each in SHAPES)]
)
async def test_the_stages_rehearsal_answers_in_the_shape_of_whichever_provider_is_named(
    shape: Protocol, name: str, tmp_path: Path, lane: Lane, line: Line
) -> None:
    async with Stage.running() as stage:
        address = stage.provider_url if shape == "openai" else stage.provider_url.removesuffix("/v1")
        settings = CaptainSettings(
            state=tmp_path, discord_attachment_root=tmp_path, model=f"{shape}:{name}", model_base_url=address
        )
        loop = build_loop(settings, StillClock())
        finish = await lane.run(loop, "use a tool", line=line)
        assert finish == Answered("I heard “use a tool”.")
        assert line.updates == ["Looking it up, one moment."]
        await loop.aclose()
