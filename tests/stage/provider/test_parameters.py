"""Top-level parameters and tools must be known and of their type."""

import json

import pytest

from clankie_stage.provider.limits import Limits
from clankie_stage.provider.shapes import JsonObject
from tests.stage.provider.samples import chat, raw, tool
from tests.stage.provider.verdicts import accepted, refused

PARAMETERS: dict[str, tuple[JsonObject, str]] = {
    "an unknown parameter": ({"mood": 1}, "mood"),
    "a temperature that is text": ({"temperature": "0"}, "temperature"),
    "a temperature that is true": ({"temperature": True}, "temperature"),
    "a temperature out of range": ({"temperature": 3}, "temperature"),
    "stream as text": ({"stream": "true"}, "stream"),
    "a token limit of zero": ({"max_tokens": 0}, "max_tokens"),
    "a token limit that is no integer": ({"max_completion_tokens": 1.5}, "max_completion_tokens"),
    "several choices": ({"n": 2}, "n"),
    "five stops": ({"stop": ["a"] * 5}, "stop"),
    "an unknown effort": ({"reasoning_effort": "heroic"}, "reasoning_effort"),
    "caching that lasts an hour": (
        {"model": "gpt-6.1-terra", "prompt_cache_options": {"ttl": "1h"}},
        "prompt_cache_options",
    ),
    "caching of a mood": (
        {"model": "gpt-6.1-terra", "prompt_cache_options": {"mood": "implicit"}},
        "prompt_cache_options",
    ),
    "caching options of a model that has none": ({"prompt_cache_options": {"ttl": "30m"}}, "prompt_cache_options"),
    "messages that are an object": ({"messages": {}}, "messages"),
    "messages that are null": ({"messages": None}, "messages"),
    "a model that is a number": ({"model": 4}, "model"),
    "a blank model": ({"model": " "}, "model"),
    "stream options without a stream": ({"stream_options": {"include_usage": True}}, "stream_options"),
    "an unknown stream option": ({"stream": True, "stream_options": {"x": True}}, "stream_options.x"),
    "a stream option of another type": (
        {"stream": True, "stream_options": {"include_usage": 1}},
        "stream_options.include_usage",
    ),
}


@pytest.mark.parametrize(("changes", "param"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_a_wrong_parameter_is_refused_by_name(changes: JsonObject, param: str) -> None:
    found = refused(json.dumps({**chat(), **changes}).encode())
    assert (found.status, found.param) == (400, param)


@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-6.1-terra"])
def test_caching_options_are_taken_by_the_models_that_have_them(model: str) -> None:
    accepted(
        json.dumps({**chat(), "model": model, "prompt_cache_options": {"mode": "implicit", "ttl": "30m"}}).encode()
    )


@pytest.mark.parametrize("absent", ["model", "messages"])
def test_a_required_parameter_that_is_absent_is_named(absent: str) -> None:
    body = chat()
    del body[absent]
    found = refused(json.dumps(body).encode())
    assert (found.param, found.code) == (absent, "missing_required_parameter")


def test_a_model_that_is_not_served_is_a_404() -> None:
    accepted(raw(), Limits(models=("rehearsal",)))
    found = refused(raw(), Limits(models=("other",)))
    assert (found.status, found.code) == (404, "model_not_found")


def _schema(**changes: object) -> JsonObject:
    return tool(parameters={"type": "object", "properties": {}, **changes})


_CLOSED: JsonObject = {
    "type": "object",
    "properties": {"x": {"type": "null"}},
    "additionalProperties": False,
}
TOOLS: dict[str, tuple[JsonObject, str]] = {
    "an empty list": ({"tools": []}, "tools"),
    "a name with a dot": ({"tools": [tool("a.b")]}, "tools[0].function.name"),
    "a name that is too long": ({"tools": [tool("a" * 65)]}, "tools[0].function.name"),
    "an empty name": ({"tools": [tool("")]}, "tools[0].function.name"),
    "no name": ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
    "two of one name": ({"tools": [tool(), tool()]}, "tools[1].function.name"),
    "another type": ({"tools": [{**tool(), "type": "web"}]}, "tools[0]"),
    "an unknown key": ({"tools": [tool(mood=1)]}, "tools[0].function.mood"),
    "a description that is no text": ({"tools": [tool(description=1)]}, "tools[0].function.description"),
    "a schema that is no object": ({"tools": [tool(parameters=[])]}, "tools[0].function.parameters"),
    "a root of another type": (
        {"tools": [tool(parameters={"type": "string"})]},
        "tools[0].function.parameters",
    ),
    "an unknown type": (
        {"tools": [_schema(properties={"x": {"type": "text"}})]},
        "tools[0].function.parameters.properties.x",
    ),
    "an array without items": (
        {"tools": [_schema(properties={"x": {"type": "array"}})]},
        "tools[0].function.parameters.properties.x",
    ),
    "required that is no list": ({"tools": [_schema(required="x")]}, "tools[0].function.parameters"),
    "a strict schema that is open": (
        {"tools": [tool(strict=True)]},
        "tools[0].function.parameters",
    ),
    "a strict schema with an optional": (
        {"tools": [tool(strict=True, parameters={**_CLOSED, "required": []})]},
        "tools[0].function.parameters",
    ),
    "a choice without tools": ({"tool_choice": "auto"}, "tool_choice"),
    "parallel calls without tools": ({"parallel_tool_calls": True}, "parallel_tool_calls"),
    "a choice of another tool": (
        {"tools": [tool()], "tool_choice": {"type": "function", "function": {"name": "x"}}},
        "tool_choice",
    ),
    "an unknown choice": ({"tools": [tool()], "tool_choice": "maybe"}, "tool_choice"),
    "more than the limit": ({"tools": [tool(f"t{n}") for n in range(129)]}, "tools"),
}


@pytest.mark.parametrize(("changes", "param"), TOOLS.values(), ids=TOOLS.keys())
def test_a_wrong_tool_is_refused_with_its_path(changes: JsonObject, param: str) -> None:
    found = refused(json.dumps({**chat(), **changes}).encode())
    assert (found.status, found.param) == (400, param)
