"""What providers do wrong, and what becomes of the turn."""

import json
from typing import Any

import pytest

from clankie_captain.agent.failures import failure_code
from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.core.run import Answered, Broken
from clankie_settings import bounds
from clankie_settings.wire.failure import FailureCode
from tests.captain.agent.conftest import NewLoop
from tests.captain.agent.lane import Lane, Line, StillClock
from tests.captain.agent.provider import (
    Answer,
    Protocol,
    Provider,
    Raw,
    Refuse,
    Say,
    anthropic_block,
    anthropic_end,
    anthropic_event,
    anthropic_start,
    openai_chunk,
)

LIMIT = FailureCode.CAPTAIN_USAGE_LIMIT_REACHED
FAILED = FailureCode.CAPTAIN_MODEL_FAILED
REFUSED = FailureCode.CAPTAIN_MODEL_REFUSED
OVERFLOW = FailureCode.CAPTAIN_CONTEXT_OVERFLOW
TRIES = bounds.MODEL_RETRIES + 1


def openai_error(code: str | None = None, message: str = "no", kind: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}


def anthropic_error(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def in_stream(body: dict[str, Any], *before: bytes) -> Raw:
    return Raw([*before, f"data: {json.dumps(body)}\n\n".encode()])


def anthropic_text(*pieces: str) -> list[bytes]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return [anthropic_start(), *anthropic_block(0, {"type": "text", "text": ""}, *deltas)]


WORD = openai_chunk({"role": "assistant", "content": "Half"})

OPENAI: list[tuple[str, Answer, FailureCode, int]] = [
    ("quota", Refuse(429, openai_error("insufficient_quota")), LIMIT, 1),
    ("quota in the stream", in_stream(openai_error("insufficient_quota"), WORD), LIMIT, 1),
    ("rate limit", Refuse(429, openai_error("rate_limit_exceeded")), LIMIT, TRIES),
    ("rate limit, short wait", Refuse(429, openai_error(), {"retry-after": "7"}), LIMIT, TRIES),
    ("rate limit, long wait", Refuse(429, openai_error(), {"retry-after": "3600"}), LIMIT, 1),
    ("payment required", Refuse(402, openai_error()), LIMIT, 1),
    ("server error", Refuse(500, openai_error()), FAILED, TRIES),
    ("unavailable", Refuse(503, openai_error()), FAILED, TRIES),
    ("overloaded", Refuse(529, openai_error()), FAILED, TRIES),
    ("not JSON", Refuse(502, "<html>"), FAILED, TRIES),
    ("wrong key", Refuse(401, openai_error("invalid_api_key")), FAILED, 1),
    ("forbidden", Refuse(403, openai_error()), FAILED, 1),
    ("no such model", Refuse(404, openai_error("model_not_found")), FAILED, 1),
    ("refused as malformed", Refuse(400, openai_error("invalid_request_error")), FAILED, 1),
    ("torn before a byte", Raw([], torn=True), FAILED, TRIES),
    ("ended before a byte", Raw([]), FAILED, TRIES),
    ("ended before a token", Raw([openai_chunk({"role": "assistant", "content": ""})]), FAILED, TRIES),
    ("torn amid the words", Raw([WORD], torn=True), FAILED, 1),
    ("ended amid the words", Raw([WORD]), FAILED, 1),
    ("done without a reason", Raw([WORD, b"data: [DONE]\n\n"]), FAILED, 1),
    ("error amid the words", in_stream(openai_error("server_error"), WORD), FAILED, 1),
    ("error before the words", in_stream(openai_error("server_error")), FAILED, TRIES),
    ("no stream at all", Raw([b"data: nonsense\n\n"]), FAILED, TRIES),
    ("filtered, nothing said", Raw([openai_chunk({}, "content_filter")]), REFUSED, 1),
    ("filtered amid the words", Raw([WORD, openai_chunk({}, "content_filter")]), REFUSED, 1),
    ("refusal field", Raw([openai_chunk({"refusal": "no"}), openai_chunk({}, "stop")]), REFUSED, 1),
    ("length, nothing said", Raw([openai_chunk({}, "length")]), FAILED, 1),
    ("length amid the words", Raw([WORD, openai_chunk({}, "length")]), FAILED, 1),
    ("too long", Refuse(400, openai_error("context_length_exceeded")), OVERFLOW, 1),
    ("too large", Refuse(413, openai_error()), OVERFLOW, 1),
    ("too long, said by a 500", Refuse(500, openai_error(message="maximum context length is 4096")), OVERFLOW, 1),
]

ANTHROPIC: list[tuple[str, Answer, FailureCode, int]] = [
    ("billing", Refuse(400, anthropic_error("invalid_request_error", "Your credit balance is too low")), LIMIT, 1),
    ("rate limit", Refuse(429, anthropic_error("rate_limit_error")), LIMIT, TRIES),
    ("overloaded", Refuse(529, anthropic_error("overloaded_error")), FAILED, TRIES),
    ("wrong key", Refuse(401, anthropic_error("authentication_error")), FAILED, 1),
    (
        "overloaded amid the words",
        Raw([*anthropic_text("Half"), anthropic_event("error", **anthropic_error("overloaded_error"))]),
        FAILED,
        1,
    ),
    (
        "overloaded before the words",
        Raw([anthropic_start(), anthropic_event("error", **anthropic_error("overloaded_error"))]),
        FAILED,
        TRIES,
    ),
    ("ended before a token", Raw([anthropic_start()]), FAILED, TRIES),
    ("ended amid the words", Raw(anthropic_text("Half")), FAILED, 1),
    ("torn amid the words", Raw(anthropic_text("Half"), torn=True), FAILED, 1),
    ("refusal, nothing said", Raw([anthropic_start(), *anthropic_end("refusal")]), REFUSED, 1),
    ("refusal after half", Raw([*anthropic_text("Half"), *anthropic_end("refusal")]), REFUSED, 1),
    ("refusal after thoughts", Say(thinking="hm", finish="refusal"), REFUSED, 1),
    ("length", Raw([*anthropic_text("Half"), *anthropic_end("max_tokens")]), FAILED, 1),
    ("too long", Refuse(400, anthropic_error("invalid_request_error", "prompt is too long: 2 > 1")), OVERFLOW, 1),
    ("too large", Refuse(413, anthropic_error("request_too_large")), OVERFLOW, 1),
    ("window reached", Raw([*anthropic_text("Half"), *anthropic_end("model_context_window_exceeded")]), OVERFLOW, 1),
]

CASES = [
    *(pytest.param("openai", *case, id=f"openai: {name}") for name, *case in OPENAI),
    *(pytest.param("anthropic", *case, id=f"anthropic: {name}") for name, *case in ANTHROPIC),
]


@pytest.mark.requirement("FAIL-4", "FAIL-5", "FAIL-6")
@pytest.mark.parametrize(("protocol", "answer", "code", "tries"), CASES)
async def test_what_a_provider_does_wrong_has_its_code_its_tries_and_no_consequence_for_the_next_message(
    provider: Provider,
    protocol: Protocol,
    new_loop: NewLoop,
    lane: Lane,
    line: Line,
    answer: Answer,
    code: FailureCode,
    tries: int,
) -> None:
    provider.plays(*[answer] * tries)
    finish = await lane.run(new_loop(), "one", line=line)
    assert isinstance(finish, Broken)
    assert finish.code is code
    assert finish.cause.isidentifier()
    assert len(provider.bodies) == tries
    assert [entry.kind for entry in lane.entries] == ["request"]
    provider.script = [Say(["Fine"])]
    assert await lane.run(new_loop(), "two") == Answered("Fine")
    assert b"Half" not in provider.bodies[-1]


@pytest.mark.requirement("FAIL-3", "FAIL-5")
async def test_retries_back_off_and_are_signs_of_life(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, clock: StillClock
) -> None:
    provider.plays(Refuse(503), Refuse(503), Refuse(429, None, {"retry-after": "7"}), Say(["At last"]))
    assert await lane.run(loop, "go", line=line) == Answered("At last")
    waits = [wait.total_seconds() for wait in clock.slept]
    assert 0.5 <= waits[0] < 0.7
    assert 1 <= waits[1] < 1.3
    assert 7 <= waits[2] < 9
    told = [call for call in line.calls if call in ("event", "requesting", "wrote")]
    assert told[:7] == ["requesting", "event"] * 3 + ["requesting"]
    assert line.calls.count("record request") == 1


@pytest.mark.requirement("FAIL-5")
async def test_a_retry_after_a_tool_ran_does_not_run_it_again(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(calls=[("send_text_update", '{"text": "soon"}')]), Refuse(503), Say(["Done"]))
    assert await lane.run(loop, "go", line=line) == Answered("Done")
    assert line.updates == ["soon"]
    assert provider.array(1) == provider.array(2)
    assert len(lane.entries) == 4


async def test_each_request_of_a_run_has_its_own_tries(provider: Provider, loop: PydanticLoop, lane: Lane) -> None:
    provider.plays(*[Refuse(503)] * 5, Say(calls=[("send_text_update", '{"text": "soon"}')]))
    provider.plays(*[Refuse(503)] * 5, Say(["Done"]))
    assert await lane.run(loop, "go") == Answered("Done")


@pytest.mark.requirement("FAIL-6")
async def test_words_that_a_filter_refuses_do_not_silence_the_lane_for_ever(
    provider: Provider, new_loop: NewLoop, lane: Lane, line: Line
) -> None:
    filtered = Raw([openai_chunk({}, "content_filter")])
    provider.plays(filtered, filtered, Say(["Hello"]))
    assert isinstance(await lane.run(new_loop(), "something bad"), Broken)
    assert await lane.run(new_loop(), "hi", line=line) == Answered("Hello")
    assert b"something bad" not in provider.bodies[-1]
    assert line.cuts == [1]


def test_what_is_no_providers_doing_is_our_own_fault() -> None:
    assert failure_code(ValueError("x")) is FailureCode.CAPTAIN_INTERNAL_ERROR
