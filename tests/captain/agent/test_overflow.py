"""A lane never stays too long to answer."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from clankie_captain.agent import history, overflow
from clankie_captain.agent.history import Kept
from clankie_captain.agent.transcript import Transcript
from clankie_captain.core.run import Answered, Broken, Entry, Order
from clankie_settings.ids import LaneId, RunId
from clankie_settings.wire.failure import FailureCode
from tests.captain.agent.conftest import NewLoop
from tests.captain.agent.lane import Lane, Line, words
from tests.captain.agent.provider import (
    Answer,
    Protocol,
    Provider,
    Raw,
    Refuse,
    Say,
    anthropic_end,
    anthropic_start,
)

OPENAI_FULL = Refuse(400, {"error": {"message": "no", "code": "context_length_exceeded"}})
ANTHROPIC_FULL = Refuse(
    400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}
)
CASES: list[tuple[Protocol, Answer]] = [
    ("openai", OPENAI_FULL),
    ("openai", Refuse(413)),
    ("anthropic", ANTHROPIC_FULL),
    ("anthropic", Raw([anthropic_start(), *anthropic_end("model_context_window_exceeded")])),
]


async def grown(provider: Provider, new_loop: NewLoop, lane: Lane, turns: int) -> None:
    for number in range(turns):
        provider.plays(Say([f"answer {number} " * 20]))
        await lane.run(new_loop(), f"word {number}")


@pytest.mark.requirement("CTX-8")
@pytest.mark.parametrize(("protocol", "full"), CASES)
async def test_on_an_overflow_about_half_goes_at_somebodys_words_and_the_request_is_tried_once_more(
    provider: Provider, protocol: Protocol, new_loop: NewLoop, lane: Lane, line: Line, full: Answer
) -> None:
    await grown(provider, new_loop, lane, 8)
    provider.plays(full, Say(["Fits"]))
    assert await lane.run(new_loop(), "now", line=line) == Answered("Fits")
    assert line.cuts == [9]
    said = str(provider.messages())
    assert "word 3" not in said
    assert "word 4" in said
    assert line.calls.count("record request") == 1
    # What is shown from now on is what was tried, and it only grows again.
    provider.plays(Say(["Next"]))
    await lane.run(new_loop(), "next")
    assert provider.array(-1).startswith(provider.array(-2))


@pytest.mark.requirement("CTX-8")
async def test_a_second_overflow_fails_the_turn_and_leaves_the_lane_to_the_next_message(
    provider: Provider, new_loop: NewLoop, lane: Lane, line: Line
) -> None:
    await grown(provider, new_loop, lane, 8)
    provider.plays(OPENAI_FULL, OPENAI_FULL, Say(["Here"]))
    finish = await lane.run(new_loop(), "now", line=line)
    assert isinstance(finish, Broken)
    assert finish.code is FailureCode.CAPTAIN_CONTEXT_OVERFLOW
    assert line.cuts == [9, 1]
    assert await lane.run(new_loop(), "next") == Answered("Here")
    assert [message["content"] for message in provider.messages()[1:]] == ["now", "next"]


@pytest.mark.requirement("CTX-8")
async def test_one_message_that_is_too_long_alone_fails_and_is_gone_when_the_next_one_fails_too(
    provider: Provider, new_loop: NewLoop, lane: Lane
) -> None:
    provider.plays(OPENAI_FULL, OPENAI_FULL, Say(["Here"]))
    assert isinstance(await lane.run(new_loop(), "far too long"), Broken)
    assert await lane.run(new_loop(), "short") == Answered("Here")
    assert [message["content"] for message in provider.messages()[1:]] == ["short"]


@pytest.mark.requirement("CTX-8")
async def test_an_overflow_behind_a_tool_keeps_the_runs_own_words_and_does_not_run_the_tool_again(
    provider: Provider, new_loop: NewLoop, lane: Lane, line: Line
) -> None:
    await grown(provider, new_loop, lane, 2)
    call = ("send_text_update", '{"text": "soon"}')
    provider.plays(Say(calls=[call]), OPENAI_FULL, Say(["Done"]))
    assert await lane.run(new_loop(), "go", line=line) == Answered("Done")
    assert line.updates == ["soon"]
    assert [message["role"] for message in provider.messages()][-3:] == ["user", "assistant", "tool"]


message_kinds = st.sampled_from(["user", "answer", "call", "result"])


@given(st.lists(st.tuples(message_kinds, st.integers(1, 50)), max_size=30), st.integers(0, 30))
def test_a_cut_is_at_somebodys_words_never_inside_the_run_and_always_shortens(
    shape: list[tuple[str, int]], own: int
) -> None:
    made: dict[str, Callable[[int], ModelMessage]] = {
        "user": lambda weight: ModelRequest(parts=[UserPromptPart("x" * weight)]),
        "answer": lambda weight: ModelResponse(parts=[TextPart("x" * weight)]),
        "call": lambda weight: ModelResponse(parts=[ToolCallPart("t", "x" * weight, "c")]),
        "result": lambda weight: ModelRequest(parts=[ToolReturnPart("t", "x" * weight, "c")]),
    }
    kept = [
        Kept(made[kind](weight), RunId("new" if place >= own else "old"), place)
        for place, (kind, weight) in enumerate(shape)
    ]
    start = overflow.boundary(kept, RunId("new"))
    if start is None:
        assert all(kind != "user" for kind, _ in shape[1 : own + 1])
        return
    assert 0 < start <= own
    assert shape[start][0] == "user"
    users = [place for place, (kind, _) in enumerate(shape) if kind == "user" and 0 < place <= own]
    total = sum(weight for _, weight in shape)
    gone = {place: sum(weight for _, weight in shape[:place]) for place in users}
    assert all(abs(2 * gone[start] - total) <= abs(2 * gone[place] - total) for place in users)


@pytest.mark.requirement("CTX-8")
def test_a_cut_counts_entries_that_are_not_shown_too() -> None:
    blank = history.draft(ModelResponse(parts=[TextPart(" ")])).payload
    request = history.draft(ModelRequest(parts=[UserPromptPart("hi")])).payload
    payloads = [request, blank, request, blank, request]
    entries = tuple(Entry(seq, RunId("old"), "request", payload) for seq, payload in enumerate(payloads))
    order = Order(LaneId("rooms/1"), RunId("new"), "", entries, words("now"))
    stays: list[int | None] = []
    for shortened in (Transcript.own_only, Transcript.shorten):
        transcript = Transcript(order)
        transcript.add(history.draft(ModelRequest(parts=[UserPromptPart("now")])))
        stays.append(shortened(transcript))
    assert stays == [1, 2]
