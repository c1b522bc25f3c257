"""Answers in Anthropic's shape: the events of a stream, whole messages, errors, usage, and the rehearsal model."""

import json
from typing import cast

import anthropic as sdk
import pytest

from clankie_stage.provider import steps
from clankie_stage.provider.beats import Fail, Finish, Ping, Say, Step
from clankie_stage.provider.server import Provider
from clankie_stage.provider.shapes import JsonObject
from tests.stage.provider.anthropic_samples import HEADERS, events, marked, post, raw, said, text, user

ASK = raw(user("hi"), stream=True)
LOOK = steps.call("look", {"what": "snow ☃"})


def kinds(found: list[JsonObject]) -> list[str]:
    return [str(event["type"]) for event in found if event["type"] != "content_block_delta"]


def deltas(found: list[JsonObject], field: str) -> str:
    parts = (cast("JsonObject", event["delta"]) for event in found if event["type"] == "content_block_delta")
    return "".join(str(part[field]) for part in parts if field in part)


def reason(found: list[JsonObject]) -> object:
    return next(
        cast("JsonObject", event["delta"])["stop_reason"] for event in found if event["type"] == "message_delta"
    )


async def test_a_text_is_one_block_between_start_and_stop(provider: Provider) -> None:
    provider.brain.script(steps.text("Hi ", "there"))
    found = await events(provider, ASK)
    assert kinds(found) == [
        *("message_start", "content_block_start", "ping", "content_block_stop", "message_delta", "message_stop")
    ]
    assert deltas(found, "text") == "Hi there"
    assert reason(found) == "end_turn"


async def test_thoughts_words_and_parallel_calls_are_blocks_of_their_own(provider: Provider) -> None:
    provider.brain.script(
        steps.step(*steps.thinking_only("so").beats[:-1], Say("Wait."), LOOK, LOOK, Finish("tool_calls"))
    )
    found = await events(provider, ASK)
    starts = [cast("JsonObject", e["content_block"]) for e in found if e["type"] == "content_block_start"]
    assert [start["type"] for start in starts] == ["thinking", "text", "tool_use", "tool_use"]
    assert [e["index"] for e in found if e["type"] == "content_block_stop"] == [0, 1, 2, 3]
    assert deltas(found, "thinking") == "so"
    assert deltas(found, "signature")
    assert (
        deltas(found, "partial_json") == json.dumps({"what": "snow ☃"}, ensure_ascii=False, separators=(",", ":")) * 2
    )
    assert len({start["id"] for start in starts[2:]}) == 2
    assert reason(found) == "tool_use"


async def test_a_thought_that_was_given_out_is_taken_back_unmodified_alone(provider: Provider) -> None:
    provider.brain.script(steps.step(*steps.thinking_only("so").beats[:-1], Say("Yes."), Finish()), steps.text("ok"))
    _, answer = await post(provider, raw(user("hi")))
    content = cast("list[JsonObject]", answer["content"])
    assert [part["type"] for part in content] == ["thinking", "text"]
    assert (await post(provider, raw(user("hi"), said(*content), user("and?"))))[0] == 200
    content[0]["thinking"] = "so!"
    assert (await post(provider, raw(user("hi"), said(*content), user("and?"))))[0] == 400


STOPS: dict[str, tuple[Step, str]] = {
    "stop": (steps.text("x"), "end_turn"),
    "calls": (steps.calls(LOOK), "tool_use"),
    "length": (steps.cut_short("x"), "max_tokens"),
    "filter": (steps.content_filter("x"), "refusal"),
    "refusal": (steps.refusal("no", "x"), "refusal"),
    "window": (steps.window_reached("x"), "model_context_window_exceeded"),
    "nothing": (steps.empty(), "end_turn"),
    "promised": (steps.call_promised("x"), "tool_use"),
}


@pytest.mark.parametrize(("step", "expected"), STOPS.values(), ids=STOPS.keys())
async def test_a_stop_has_anthropics_reason_in_both_forms(provider: Provider, step: Step, expected: str) -> None:
    provider.brain.script(step, step)
    assert reason(await events(provider, ASK)) == expected
    assert (await post(provider, raw(user("hi"))))[1]["stop_reason"] == expected


async def test_a_refusals_words_are_its_explanation(provider: Provider) -> None:
    provider.brain.script(steps.refusal("not that"))
    found = await events(provider, ASK)
    delta = next(cast("JsonObject", event["delta"]) for event in found if event["type"] == "message_delta")
    assert delta["stop_details"] == {"type": "refusal", "category": None, "explanation": "not that"}
    assert "content_block_start" not in kinds(found)


async def test_whole_answers_hold_their_blocks_and_their_usage(provider: Provider) -> None:
    provider.brain.script(steps.calls(LOOK, before="Wait."))
    status, answer = await post(provider, raw(user("hi")))
    assert status == 200
    content = cast("list[JsonObject]", answer["content"])
    assert content[0] == text("Wait.")
    assert (content[1]["name"], content[1]["input"]) == ("look", {"what": "snow ☃"})
    assert cast("JsonObject", answer["usage"])["output_tokens"]


async def test_pings_are_events_before_and_amid_an_answer(provider: Provider) -> None:
    provider.brain.script(steps.step(Ping(2, 0), Say("hi"), Ping(1, 0), Finish()))
    found = kinds(await events(provider, ASK))
    assert found[:3] == ["ping", "ping", "message_start"]
    assert found.count("ping") == 4


async def test_an_error_in_an_open_stream_is_an_event_and_the_end(provider: Provider) -> None:
    provider.brain.script(steps.broken_stream("Half"))
    found = await events(provider, ASK)
    assert found[-1]["type"] == "error"
    assert cast("JsonObject", found[-1]["error"])["type"] == "overloaded_error"
    assert "message_stop" not in kinds(found)


async def test_an_end_without_a_terminal_event_leaves_the_block_open(provider: Provider) -> None:
    provider.brain.script(steps.ended("Half"), steps.call_cut("look", '{"wh'))
    for _ in range(2):
        found = kinds(await events(provider, ASK))
        assert found == ["message_start", "content_block_start", "ping"]


ERRORS: dict[str, tuple[Fail, int, str, type[sdk.APIStatusError]]] = {
    "quota": (steps.quota_error(), 400, "invalid_request_error", sdk.BadRequestError),
    "rate limit": (steps.rate_limit_error("7"), 429, "rate_limit_error", sdk.RateLimitError),
    "500": (steps.server_error(), 500, "api_error", sdk.InternalServerError),
    "529": (steps.overloaded_error(), 529, "overloaded_error", sdk.OverloadedError),
    "503": (steps.overloaded_error(503), 503, "overloaded_error", sdk.ServiceUnavailableError),
    "overflow": (steps.overflow_error(), 400, "invalid_request_error", sdk.BadRequestError),
    "key": (steps.key_error(), 401, "authentication_error", sdk.AuthenticationError),
    "size": (steps.size_error(), 413, "request_too_large", sdk.RequestTooLargeError),
    "image": (steps.image_error(), 400, "invalid_request_error", sdk.BadRequestError),
}


@pytest.mark.parametrize(("error", "status", "kind", "raised"), ERRORS.values(), ids=ERRORS.keys())
async def test_an_error_step_is_raised_by_the_real_client_as_the_real_one_is(
    provider: Provider, error: Fail, status: int, kind: str, raised: type[sdk.APIStatusError]
) -> None:
    provider.brain.script(steps.failed(error))
    async with sdk.AsyncAnthropic(api_key="sk-test", base_url=provider.url, max_retries=0) as client:
        with pytest.raises(raised) as caught:
            await client.messages.create(
                model="m", max_tokens=10, messages=[{"role": "user", "content": "hi"}], stream=True
            )
    assert caught.value.status_code == status
    assert cast("JsonObject", cast("JsonObject", caught.value.body)["error"])["type"] == kind
    assert caught.value.response.headers.get("retry-after") == error.retry_after


async def test_an_unscripted_request_and_a_wrong_key_are_told_in_anthropics_shape(provider: Provider) -> None:
    status, answer = await post(provider, raw(user("hi")))
    assert (status, answer["type"]) == (400, "error")
    status, answer = await post(provider, raw(user("hi")), {**HEADERS, "x-api-key": " "})
    assert (status, cast("JsonObject", answer["error"])["type"]) == (401, "authentication_error")
    status, answer = await post(provider, raw(user("hi")), {**HEADERS, "content-type": "text/plain"})
    assert status == 400


async def test_usage_tells_what_was_read_from_the_cache_and_what_was_written_to_it(provider: Provider) -> None:
    long = marked(text("be kind " * 1_000))
    provider.brain.script(*[steps.text("x")] * 3)
    asked = [user("hi")]
    first = cast("JsonObject", (await post(provider, raw(*asked, system=[long])))[1]["usage"])
    asked += [said("x"), user("and?" * 300)]
    second = cast("JsonObject", (await post(provider, raw(*asked, system=[long])))[1]["usage"])
    assert first["cache_read_input_tokens"] == 0
    assert cast("int", first["cache_creation_input_tokens"]) > 1_900
    assert second["cache_read_input_tokens"] == first["cache_creation_input_tokens"]
    assert cast("int", second["cache_creation_input_tokens"]) > 100
    third = cast("JsonObject", (await post(provider, raw(user("hi"), system=[text("be kind " * 1_000)])))[1]["usage"])
    assert (third["cache_read_input_tokens"], third["cache_creation_input_tokens"]) == (0, 0)
    record = (await provider.brain.wait_ended(2))[1]
    assert record.prompt_tokens == sum(cast("int", second[name]) for name in second if name.endswith("input_tokens"))
    assert record.cached_tokens == second["cache_read_input_tokens"]


async def test_steps_find_their_request_by_its_words_in_this_shape_too(provider: Provider) -> None:
    provider.brain.script(
        steps.when(steps.text("for B"), last_user="B says"), steps.when(steps.text("lane"), anywhere="be kind")
    )
    _, answer = await post(provider, raw(user("A says"), system="be kind"))
    assert answer["content"] == [text("lane")]
    _, answer = await post(provider, raw(user("A says"), said("x"), user(text("B says"))))
    assert answer["content"] == [text("for B")]


async def test_the_rehearsal_model_answers_in_this_shape(provider: Provider) -> None:
    provider.brain.habits = type(provider.brain.habits)(pace=0)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tools = [{"name": "send_text_update", "input_schema": schema}]
    asked = raw(user("use a tool, please"), tools=tools)
    _, answer = await post(provider, asked)
    assert answer["stop_reason"] == "tool_use"
    call = cast("list[JsonObject]", answer["content"])[0]
    back = {"type": "tool_result", "tool_use_id": call["id"], "content": "Posted."}
    _, answer = await post(provider, raw(user("use a tool, please"), said(call), user(back), tools=tools))
    assert "I heard" in str(answer["content"])


async def test_models_are_listed_for_this_providers_client(provider: Provider) -> None:
    async with sdk.AsyncAnthropic(api_key="sk-test", base_url=provider.url, max_retries=0) as client:
        assert [model.id async for model in client.models.list()] == ["rehearsal"]
        assert (await client.models.retrieve("rehearsal")).type == "model"
        with pytest.raises(sdk.NotFoundError) as caught:
            await client.models.retrieve("other")
    assert cast("JsonObject", caught.value.body)["type"] == "error"
