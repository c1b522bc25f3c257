"""A history that is too long, in every way in which a provider may say so; the strict provider takes what is left."""

import asyncio
from dataclasses import replace

import pytest

from clankie_captain.core.run import Answered, Broken
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider import steps
from clankie_stage.provider.beats import Fail, Open, Step
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.strict import Strict, refusals

OVERFLOW = FailureCode.CAPTAIN_CONTEXT_OVERFLOW
UPDATE = steps.call("send_text_update", {"text": "soon"})
LIMITED = "input length and `max_tokens` exceed context limit: 2 + 1 > 2"

# C09
WAYS: dict[str, Step] = {
    "400": steps.failed(steps.overflow_error()),
    "413": steps.failed(steps.overflow_error(413)),
    "413 without a code": steps.failed(Fail(413, "request_too_large")),
    "500": steps.failed(steps.overflow_error(500)),
    "400, words alone": steps.failed(Fail(400, "invalid_request_error", message=LIMITED)),
    "in the stream": steps.broken_stream(error=steps.overflow_error()),
    "in the stream, amid the words": steps.broken_stream("Half", error=steps.overflow_error()),
    "as a reason to stop": steps.window_reached(),
    "as a reason to stop, amid the words": steps.window_reached("Half"),
}


async def grown(strict: Strict, lane: Lane, turns: int) -> None:
    """A lane with turns of words, calls and thoughts, one request for each call and answer."""
    for number in range(turns):
        answer = steps.text(f"answer {number} " * 20)
        if number % 2:
            strict.brain.script(steps.calls(UPDATE, UPDATE, before="Wait."))
        strict.brain.script(replace(answer, beats=(*steps.thinking_only().beats[:-1], *answer.beats)))
        assert isinstance(await lane.run(strict.loop(), f"word {number}"), Answered)


@pytest.mark.requirement("CTX-8", "LANE-14")
@pytest.mark.parametrize("full", WAYS.values(), ids=WAYS.keys())
async def test_however_a_provider_says_it_the_cut_history_is_taken_and_answered(
    strict: Strict, lane: Lane, line: Line, full: Step
) -> None:
    await grown(strict, lane, 6)
    before = len(strict.brain.records())
    strict.brain.script(full, steps.text("Fits"), steps.text("Next"))
    assert await lane.run(strict.loop(), "now", line=line) == Answered("Fits")
    assert await lane.run(strict.loop(), "next") == Answered("Next")
    records = await strict.ended(before + 3)
    assert refusals(records) == []
    refused, cut, after = records[before:]
    assert len(line.cuts) == 1
    assert len(cut.raw) < len(refused.raw)
    assert b"word 5" in cut.raw
    assert b"word 0" not in cut.raw
    # From here on it only grows again.
    assert after.open_messages.startswith(cut.open_messages)


@pytest.mark.requirement("CTX-8", "FAIL-6")
@pytest.mark.parametrize("full", WAYS.values(), ids=WAYS.keys())
async def test_tries_are_bounded_and_the_next_message_finds_a_short_lane(
    strict: Strict, lane: Lane, line: Line, full: Step
) -> None:
    await grown(strict, lane, 3)
    before = len(strict.brain.records())
    strict.brain.script(full, full, steps.text("Here"))
    finish = await lane.run(strict.loop(), "now", line=line)
    assert isinstance(finish, Broken)
    assert finish.code is OVERFLOW
    assert len(line.cuts) == 2
    assert await lane.run(strict.loop(), "next") == Answered("Here")
    records = await strict.ended(before + 3)
    assert refusals(records) == []
    assert b"word 2" not in records[-1].raw


@pytest.mark.requirement("CTX-8")
async def test_a_real_window_costs_at_most_two_requests_a_message_and_is_never_the_end(
    strict: Strict, lane: Lane
) -> None:
    """Long messages in a small window: some are cut, and each lane that is cut answers the next message."""
    window = 1_500
    strict.brain.habits = replace(
        strict.brain.habits, limits=replace(strict.brain.habits.limits, context_tokens=window)
    )
    strict.brain.script(*[steps.text("Yes.")] * 20)
    cuts, cost = 0, 0
    for number in range(20):
        line = Line()
        assert await lane.run(strict.loop(), f"word {number} " * 100, line=line) == Answered("Yes.")
        cost, before = len(strict.brain.records()), cost
        assert cost - before <= 2
        cuts += len(line.cuts)
    assert 0 < cuts < 10
    assert all("too long" in said or "maximum context" in said for said in refusals(strict.brain.records()))


@pytest.mark.requirement("CTX-8", "FAIL-6")
async def test_one_message_beyond_the_window_fails_with_its_code_and_dooms_nobody_else(
    strict: Strict, lane: Lane
) -> None:
    strict.brain.habits = replace(strict.brain.habits, limits=replace(strict.brain.habits.limits, context_tokens=2_000))
    finish = await lane.run(strict.loop(), "far too long " * 2_000)
    assert isinstance(finish, Broken)
    assert finish.code is OVERFLOW
    strict.brain.script(steps.text("Here"))
    assert await lane.run(strict.loop(), "short") == Answered("Here")
    assert len(strict.brain.records()) == 3


@pytest.mark.requirement("CTX-8")
async def test_a_call_that_the_cut_would_part_from_its_result_stays_with_it(
    strict: Strict, lane: Lane, line: Line
) -> None:
    """The overflow comes behind a tool: the run's own call, results and words stay, and no tool runs twice."""
    await grown(strict, lane, 4)
    before = len(strict.brain.records())
    strict.brain.script(steps.calls(UPDATE), steps.failed(steps.overflow_error()), steps.text("Done"))
    assert await lane.run(strict.loop(), "go", line=line) == Answered("Done")
    records = await strict.ended(before + 3)
    assert refusals(records) == []
    assert line.updates == ["soon"]
    assert b'"go"' in records[-1].raw


@pytest.mark.requirement("CTX-8")
async def test_a_rate_limit_that_speaks_of_tokens_is_no_overflow(strict: Strict, lane: Lane, line: Line) -> None:
    words = "Rate limit: the context window of one minute holds 2 tokens."
    busy = Fail(429, "requests", "rate_limit_exceeded", words, "3600")
    strict.brain.script(steps.text("x"), steps.step(busy))
    await lane.run(strict.loop(), "one")
    finish = await lane.run(strict.loop(), "two", line=line)
    assert isinstance(finish, Broken)
    assert finish.code is FailureCode.CAPTAIN_USAGE_LIMIT_REACHED
    assert line.cuts == []


@pytest.mark.requirement("FAIL-3")
async def test_a_stream_that_only_pings_says_nothing_to_the_lane_but_bytes_until_it_is_left(
    strict: Strict, lane: Lane, line: Line
) -> None:
    # C05
    strict.brain.script(steps.step(Open(), *steps.pings(0.001).beats[1:]))
    running = asyncio.create_task(lane.run(strict.loop(), "go", line=line))
    await line.heard("received", 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert "event" not in line.calls
    assert (await strict.ended(1))[0].state == "hung_up"
    strict.brain.script(steps.text("Fine"))
    assert await lane.run(strict.loop(), "still there?") == Answered("Fine")
