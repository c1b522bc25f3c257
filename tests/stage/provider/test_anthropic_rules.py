"""Each rule of Anthropic's shape refuses what the real provider refuses, and lets the nearest valid thing through."""

import json

import pytest

from clankie_stage.provider.anthropic_errors import error_body
from clankie_stage.provider.anthropic_rules import NEWEST_VERSION, OLD_VERSIONS, authorize_key, check_messages
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.rules import Request
from clankie_stage.provider.shapes import JsonObject, mapping
from tests.stage.provider.anthropic_samples import (
    HEADERS,
    marked,
    picture,
    raw,
    result,
    said,
    search,
    text,
    thought,
    tool,
    use,
    user,
)
from tests.stage.provider.samples import GIF, JPEG, WEBP, png

EMPTY = "text content blocks must be non-empty"
BLANK = "text content blocks must contain non-whitespace text"
UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after"
UNEXPECTED = "unexpected `tool_use_id`"
NO_CONTENT = "all messages must have non-empty content"
THINKING = {"type": "enabled", "budget_tokens": 1024}
LONG = 2_000


def refused(body: bytes, limits: Limits | None = None) -> Refusal:
    judged = check_messages(body, limits or Limits())
    assert isinstance(judged, Refusal), "accepted"
    return judged


def accepted(body: bytes, limits: Limits | None = None) -> Request:
    judged = check_messages(body, limits or Limits())
    assert isinstance(judged, Request), judged
    return judged


ACCEPTED: dict[str, bytes] = {
    "a plain question": raw(user("hi")),
    "parallel calls answered in any order": raw(user("hi"), said(use("a"), use("b")), user(result("b"), result("a"))),
    "words behind the results": raw(user("hi"), said("wait", use("a")), user(result("a"), "and this")),
    "neighbouring user messages": raw(user("one"), user("two")),
    "a result of text and picture": raw(
        user("hi"), said(use("a")), user(result("a", [text("see"), picture(png())])), said("ok"), user("and?")
    ),
    "a result without content": raw(user("hi"), said(use("a")), user({"type": "tool_result", "tool_use_id": "a"})),
    "thoughts before an answer": raw(user("hi"), said(thought(), "yes"), user("ho")),
    "thoughts hidden from us": raw(
        user("hi"),
        said({"type": "redacted_thinking", "data": "x"}, "yes"),
        user("ho"),
        thinking=THINKING,
        max_tokens=LONG,
    ),
    "thoughts before a call, with thinking on": raw(
        user("hi"), said(thought(), use("a")), user(result("a")), tools=[tool()], thinking=THINKING, max_tokens=LONG
    ),
    "a system prompt of blocks": raw(system=[marked(text("be kind"))]),
    "four cache points": raw(
        user(marked(text("hi"))),
        system=[marked(text("be kind"))],
        tools=[marked(tool())],
        cache_control={"type": "ephemeral"},
    ),
    "an argument that is called cache_control": raw(
        user("hi"), said(use("a", cache_control={"type": "x"})), user(result("a")), system=[marked(text("x"))] * 4
    ),
    "the provider's own search": raw(tools=[search(), tool()]),
    "a bounded search": raw(tools=[search(max_uses=3, allowed_domains=None, blocked_domains=["a.example"])]),
    "tools with a choice": raw(tools=[tool(), tool("other")], tool_choice={"type": "tool", "name": "look"}),
    "every parameter": raw(
        stop_sequences=["x"], metadata={"user_id": "u"}, service_tier="auto", output_config={"effort": "low"}
    ),
    "a png": raw(user(picture(png()))),
    "a jpeg": raw(user(picture(JPEG, "image/jpeg"))),
    "a gif": raw(user(picture(GIF, "image/gif"))),
    "a webp": raw(user(picture(WEBP, "image/webp"))),
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_the_real_provider_takes_is_accepted(body: bytes) -> None:
    accepted(body)


HISTORY: dict[str, tuple[list[JsonObject], str]] = {
    "no messages": ([], "at least one message"),
    "an answer first": ([said("hi"), user("ho")], 'first message must use the "user" role'),
    "a system message": ([user("hi"), {"role": "system", "content": "x"}], "messages.1.role"),
    "no role": ([{"content": "hi"}], "messages.0.role"),
    "an unknown key": ([{**user("hi"), "name": "Ann"}], "messages.0.name"),
    "an empty text": ([user("hi"), said("yes"), user("")], NO_CONTENT),
    "an empty text block": ([user("hi", text(""))], EMPTY),
    "a blank text": ([user(" \n")], BLANK),
    "a blank text block": ([user("hi", text(" "))], BLANK),
    "a blank of white space beyond ASCII": ([user("\u2003\u00a0")], BLANK),
    "a blank text block in a result": ([user("hi"), said(use("a")), user(result("a", [text(" ")]))], BLANK),
    "no blocks": ([{"role": "user", "content": []}], NO_CONTENT),
    "no blocks in an answer amid the history": (
        [user("hi"), {"role": "assistant", "content": []}, user("ho")],
        NO_CONTENT,
    ),
    "no blocks in a result": ([user("hi"), said(use("a")), user(result("a", []))], "tool_result.content"),
    "no content": ([{"role": "user"}], "messages.0.content"),
    "null content": ([{"role": "user", "content": None}], "messages.0.content"),
    "an unknown block": ([user({"type": "video"})], "messages.0.content.0.type"),
    "an unknown key of a block": ([user({**text("hi"), "mood": "x"})], "messages.0.content.0.text.mood"),
    "a picture from the assistant": ([user("hi"), said(picture(png()))], "messages.1.content.0.type"),
    "a call from the user": ([user(use("a"))], "messages.0.content.0.type"),
    "a call without its result": ([user("hi"), said(use("a")), user("ho")], UNANSWERED),
    "a call without its result at the end": ([user("hi"), said(use("a"))], UNANSWERED),
    "one of two calls without its result": ([user("hi"), said(use("a"), use("b")), user(result("a"))], UNANSWERED),
    "a result one message late": ([user("hi"), said(use("a")), user("ho"), user(result("a"))], UNANSWERED),
    "a result behind words": ([user("hi"), said(use("a")), user("ho", result("a"))], UNANSWERED),
    "a result without a call": ([user(result("a"))], UNEXPECTED),
    "a result with an unknown id": ([user("hi"), said(use("a")), user(result("a"), result("b"))], UNEXPECTED),
    "a result of an older call": (
        [user("hi"), said(use("a")), user(result("a")), said("ok"), user(result("a"))],
        UNEXPECTED,
    ),
    "two results of one call": ([user("hi"), said(use("a")), user(result("a"), result("a"))], "a single result"),
    "a result without an id": ([user({"type": "tool_result", "content": "x"})], "tool_result.tool_use_id"),
    "two calls with one id": ([user("hi"), said(use("a"), use("a")), user(result("a"))], "must be unique"),
    "a call with an older call's id": (
        [user("hi"), said(use("a")), user(result("a")), said(use("a")), user(result("a"))],
        "must be unique",
    ),
    "a call id with other characters": ([user("hi"), said(use("a:0")), user(result("a:0"))], "tool_use.id"),
    "a call without input": (
        [user("hi"), said({"type": "tool_use", "id": "a", "name": "look"}), user(result("a"))],
        "tool_use.input",
    ),
    "a call whose input is text": (
        [user("hi"), said({**use("a"), "input": "{}"}), user(result("a"))],
        "tool_use.input",
    ),
    "a call of a nameless tool": ([user("hi"), said({**use("a"), "name": ""}), user(result("a"))], "tool_use.name"),
    "a last answer with white space at its end": ([user("hi"), said("I think ")], "trailing whitespace"),
    "a last block with white space at its end": ([user("hi"), said("a", "b\n")], "trailing whitespace"),
    "an answer to be continued": ([user("hi"), said("I think")], "prefill is not supported"),
    "a last answer without content": ([user("hi"), {"role": "assistant", "content": []}], "prefill is not supported"),
    "thoughts without a signature": (
        [user("hi"), said({"type": "thinking", "thinking": "hm"}, "yes"), user("ho")],
        "thinking.signature",
    ),
    "thoughts with an empty signature": (
        [user("hi"), said({**thought(), "signature": ""}, "yes"), user("ho")],
        "Invalid `signature`",
    ),
    "thoughts that were changed": (
        [user("hi"), said({**thought("hm"), "thinking": "hm."}, "yes"), user("ho")],
        "Invalid `signature`",
    ),
    "hidden thoughts without their data": (
        [user("hi"), said({"type": "redacted_thinking"}, "yes"), user("ho")],
        "redacted_thinking.data",
    ),
    "thoughts alone": ([user("hi"), said(thought()), user("ho")], "cannot be `thinking`"),
    "a picture of another type": ([user(picture(png(), "image/jpeg"))], "specified as image/jpeg, but is image/png"),
    "a picture of an unknown type": ([user(picture(png(), "image/bmp"))], "Unsupported image type"),
    "a picture that is none": ([user(picture(b"hello"))], "Could not process image"),
    "a picture that is too long": ([user(picture(png(8_001, 1)))], "dimensions exceed 8000"),
    "one of many pictures that is too long": ([user(*[picture(png(2_001, 1))] * 21)], "dimensions exceed 2000"),
    "a picture that is cut off": ([user(picture(png()[:-5]))], "Could not process image"),
    "a picture at an address": (
        [user({"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}})],
        "image.source.type",
    ),
    "a cache point of another kind": ([user({**text("hi"), "cache_control": {"type": "x"}})], "cache_control"),
    "a cache point on nothing": ([user("hi", marked(text("")))], "cache_control cannot be set"),
}


@pytest.mark.parametrize(("messages", "said_"), HISTORY.values(), ids=HISTORY.keys())
def test_an_invalid_history_is_refused_with_what_is_wrong(messages: list[JsonObject], said_: str) -> None:
    found = refused(json.dumps({"model": "m", "max_tokens": 10, "messages": messages}).encode())
    error = mapping(error_body(found, "req_1")["error"]) or {}
    assert (found.status, error["type"]) == (400, "invalid_request_error")
    assert said_ in str(error["message"])


TOP: dict[str, tuple[bytes, str]] = {
    "no max_tokens": (raw(max_tokens=None), "max_tokens: Field required"),
    "no model": (raw(model=None), "model: Field required"),
    "max_tokens of nothing": (raw(max_tokens=0), "max_tokens: "),
    "an unknown parameter": (raw(mood="good"), "mood: Extra inputs"),
    "OpenAI's parameter": (raw(stream_options={"include_usage": True}), "stream_options: Extra inputs"),
    "a temperature beyond one": (raw(temperature=1.5), "temperature: "),
    "five cache points": (raw(system=[marked(text("x"))] * 5), "maximum of 4 blocks with cache_control"),
    "a fifth cache point on the request": (
        raw(system=[marked(text("x"))] * 4, cache_control={"type": "ephemeral"}),
        "Found 5",
    ),
    "a blank system prompt": (raw(system=" "), BLANK),
    "an empty system block": (raw(system=[text("")]), EMPTY),
    "a choice without tools": (raw(tool_choice={"type": "auto"}), "while providing `tools`"),
    "a choice of no such tool": (raw(tools=[tool()], tool_choice={"type": "tool", "name": "x"}), "tool_choice.name"),
    "a tool without a schema": (raw(tools=[{"name": "look"}]), "tools.0.custom.input_schema: Field required"),
    "a tool with a bad schema": (raw(tools=[tool(input_schema={"type": "string"})]), "tools.0.custom.input_schema"),
    "a tool with a bad name": (raw(tools=[tool("look up")]), "tools.0.custom.name"),
    "two tools with one name": (raw(tools=[tool(), tool()]), "unique"),
    "another tool of the provider's own": (raw(tools=[{"type": "bash_20250124", "name": "bash"}]), "tools.0.type"),
    "a search of another name": (raw(tools=[search(name="x")]), "web_search_20250305.name"),
    "a search with a schema": (raw(tools=[search(input_schema={})]), "web_search_20250305.input_schema: Extra"),
    "a search that never searches": (raw(tools=[search(max_uses=0)]), "web_search_20250305.max_uses"),
    "a search with both lists": (
        raw(tools=[search(allowed_domains=["a.example"], blocked_domains=["b.example"])]),
        "Only one of",
    ),
    "two searches": (raw(tools=[search(), search()]), "unique"),
    "OpenAI's tool": (raw(tools=[{"type": "function", "function": {"name": "x"}}]), "tools.0.type"),
    "a budget that is too small": (
        raw(thinking={"type": "enabled", "budget_tokens": 100}, max_tokens=LONG),
        "budget_tokens",
    ),
    "a budget beyond max_tokens": (raw(thinking=THINKING), "must be greater than `thinking.budget_tokens`"),
    "a temperature with thinking": (raw(thinking=THINKING, max_tokens=LONG, temperature=0), "temperature: "),
    "a call without thoughts, with thinking on": (
        raw(user("hi"), said("wait", use("a")), user(result("a")), thinking=THINKING, max_tokens=LONG),
        "Expected `thinking`",
    ),
    "no JSON": (b"hello", "not valid JSON"),
    "a lone surrogate": (raw(user("a\ud83d")), "surrogate"),
    "a NUL": (raw(user("a\0")), "NUL"),
}


@pytest.mark.parametrize(("body", "said_"), TOP.values(), ids=TOP.keys())
def test_an_invalid_request_is_refused_with_what_is_wrong(body: bytes, said_: str) -> None:
    found = refused(body)
    error = mapping(error_body(found, "req_1")["error"]) or {}
    assert (found.status, error["type"]) == (400, "invalid_request_error")
    assert said_ in str(error["message"])


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
def test_sampling_is_a_parameter_of_the_older_versions_alone(name: str) -> None:
    for version in OLD_VERSIONS:
        assert isinstance(check_messages(raw(**{name: 1}), Limits(), version), Request)
    assert isinstance(check_messages(raw(**{name: 1}), Limits(), NEWEST_VERSION), Refusal)


def test_a_picture_is_bounded_on_its_base64_text() -> None:
    body = raw(user(picture(png())))
    size = len(json.loads(body)["messages"][0]["content"][0]["source"]["data"])
    accepted(body, Limits(image_base64_chars=size))
    assert "exceeds the maximum" in refused(body, Limits(image_base64_chars=size - 1)).message
    assert Limits().image_base64_chars == 5_242_880


def test_pictures_inside_results_count_too() -> None:
    body = raw(user("hi"), said(use("a")), user(result("a", [picture(png())]), picture(png())))
    accepted(body, Limits(images=2))
    assert "too many images" in refused(body, Limits(images=1)).message


def test_a_model_without_vision_takes_no_picture() -> None:
    assert refused(raw(user(picture(png()))), Limits(vision=False)).param == "messages.0.content.0.image.source"


def test_a_prompt_beyond_the_window_is_refused_as_anthropic_does() -> None:
    long = raw(user("word " * 1_000))
    tokens = accepted(long).prompt_tokens
    accepted(long, Limits(context_tokens=tokens))
    found = refused(long, Limits(context_tokens=tokens - 1))
    assert (found.status, found.message) == (400, f"prompt is too long: {tokens} tokens > {tokens - 1} maximum")


def test_a_body_over_the_limit_is_a_413_of_its_own_type() -> None:
    found = refused(raw(user("hi")), Limits(body_bytes=20))
    assert found.status == 413
    assert (mapping(error_body(found, "req_1")["error"]) or {})["type"] == "request_too_large"


def test_an_unknown_model_is_a_404() -> None:
    assert refused(raw(model="x"), Limits(models=("y",))).status == 404


@pytest.mark.parametrize(
    ("changes", "status", "said_"),
    [
        ({"x-api-key": ""}, 401, "x-api-key header is required"),
        ({"x-api-key": "sk-bad"}, 401, "invalid x-api-key"),
        ({"anthropic-version": None}, 400, "header is required"),
        ({"anthropic-version": "2022-01-01"}, 400, "is not a valid version"),
        ({"x-api-key": "", "authorization": "Bearer sk-bad"}, 401, "invalid x-api-key"),
        ({"x-api-key": "", "authorization": "Basic sk"}, 401, "x-api-key header is required"),
    ],
)
def test_a_request_without_key_or_version_is_not_let_in(
    changes: dict[str, str | None], status: int, said_: str
) -> None:
    headers = {key: value for key, value in {**HEADERS, **changes}.items() if value is not None}
    found = authorize_key(headers, frozenset({"sk-bad"}))
    assert found is not None
    assert (found.status, found.message) == (status, said_)
    assert authorize_key(HEADERS, frozenset({"sk-bad"})) is None
    bearer = {"authorization": "Bearer sk", "anthropic-version": "2023-06-01"}
    assert authorize_key(bearer, frozenset({"sk-bad"})) is None


def test_a_refusal_has_anthropics_shape() -> None:
    body = error_body(refused(b"x"), "req_1")
    assert list(body) == ["type", "error", "request_id"]
    assert list(mapping(body["error"]) or {}) == ["type", "message"]


def test_an_accepted_request_is_heard_as_openai_would_have_it() -> None:
    heard = accepted(
        raw(user("hi"), said("wait", use("a", what="x")), user(result("a"), "and"), system="be kind", tools=[tool()])
    )
    assert [message["role"] for message in heard.messages] == ["system", "user", "assistant", "tool", "user"]
    assert (mapping(heard.tools[0]["function"]) or {})["name"] == "look"
    assert not heard.caches
