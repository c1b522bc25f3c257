"""Top-level parameters of a chat completion: which exist, and of what type."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal, invalid, missing, unknown, wrong_type
from clankie_stage.provider.shapes import JsonObject, is_integer, is_number, mapping, sequence

Check = tuple[str, Callable[[object], bool]]
"""What a value must be, in words and as a test."""


def between(low: float, high: float) -> Check:
    """A number within bounds, both included."""
    return (
        f"a number from {low:g} to {high:g}",
        lambda v: isinstance(v, int | float) and is_number(v) and low <= v <= high,
    )


def one_of(*names: str) -> Check:
    """One of some words."""
    return f"one of {', '.join(names)}", lambda v: v in names


def count(low: int, high: int) -> Check:
    """A whole number within bounds, both included."""
    return (
        f"an integer from {low} to {high}",
        lambda v: isinstance(v, int) and is_integer(v) and low <= v <= high,
    )


def _stop(value: object) -> bool:
    items = sequence(value)
    return isinstance(value, str) or (
        items is not None and 1 <= len(items) <= 4 and all(isinstance(item, str) for item in items)
    )


def _caching(value: object) -> bool:
    known = {"mode": ("implicit", "explicit"), "ttl": ("30m",)}
    given = mapping(value)
    return given is not None and all(name in known and each in known[name] for name, each in given.items())


STRING: Check = ("a string", lambda v: isinstance(v, str))
BOOLEAN: Check = ("a boolean", lambda v: isinstance(v, bool))
OBJECT: Check = ("an object", lambda v: mapping(v) is not None)
ARRAY: Check = ("an array", lambda v: sequence(v) is not None)
_EFFORT = one_of("none", "minimal", "low", "medium", "high", "xhigh")

PARAMETERS: Mapping[str, Check] = {
    "audio": OBJECT,
    "frequency_penalty": between(-2, 2),
    "logit_bias": OBJECT,
    "logprobs": BOOLEAN,
    "max_completion_tokens": count(1, 1_000_000),
    "max_tokens": count(1, 1_000_000),
    "messages": ARRAY,
    "metadata": OBJECT,
    "modalities": ARRAY,
    "model": STRING,
    "n": count(1, 1),
    "parallel_tool_calls": BOOLEAN,
    "prediction": OBJECT,
    "presence_penalty": between(-2, 2),
    "prompt_cache_key": STRING,
    "prompt_cache_options": ("an object of a mode (implicit or explicit) and a ttl of 30m", _caching),
    "prompt_cache_retention": one_of("in_memory", "24h"),
    "reasoning_effort": _EFFORT,
    "response_format": OBJECT,
    "safety_identifier": STRING,
    "seed": ("an integer", is_integer),
    "service_tier": one_of("auto", "default", "flex", "scale", "priority", "fast"),
    "stop": ("a string or an array of one to four strings", _stop),
    "store": BOOLEAN,
    "stream": BOOLEAN,
    "stream_options": OBJECT,
    "temperature": between(0, 2),
    "tool_choice": ("a string or an object", lambda v: isinstance(v, str) or mapping(v) is not None),
    "tools": ARRAY,
    "top_logprobs": count(0, 20),
    "top_p": between(0, 1),
    "user": STRING,
    "verbosity": one_of("low", "medium", "high"),
    "web_search_options": OBJECT,
}
"""Every parameter that is known, with what it must be. Source: the API's published parameter list."""

_CACHING: Final = re.compile(r"gpt-(5\.[6-9]|[6-9])")
_NEVER_NULL = frozenset({"messages", "model", "tools", "tool_choice", "parallel_tool_calls", "user"})


def parameter_rules(body: JsonObject, limits: Limits) -> Iterator[Refusal]:
    """What is wrong with the top level of a body, apart from the messages and tools themselves."""
    for name in ("model", "messages"):
        if name not in body:
            yield missing(name)
    for name, value in body.items():
        if name not in PARAMETERS:
            yield unknown(name)
            continue
        expected, holds = PARAMETERS[name]
        if (value is None and name in _NEVER_NULL) or (value is not None and not holds(value)):
            yield wrong_type(name, expected)
    yield from _model_rules(body["model"], limits)
    if body.get("prompt_cache_options") is not None and not _CACHING.match(str(body["model"])):
        yield invalid("prompt_cache_options", "This model does not support prompt_cache_options.")
    if body.get("stream_options") is not None:
        yield from _stream_option_rules(body)


def _model_rules(model: object, limits: Limits) -> Iterator[Refusal]:
    if not isinstance(model, str) or not model.strip():
        yield missing("model")
    elif limits.models and model not in limits.models:
        yield Refusal(404, "The model does not exist or is not yours to use.", code="model_not_found")


def _stream_option_rules(body: JsonObject) -> Iterator[Refusal]:
    if body.get("stream") is not True:
        yield invalid("stream_options", "stream_options is only allowed when stream is true.")
    for name, value in (mapping(body["stream_options"]) or {}).items():
        if name not in ("include_usage", "include_obfuscation"):
            yield unknown(f"stream_options.{name}")
        elif not isinstance(value, bool):
            yield wrong_type(f"stream_options.{name}", "a boolean")
