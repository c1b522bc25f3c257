"""Each step of a script does to a caller what its name says."""

import asyncio
import json

import aiohttp
import openai as sdk
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk

from clankie_stage.provider import steps
from clankie_stage.provider.beats import Call, Fail, Finish, Gate, Open, Pause, Ping, Say, Step, Think
from clankie_stage.provider.server import Provider
from tests.stage.provider.samples import HEADERS, chat, user

ASK = chat(user("hi"), stream=True, stream_options={"include_usage": True})


async def streamed(client: AsyncOpenAI) -> list[ChatCompletionChunk]:
    stream = await client.chat.completions.create(
        model="rehearsal",
        messages=[{"role": "user", "content": "hi"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    return [chunk async for chunk in stream]


def words(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def reason(chunks: list[ChatCompletionChunk]) -> str | None:
    return next((c.choices[0].finish_reason for c in reversed(chunks) if c.choices), None)


async def bytes_of(provider: Provider) -> bytes:
    """The response body as far as it comes, without any client's reading of it."""
    seen = b""
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.post(f"{provider.base_url}/chat/completions", json=ASK) as response,
    ):
        assert response.status == 200
        try:
            async for chunk in response.content.iter_any():
                seen += chunk
        except aiohttp.ClientPayloadError:
            seen += b"<cut>"
    return seen


async def test_a_text_streams_as_role_deltas_finish_usage_and_done(provider: Provider) -> None:
    provider.brain.script(steps.text("Hel", "lo ☃"))
    events = (await bytes_of(provider)).decode().split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    assert [chunk["choices"][0]["delta"] for chunk in chunks[:-1]] == [
        {"role": "assistant", "content": "", "refusal": None},
        {"content": "Hel"},
        {"content": "lo ☃"},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None, None, None, "stop"]
    assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * 4
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == 3
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1


async def test_parallel_calls_stream_with_their_arguments_in_pieces(provider: Provider, openai: AsyncOpenAI) -> None:
    wanted = steps.calls(steps.call("look", {"what": "snow ☃"}), Call("stop", ("{", "}")), before="Wait.")
    provider.brain.script(wanted)
    chunks = await streamed(openai)
    deltas = [call for chunk in chunks if chunk.choices for call in chunk.choices[0].delta.tool_calls or []]
    heads = [delta for delta in deltas if delta.id]
    assert [(head.index, head.type, head.function and head.function.name) for head in heads] == [
        (0, "function", "look"),
        (1, "function", "stop"),
    ]
    assert len({head.id for head in heads}) == 2
    arguments = ["".join((d.function and d.function.arguments) or "" for d in deltas if d.index == n) for n in (0, 1)]
    assert [json.loads(text) for text in arguments] == [{"what": "snow ☃"}, {}]
    assert sum(delta.index == 0 for delta in deltas) > 2
    assert (words(chunks), reason(chunks)) == ("Wait.", "tool_calls")


async def test_an_answer_in_one_piece_holds_what_a_stream_would(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(steps.calls(steps.call("look", {"what": "x"}), before="Wait."))
    answer = await openai.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    message = answer.choices[0].message
    assert (message.content, answer.choices[0].finish_reason) == ("Wait.", "tool_calls")
    assert message.tool_calls is not None
    assert message.tool_calls[0].type == "function"
    assert json.loads(message.tool_calls[0].function.arguments) == {"what": "x"}
    assert answer.usage is not None
    assert answer.usage.completion_tokens > 0


TEXTS: dict[str, tuple[Step, str, str]] = {
    "silence": (steps.silence(), "[[stay-silent]]", "stop"),
    "empty": (steps.empty(), "", "stop"),
    "blank": (steps.blank(), " \n", "stop"),
    "thinking only": (steps.thinking_only("Hm."), "", "stop"),
    "length": (steps.cut_short("half"), "half", "length"),
    "content filter": (steps.content_filter("half"), "half", "content_filter"),
    "lone surrogate": (steps.lone_surrogate(), "half \ud83d", "stop"),
    "slow": (steps.slow("a", "b", every_s=3600), "ab", "stop"),
    "a written call": (
        steps.written_call("look", {"what": 1}),
        '<tool_call>{"name": "look", "arguments": {"what": 1}}</tool_call>',
        "stop",
    ),
}


@pytest.mark.parametrize(("step", "text", "finish"), TEXTS.values(), ids=TEXTS.keys())
async def test_a_step_that_ends_well_says_its_words_and_reason(
    provider: Provider, openai: AsyncOpenAI, step: Step, text: str, finish: str
) -> None:
    provider.brain.script(step)
    chunks = await streamed(openai)
    assert (words(chunks), reason(chunks)) == (text, finish)


async def test_a_refusal_fills_its_own_field(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(steps.refusal("No."), steps.refusal("No."))
    chunks = await streamed(openai)
    assert "".join(c.choices[0].delta.refusal or "" for c in chunks if c.choices) == "No."
    whole = await openai.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    assert (whole.choices[0].message.refusal, whole.choices[0].message.content) == ("No.", None)


async def test_thoughts_are_counted_as_reasoning_within_completion(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(steps.step(Think("x" * 40), Say("y" * 40), Finish()))
    usage = (await streamed(openai))[-1].usage
    assert usage is not None
    assert usage.completion_tokens_details is not None
    assert (usage.completion_tokens, usage.completion_tokens_details.reasoning_tokens) == (20, 10)


async def test_a_surrogate_in_arguments_arrives_as_it_was_scripted(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(steps.calls(Call("look", ('{"what": "\ud99c', '"}'))))
    chunks = await streamed(openai)
    deltas = [call for chunk in chunks if chunk.choices for call in chunk.choices[0].delta.tool_calls or []]
    assert "".join((d.function and d.function.arguments) or "" for d in deltas) == '{"what": "\ud99c"}'


ERRORS: dict[str, tuple[Fail, type[sdk.APIStatusError], str, str | None]] = {
    "quota": (steps.quota_error(), sdk.RateLimitError, "insufficient_quota", "insufficient_quota"),
    "rate limit": (steps.rate_limit_error("7"), sdk.RateLimitError, "requests", "rate_limit_exceeded"),
    "500": (steps.server_error(), sdk.InternalServerError, "server_error", None),
    "503": (steps.overloaded_error(503), sdk.InternalServerError, "overloaded_error", "overloaded"),
    "529": (steps.overloaded_error(), sdk.InternalServerError, "overloaded_error", "overloaded"),
    "overflow": (
        steps.overflow_error(),
        sdk.BadRequestError,
        "invalid_request_error",
        "context_length_exceeded",
    ),
    "key": (steps.key_error(), sdk.AuthenticationError, "invalid_request_error", "invalid_api_key"),
    "size": (steps.size_error(), sdk.APIStatusError, "invalid_request_error", "request_too_large"),
    "image": (steps.image_error(), sdk.BadRequestError, "invalid_request_error", "image_parse_error"),
}


@pytest.mark.parametrize(("error", "kind", "type_", "code"), ERRORS.values(), ids=ERRORS.keys())
async def test_an_error_step_answers_with_its_status_and_openais_body(
    provider: Provider, openai: AsyncOpenAI, error: Fail, kind: type[sdk.APIStatusError], type_: str, code: str | None
) -> None:
    provider.brain.script(steps.failed(error))
    with pytest.raises(kind) as caught:
        await streamed(openai)
    assert (caught.value.status_code, caught.value.type, caught.value.code) == (error.status, type_, code)
    assert caught.value.response.headers.get("retry-after") == error.retry_after


async def test_an_error_event_ends_an_open_stream(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(steps.broken_stream("one", "two"), steps.broken_stream())
    for _ in range(2):
        with pytest.raises(sdk.APIError) as caught:
            await streamed(openai)
        assert (caught.value.type, caught.value.code) == ("overloaded_error", "overloaded")


async def test_an_error_event_leaves_its_deltas_and_no_done(provider: Provider) -> None:
    provider.brain.script(steps.broken_stream("one"))
    seen = await bytes_of(provider)
    assert b'"content":"one"' in seen
    assert b'data: {"error":{"message"' in seen
    assert b"[DONE]" not in seen
    assert b"<cut>" not in seen


async def test_an_end_without_terminal_event_is_a_proper_end_of_the_response(provider: Provider) -> None:
    provider.brain.script(steps.ended("one"))
    seen = await bytes_of(provider)
    assert b'"content":"one"' in seen
    assert b'"finish_reason":"stop"' not in seen
    assert b"[DONE]" not in seen
    assert b"<cut>" not in seen


@pytest.mark.parametrize("after", [0, 1, 300])
async def test_a_cut_connection_dies_after_so_many_bytes(provider: Provider, after: int) -> None:
    provider.brain.script(steps.cut(after))
    assert len(await bytes_of(provider)) == after + len(b"<cut>")
    assert (await provider.brain.wait_ended(1))[0].state == "cut"


async def test_a_hold_sends_its_deltas_and_sees_the_client_leave(provider: Provider) -> None:
    provider.brain.script(steps.hold("one", "two"))
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.post(f"{provider.base_url}/chat/completions", json=ASK) as response,
    ):
        seen = b""
        while b'"content":"two"' not in seen:
            seen += await response.content.readany()
        assert provider.brain.records()[0].state == "open"
    assert (await provider.brain.wait_ended(1))[0].state == "hung_up"


async def test_a_hold_without_deltas_still_sends_headers(provider: Provider) -> None:
    provider.brain.script(steps.hold())
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.post(f"{provider.base_url}/chat/completions", json=ASK) as response,
    ):
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert provider.brain.records()[0].first_byte is not None


async def test_an_unanswered_request_gets_not_even_headers(provider: Provider) -> None:
    provider.brain.script(steps.unanswered())
    async with aiohttp.ClientSession(headers=HEADERS) as session:
        pending = asyncio.ensure_future(session.post(f"{provider.base_url}/chat/completions", json=ASK))
        await provider.brain.wait_requests(1)
        pending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pending
    (record,) = await provider.brain.wait_ended(1)
    assert (record.state, record.first_byte) == ("hung_up", None)


async def test_pings_are_comments_that_carry_no_event(provider: Provider) -> None:
    provider.brain.script(steps.pings(every_s=0, count=2), steps.step(Ping(2, 0), Say("hi"), Finish()))
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.post(f"{provider.base_url}/chat/completions", json=ASK) as response,
    ):
        assert await response.content.readexactly(28) == b": keep-alive\n\n" * 2
    assert (await bytes_of(provider)).startswith(b": keep-alive\n\n: keep-alive\n\ndata: ")


async def test_endless_pings_stop_when_the_client_leaves(provider: Provider) -> None:
    provider.brain.script(steps.pings(every_s=0.001))
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.post(f"{provider.base_url}/chat/completions", json=ASK) as response,
    ):
        await response.content.readexactly(140)
    assert (await provider.brain.wait_ended(1))[0].state == "hung_up"


async def test_a_barrier_before_the_first_byte_holds_back_the_headers(provider: Provider) -> None:
    provider.brain.script(steps.gated("here", "one", "two"))
    async with aiohttp.ClientSession(headers=HEADERS) as session:
        pending = asyncio.ensure_future(session.post(f"{provider.base_url}/chat/completions", json=ASK))
        await provider.brain.arrived("here")
        assert provider.brain.records()[0].first_byte is None
        provider.brain.open("here")
        assert (await (await pending).read()).endswith(b"data: [DONE]\n\n")
    assert (await provider.brain.wait_ended(1))[0].state == "finished"


@pytest.mark.parametrize("after", [1, 2])
async def test_a_barrier_holds_an_answer_at_exactly_its_place(provider: Provider, after: int) -> None:
    provider.brain.script(steps.gated("here", "one", "two", after=after))
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.post(f"{provider.base_url}/chat/completions", json=ASK) as response,
    ):
        await provider.brain.arrived("here")
        seen = b""
        while seen.count(b'"content":"') < after + 1:
            seen += await response.content.readany()
        assert b'"finish_reason":"stop"' not in seen
        assert (b'"content":"two"' in seen) == (after == 2)
        provider.brain.open("here")
        assert (await response.read()).endswith(b"data: [DONE]\n\n")


async def test_a_pause_and_a_gate_before_open_hold_back_the_headers(provider: Provider) -> None:
    provider.brain.script(steps.step(Pause(60), Gate("door"), Open(), Say("hi"), Finish()))
    provider.brain.open("door")
    assert b'"content":"hi"' in await bytes_of(provider)
    assert provider.brain.barriers.arrivals("door") == 1
