"""Every row of what providers do, in both shapes: code, requests, transcript, and an answer to the next message."""

from dataclasses import replace
from pathlib import Path

import pytest

from clankie_captain.agent.model import build_loop
from clankie_captain.core.reply import Missing, read_reply
from clankie_captain.core.run import Answered, Broken
from clankie_settings import bounds
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider import steps
from clankie_stage.provider.beats import Fail, Open, Step
from tests.captain.agent.lane import Lane, Line, StillClock
from tests.captain.agent.provider import Protocol
from tests.captain.agent.strict import SHAPES, Strict, refusals, strict_provider

LIMIT = FailureCode.CAPTAIN_USAGE_LIMIT_REACHED
FAILED = FailureCode.CAPTAIN_MODEL_FAILED
REFUSED = FailureCode.CAPTAIN_MODEL_REFUSED
OVERFLOW = FailureCode.CAPTAIN_CONTEXT_OVERFLOW
TRIES = bounds.MODEL_RETRIES + 1
SECRET = "the provider's own words"


def erring(error: Fail) -> Fail:
    """The error with words that must stay in the transcript; where only the message tells what it is, it stays."""
    return error if error.code in ("insufficient_quota", "context_length_exceeded") else replace(error, message=SECRET)


def failed(error: Fail) -> Step:
    return steps.failed(erring(error))


def broken(*said: str, error: Fail) -> Step:
    return steps.broken_stream(*said, error=erring(error))


Row = tuple[Step, FailureCode, int]

ROWS: dict[str, Row] = {
    "quota": (failed(steps.quota_error()), LIMIT, 1),
    "quota in the stream": (broken(error=steps.quota_error()), LIMIT, 1),
    "quota amid the words": (broken("Half", error=steps.quota_error()), LIMIT, 1),
    "rate limit": (failed(steps.rate_limit_error("7")), LIMIT, TRIES),
    "rate limit, long wait": (failed(steps.rate_limit_error("3600")), LIMIT, 1),
    "rate limit in the stream": (broken(error=steps.rate_limit_error(None)), LIMIT, TRIES),
    "server error": (failed(steps.server_error()), FAILED, TRIES),
    "overloaded, 503": (failed(steps.overloaded_error(503)), FAILED, TRIES),
    "overloaded, 529": (failed(steps.overloaded_error()), FAILED, TRIES),
    "wrong key": (failed(steps.key_error()), FAILED, 1),
    "refused as malformed": (failed(Fail(400, "invalid_request_error")), FAILED, 1),
    # C04
    "picture refused": (failed(steps.image_error()), FAILED, 1),
    # C11
    "overloaded before the words": (broken(error=steps.overloaded_error()), FAILED, TRIES),
    "overloaded amid the words": (broken("Half", error=steps.overloaded_error()), FAILED, 1),
    "server error before the words": (broken(error=steps.server_error()), FAILED, TRIES),
    "server error amid the words": (broken("Half", error=steps.server_error()), FAILED, 1),
    "ended before the words": (steps.ended(), FAILED, TRIES),
    "ended amid the words": (steps.ended("Half"), FAILED, 1),
    "torn before a byte": (steps.cut(0), FAILED, TRIES),
    "torn amid the words": (replace(steps.text("Half", "x" * 4_000), cut_after=1_500), FAILED, 1),
    # C09
    "too long, 400": (failed(steps.overflow_error()), OVERFLOW, 1),
    "too long, 413": (failed(steps.overflow_error(413)), OVERFLOW, 1),
    "too large": (failed(steps.size_error()), OVERFLOW, 1),
    "too long, 500": (failed(steps.overflow_error(500)), OVERFLOW, 1),
    "too long in the stream": (broken(error=steps.overflow_error()), OVERFLOW, 1),
    "window reached": (steps.window_reached("Half"), OVERFLOW, 1),
    # C34
    "refusal, nothing said": (steps.refusal(SECRET), REFUSED, 1),
    "refusal amid the words": (steps.refusal(SECRET, "Half"), REFUSED, 1),
    "refusal after thoughts": (
        steps.step(*steps.thinking_only("hm").beats[:-1], *steps.refusal(SECRET).beats),
        REFUSED,
        1,
    ),
    "filter, nothing said": (steps.content_filter(), REFUSED, 1),
    "filter amid the words": (steps.content_filter("Half"), REFUSED, 1),
    "length, nothing said": (steps.cut_short(), FAILED, 1),
    "length amid the words": (steps.cut_short("Half"), FAILED, 1),
    # C02
    "a promised call that never came": (steps.call_promised(), FAILED, TRIES),
    "a promised call behind words": (steps.call_promised("Half"), FAILED, 1),
    "a call that never finished": (steps.call_cut("send_text_update", '{"text": "so'), FAILED, 1),
    "a call cut at the length": (steps.call_cut("send_text_update", '{"text": "so', reason="length"), FAILED, 1),
    "a call cut by a filter": (steps.call_cut("send_text_update", '{"te', reason="content_filter"), REFUSED, 1),
}
EMPTY: dict[str, Step] = {
    # C10
    "nothing": steps.empty(),
    "blank": steps.blank(),
    "invisible": steps.text("\u200b", "\u3164"),
    "thoughts alone": steps.thinking_only("hm"),
    "thoughts and blanks": steps.step(*steps.thinking_only("hm").beats[:-1], *steps.blank().beats),
    "pings, then nothing": steps.step(Open(), *steps.pings(0, 3).beats[1:2], *steps.empty().beats),
}


async def next_turn_answers(strict: Strict, lane: Lane, before: int) -> None:
    """The next message is accepted by the same strict provider, and answered."""
    strict.brain.script(steps.text("Fine"))
    assert await lane.run(strict.loop(), "still there?") == Answered("Fine")
    last = (await strict.ended(before + 1))[-1]
    assert not last.refused
    assert b"still there?" in last.raw
    assert b"Half" not in last.raw


@pytest.mark.requirement("FAIL-4", "FAIL-5", "FAIL-6", "LANE-14")
@pytest.mark.parametrize(("step", "code", "tries"), ROWS.values(), ids=ROWS.keys())
async def test_each_failure_has_its_code_its_tries_and_no_consequence_for_the_next_message(
    strict: Strict, lane: Lane, line: Line, step: Step, code: FailureCode, tries: int
) -> None:
    strict.brain.script(*[step] * tries)
    finish = await lane.run(strict.loop(), "hello", line=line)
    assert isinstance(finish, Broken)
    assert finish.code is code
    records = await strict.ended(tries)
    assert refusals(records) == []
    assert len({record.raw for record in records}) == 1
    assert [entry.kind for entry in lane.entries] == ["request"]
    assert line.updates == []
    # What the provider said is for the transcript alone.
    assert SECRET not in finish.cause
    assert SECRET not in repr(finish)
    assert SECRET not in "".join(entry.payload for entry in lane.entries)
    await next_turn_answers(strict, lane, tries)


@pytest.mark.requirement("FAIL-4")
@pytest.mark.parametrize("name", ["server error", "rate limit", "wrong key", "overloaded amid the words"])
async def test_the_providers_own_words_are_kept_for_the_transcript(strict: Strict, lane: Lane, name: str) -> None:
    step, _, tries = ROWS[name]
    strict.brain.script(*[step] * tries)
    finish = await lane.run(strict.loop(), "hello")
    assert isinstance(finish, Broken)
    assert SECRET in finish.words


@pytest.mark.requirement("FAIL-4", "LANE-14")
@pytest.mark.parametrize("step", EMPTY.values(), ids=EMPTY.keys())
async def test_an_answer_in_which_nothing_can_be_seen_is_missing_and_leaves_no_entry(
    strict: Strict, lane: Lane, step: Step
) -> None:
    strict.brain.script(step)
    finish = await lane.run(strict.loop(), "hello")
    assert isinstance(finish, Answered)
    assert read_reply(finish.text) == Missing()
    await strict.ended(1)
    await next_turn_answers(strict, lane, 1)


@pytest.mark.requirement("FAIL-5")
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_provider_that_is_not_there_is_tried_again_and_then_given_up(shape: Protocol, tmp_path: Path) -> None:
    async with strict_provider(shape, tmp_path) as gone:
        settings = gone.settings()
    clock = StillClock()
    loop = build_loop(settings, clock)
    finish = await Lane().run(loop, "hello")
    await loop.aclose()
    assert isinstance(finish, Broken)
    assert finish.code is FAILED
    assert len(clock.slept) == bounds.MODEL_RETRIES


@pytest.mark.requirement("FAIL-3", "FAIL-5")
async def test_retries_wait_as_long_as_the_provider_asks_and_are_signs_of_life(
    strict: Strict, lane: Lane, line: Line
) -> None:
    busy, broken_one = failed(steps.rate_limit_error("7")), broken(error=steps.overloaded_error())
    strict.brain.script(busy, broken_one, steps.text("At ", "last"))
    assert await lane.run(strict.loop(), "go", line=line) == Answered("At last")
    waits = [wait.total_seconds() for wait in strict.clock.slept]
    assert 7 <= waits[0] < 9
    assert 1 <= waits[1] < 1.3
    told = [call for call in line.calls if call in ("event", "requesting", "wrote")]
    assert told[:5] == ["requesting", "event", "requesting", "event", "requesting"]


@pytest.mark.requirement("FAIL-3")
async def test_pings_are_bytes_and_no_events(strict: Strict, lane: Lane, line: Line) -> None:
    # C05
    strict.brain.script(steps.step(Open(), *steps.pings(0, 20).beats[1:2], *steps.text("Hi").beats))
    seen: list[str] = []
    line.on = lambda name: seen.append(name)
    assert await lane.run(strict.loop(), "go", line=line) == Answered("Hi")
    before = seen[seen.index("requesting") + 1 : seen.index("wrote")]
    assert "received" in before
    assert "event" not in before


@pytest.mark.requirement("FAIL-6", "LANE-14")
async def test_a_tool_that_ran_is_not_run_again_by_a_retry_and_its_failure_leaves_a_valid_history(
    strict: Strict, lane: Lane, line: Line
) -> None:
    # C11, C02
    update = steps.call("send_text_update", {"text": "soon"})
    overloaded = failed(steps.overloaded_error())
    strict.brain.script(steps.calls(update, update), overloaded, steps.ended("Half"))
    finish = await lane.run(strict.loop(), "look", line=line)
    assert isinstance(finish, Broken)
    assert line.updates == ["soon", "soon"]
    assert refusals(await strict.ended(3)) == []
    await next_turn_answers(strict, lane, 3)
