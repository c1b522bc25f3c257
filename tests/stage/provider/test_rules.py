"""Each rule refuses what a real provider refuses, and lets the nearest valid thing through."""

import json
from typing import cast

import pytest

from clankie_stage.provider.limits import Limits
from clankie_stage.provider.rules import authorize
from clankie_stage.provider.shapes import JsonObject, mapping
from tests.stage.provider.samples import (
    GIF,
    JPEG,
    WEBP,
    called,
    picture,
    png,
    raw,
    result,
    said,
    tool,
    user,
)
from tests.stage.provider.verdicts import accepted, refused

TEXT = {"type": "text", "text": "hi"}


ACCEPTED: dict[str, bytes] = {
    "a plain question": raw(user("hi")),
    "parallel calls answered in any order": raw(
        user("hi"), called("a", "b"), result("b"), result("a"), said("ok"), user("and?")
    ),
    "a history that ends in results": raw(user("hi"), called("a"), result("a")),
    "the same call id in a later turn": raw(user("hi"), called("a"), result("a"), called("a"), result("a")),
    "a call with words": raw(user("hi"), {**called("a"), "content": "wait"}, result("a")),
    "a system message in the middle": raw(user("hi"), {"role": "system", "content": "be kind"}, user("ho")),
    "a developer message and text parts": raw({"role": "developer", "content": [TEXT]}, user("hi")),
    "neighbouring user messages": raw(user("one"), user("two")),
    "a refusal kept in history": raw(user("hi"), {"role": "assistant", "refusal": "no"}, user("ho")),
    "thoughts given back": raw(user("hi"), {**said("yes"), "reasoning_content": "hm"}, user("ho")),
    "an emoji as an escaped pair": b'{"model":"m","messages":[{"role":"user","content":"\\ud83d\\udc4d"}]}',
    "a written-out escape": raw(user("type \\ud83d or \\u0000")),
    "a tool with a strict schema": raw(
        tools=[
            tool(
                strict=True,
                parameters={"type": "object", "properties": {}, "required": [], "additionalProperties": False},
            )
        ]
    ),
    "a tool choice": raw(
        tools=[tool()], tool_choice={"type": "function", "function": {"name": "look"}}, parallel_tool_calls=False
    ),
    "usage of a stream": raw(stream=True, stream_options={"include_usage": True}),
    "nullable parameters": raw(temperature=None, stop=None, max_completion_tokens=None),
    "a png": raw(picture(png())),
    "a jpeg": raw(picture(JPEG, "image/jpeg")),
    "a gif": raw(picture(GIF, "image/gif")),
    "a webp": raw(picture(WEBP, "image/webp")),
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_a_real_provider_takes_is_accepted(body: bytes) -> None:
    accepted(body)


HISTORY: dict[str, tuple[list[JsonObject], str | None]] = {
    "an orphan tool result": ([user("hi"), result("a")], "messages.[1].role"),
    "a tool result with an unknown id": ([user("hi"), called("a"), result("b")], "messages.[2].role"),
    "a second result for one call": (
        [user("hi"), called("a"), result("a"), result("a")],
        "messages.[3].role",
    ),
    "a call without its result": ([user("hi"), called("a"), user("ho")], "messages.[2].role"),
    "a call without its result at the end": ([user("hi"), called("a")], "messages.[2].role"),
    "one of two calls without its result": (
        [user("hi"), called("a", "b"), result("a"), user("ho")],
        "messages.[3].role",
    ),
    "a result that comes after other words": (
        [user("hi"), called("a"), user("ho"), result("a")],
        "messages.[2].role",
    ),
    "no messages": ([], "messages"),
    "an empty text": ([user("")], "messages.[0].content"),
    "a blank text": ([user(" \n\t")], "messages.[0].content"),
    "a blank text of white space beyond ASCII": ([user("\u2003\u00a0")], "messages.[0].content"),
    "a blank text part": (
        [{"role": "user", "content": [TEXT, {"type": "text", "text": " "}]}],
        "messages.[0].content[1].text",
    ),
    "no content parts": ([{"role": "user", "content": []}], "messages.[0].content"),
    "null content": ([{"role": "user", "content": None}], "messages.[0].content"),
    "absent content": ([{"role": "user"}], "messages.[0].content"),
    "content of another type": ([{"role": "user", "content": 7}], "messages.[0].content"),
    "a blank answer": ([user("hi"), said(" "), user("ho")], "messages.[1].content"),
    "an answer with neither words nor calls": (
        [user("hi"), {"role": "assistant"}, user("ho")],
        "messages.[1].content",
    ),
    "an answer of thoughts alone": (
        [user("hi"), {"role": "assistant", "content": None, "reasoning_content": "hm"}],
        "messages.[1].content",
    ),
    "an answer with no calls in its list": (
        [user("hi"), {**said("yes"), "tool_calls": []}],
        "messages.[1].tool_calls",
    ),
    "a blank tool result": ([user("hi"), called("a"), result("a", "")], "messages.[2].content"),
    "a tool result without an id": (
        [user("hi"), called("a"), {"role": "tool", "content": "x"}],
        "messages.[2].tool_call_id",
    ),
    "two calls with one id": (
        [user("hi"), called("a", "a"), result("a")],
        "messages.[1].tool_calls[1].id",
    ),
    "a call id that is too long": (
        [user("hi"), called("a" * 41), result("a" * 41)],
        "messages.[1].tool_calls[0].id",
    ),
    "half-written arguments": (
        [user("hi"), called("a", arguments='{"x": "y'), result("a")],
        "messages.[1].tool_calls[0].function.arguments",
    ),
    "arguments that are no object": (
        [user("hi"), called("a", arguments="[]"), result("a")],
        "messages.[1].tool_calls[0].function.arguments",
    ),
    "an unknown role": ([{"role": "narrator", "content": "hi"}], "messages.[0].role"),
    "no role": ([{"content": "hi"}], "messages.[0].role"),
    "an unknown key": ([{**user("hi"), "mood": "good"}], "messages.[0].mood"),
    "a name with spaces": ([{**user("hi"), "name": "Ann Other"}], "messages.[0].name"),
    "an unknown part": ([{"role": "user", "content": [{"type": "video"}]}], "messages.[0].content[0].type"),
    "a picture from the assistant": (
        [user("hi"), {**picture(png()), "role": "assistant"}],
        "messages.[1].content[0].type",
    ),
}


@pytest.mark.parametrize(("messages", "param"), HISTORY.values(), ids=HISTORY.keys())
def test_an_invalid_history_is_refused_with_its_path(messages: list[JsonObject], param: str) -> None:
    found = refused(json.dumps({"model": "m", "messages": messages}).encode())
    assert (found.status, found.type, found.param) == (400, "invalid_request_error", param)


BYTES: dict[str, bytes] = {
    "no JSON": b"hello",
    "an empty body": b"",
    "an array": b"[]",
    "text after the object": raw() + b"x",
    "a trailing comma": b'{"model":"m",}',
    "a single-quoted key": b"{'model':'m'}",
    "NaN": b'{"model":"m","temperature":NaN}',
    "a raw surrogate": b'{"model":"m","messages":[{"role":"user","content":"\xed\xa0\xbd"}]}',
    "bytes that are not UTF-8": b'{"model":"m","messages":[{"role":"user","content":"\xff"}]}',
    "an escaped high surrogate": b'{"model":"m","messages":[{"role":"user","content":"a\\ud83d"}]}',
    "an escaped low surrogate": b'{"model":"m","messages":[{"role":"user","content":"\\uDC4D"}]}',
    "a surrogate in a key": b'{"model":"m","\\ud83d":1,"messages":[{"role":"user","content":"a"}]}',
    "an escaped NUL": b'{"model":"m","messages":[{"role":"user","content":"a\\u0000"}]}',
    "a raw NUL": b'{"model":"m","messages":[{"role":"user","content":"a\x00"}]}',
    "nesting without end": b'{"model":' + b"[" * 100_000,
}


@pytest.mark.parametrize("body", BYTES.values(), ids=BYTES.keys())
def test_bytes_that_are_no_clean_json_are_refused(body: bytes) -> None:
    found = refused(body)
    assert (found.status, found.type, found.param) == (400, "invalid_request_error", None)


def test_a_surrogate_deep_in_tool_arguments_is_refused() -> None:
    body = raw(user("hi"), called("a", arguments="{}"), result("a", "x")).replace(b'"x"', b'"\\ud99c"')
    assert "surrogate" in refused(body).message


def test_a_prompt_beyond_the_window_is_refused_as_openai_does() -> None:
    long = raw(user("word " * 1_000))
    tokens = accepted(long).prompt_tokens
    accepted(long, Limits(context_tokens=tokens))
    found = refused(long, Limits(context_tokens=tokens - 1))
    assert (found.status, found.type, found.param, found.code) == (
        400,
        "invalid_request_error",
        "messages",
        "context_length_exceeded",
    )


def test_a_body_over_the_limit_is_a_413() -> None:
    assert refused(raw(user("hi")), Limits(body_bytes=20)).status == 413


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic abc", "sk-test"])
def test_a_request_without_a_bearer_key_is_a_401(header: str | None) -> None:
    found = authorize(header, frozenset())
    assert found is not None
    assert (found.status, found.code) == (401, None)


def test_a_refused_key_is_a_401_that_does_not_repeat_it() -> None:
    assert authorize("Bearer sk-good", frozenset({"sk-bad"})) is None
    found = authorize("Bearer sk-bad", frozenset({"sk-bad"}))
    assert found is not None
    assert (found.status, found.code) == (401, "invalid_api_key")
    assert "sk-bad" not in found.message


def test_a_refusal_has_openais_four_fields() -> None:
    error = cast("JsonObject", refused(b"x").body()["error"])
    assert list(error) == ["message", "type", "param", "code"]


def test_an_accepted_request_keeps_its_parts() -> None:
    request = accepted(raw(user("hi"), tools=[tool()], stream=True, stream_options={"include_usage": True}))
    assert (request.model, request.stream, request.include_usage) == ("rehearsal", True, True)
    assert request.messages == (user("hi"),)
    function = mapping(request.tools[0]["function"]) or {}
    assert function["name"] == "look"
