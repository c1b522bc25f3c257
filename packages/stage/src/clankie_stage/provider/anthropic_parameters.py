"""Top-level parameters of a messages request, and the tools among them."""

from collections.abc import Iterator, Mapping

from clankie_stage.provider.anthropic_blocks import (
    TOOL_NAME,
    block_rules,
    cache_control_rules,
    extra,
    required,
    text_rules,
)
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.parameters import ARRAY, BOOLEAN, OBJECT, STRING, Check, between, count, one_of
from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.shapes import JsonObject, is_integer, mapping, sequence
from clankie_stage.provider.tooling import schema_root

CACHE_POINTS = 4
"""Blocks of a request that may carry ``cache_control``. Source: the API's prompt caching."""

WEB_SEARCH = "web_search_20250305"
"""The search that the provider runs itself. Source: the API's web search tool."""

_LEAST_THOUGHT = 1_024
_TEXTS: Check = ("an array of strings", lambda v: all(isinstance(item, str) for item in sequence(v) or [0]))
_SYSTEM: Check = ("a string or an array of text blocks", lambda v: isinstance(v, str | list))

PARAMETERS: Mapping[str, Check] = {
    "cache_control": OBJECT,
    "container": STRING,
    "context_management": OBJECT,
    "inference_geo": STRING,
    "max_tokens": count(1, 1_000_000),
    "messages": ARRAY,
    "metadata": OBJECT,
    "model": STRING,
    "output_config": OBJECT,
    "service_tier": one_of("auto", "standard_only"),
    "speed": one_of("standard", "fast"),
    "stop_sequences": _TEXTS,
    "stream": BOOLEAN,
    "system": _SYSTEM,
    "temperature": between(0, 1),
    "thinking": OBJECT,
    "tool_choice": OBJECT,
    "tools": ARRAY,
    "top_k": count(0, 1_000_000),
    "top_p": between(0, 1),
}
"""Every parameter that is known, with what it must be. Source: the API's published parameter list."""

_NULLABLE = frozenset({"cache_control", "container", "context_management", "inference_geo", "speed"})
_TOOL_KEYS = frozenset(
    {"name", "description", "input_schema", "type", "cache_control", "strict"}
    | {"defer_loading", "eager_input_streaming", "input_examples", "allowed_callers"}
)
_SEARCH_KEYS = frozenset(
    {"name", "type", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control"}
)


def body_rules(body: JsonObject, limits: Limits) -> Iterator[Refusal]:
    """What is wrong with the top level of a body, apart from the messages themselves."""
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            yield required(name)
    for name, value in body.items():
        if name not in PARAMETERS:
            yield extra(name)
            continue
        expected, holds = PARAMETERS[name]
        if not holds(value) and not (value is None and name in _NULLABLE):
            yield invalid(name, f"Input should be {expected}")
    if limits.models and body["model"] not in limits.models:
        yield Refusal(404, f"model: {body['model']}")
    yield from _system_rules(body.get("system"), limits)
    yield from _thinking_rules(body)
    yield from _tool_rules(body, limits)
    yield from cache_control_rules(body, "request")
    yield from _cache_point_rules(body)


def thinks(body: JsonObject) -> bool:
    """Whether thinking is switched on."""
    return (mapping(body.get("thinking")) or {}).get("type") in ("enabled", "adaptive")


def caches(body: JsonObject) -> bool:
    """Whether the request uses the prompt cache at all."""
    return cache_points(body) > 0


def cache_points(value: object) -> int:
    """How often ``cache_control`` is set anywhere in a value, what tools take and give apart."""
    if (items := sequence(value)) is not None:
        return sum(cache_points(item) for item in items)
    entry = mapping(value) or {}
    own = entry.get("cache_control") is not None
    return own + sum(cache_points(item) for key, item in entry.items() if key not in ("input", "input_schema"))


def _cache_point_rules(body: JsonObject) -> Iterator[Refusal]:
    found = cache_points(body)
    if found > CACHE_POINTS:
        yield invalid(None, f"A maximum of {CACHE_POINTS} blocks with cache_control may be provided. Found {found}.")


def _system_rules(system: object, limits: Limits) -> Iterator[Refusal]:
    if isinstance(system, str) and system:
        yield from text_rules(system, "system")
    for index, block in enumerate(sequence(system) or []):
        yield from block_rules(block, f"system.{index}", "system", limits)


def _thinking_rules(body: JsonObject) -> Iterator[Refusal]:
    thinking = mapping(body.get("thinking"))
    if thinking is None:
        return
    kind, budget = thinking.get("type"), thinking.get("budget_tokens")
    if kind not in ("enabled", "disabled", "adaptive"):
        yield invalid("thinking.type", "Input should be 'enabled', 'disabled' or 'adaptive'")
    if kind != "enabled":
        return
    if not isinstance(budget, int) or not is_integer(budget) or budget < _LEAST_THOUGHT:
        yield invalid("thinking.enabled.budget_tokens", f"Input should be greater than or equal to {_LEAST_THOUGHT}")
    elif isinstance(body["max_tokens"], int) and budget >= body["max_tokens"]:
        yield invalid("max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`")
    if body.get("temperature", 1) != 1:
        yield invalid("temperature", "`temperature` may only be set to 1 when thinking is enabled")


def _tool_rules(body: JsonObject, limits: Limits) -> Iterator[Refusal]:
    tools = sequence(body.get("tools")) or []
    if len(tools) > limits.tools:
        yield invalid("tools", f"at most {limits.tools} tools")
    names: set[str] = set()
    for index, tool in enumerate(tools):
        yield from _one_tool(mapping(tool) or {}, f"tools.{index}", names)
    choice = mapping(body.get("tool_choice"))
    if choice is None:
        return
    kind = choice.get("type")
    if kind not in ("auto", "any", "tool", "none"):
        yield invalid("tool_choice.type", "Input should be 'auto', 'any', 'tool' or 'none'")
    if kind in ("auto", "any", "tool") and not tools:
        yield invalid("tool_choice", "may only be specified while providing `tools`")
    if kind == "tool" and choice.get("name") not in names:
        yield invalid("tool_choice.name", "Tool not found in provided tools")
    if kind in ("any", "tool") and thinks(body):
        yield invalid("tool_choice", "Thinking may not be enabled when tool_choice forces tool use")


def _one_tool(tool: JsonObject, path: str, names: set[str]) -> Iterator[Refusal]:
    if tool.get("type") == WEB_SEARCH:
        yield from _search_rules(tool, f"{path}.{WEB_SEARCH}", names)
        return
    if tool.get("type", "custom") not in ("custom", None):
        yield invalid(f"{path}.type", f"This provider runs no other tool of its own: 'custom' or '{WEB_SEARCH}'")
        return
    for key in tool:
        if key not in _TOOL_KEYS:
            yield extra(f"{path}.custom.{key}")
    name = tool.get("name")
    if not isinstance(name, str) or TOOL_NAME.fullmatch(name) is None:
        yield invalid(f"{path}.custom.name", "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    elif name in names:
        yield invalid("tools", "Tool names must be unique.")
    else:
        names.add(name)
    if not isinstance(tool.get("description", ""), str):
        yield invalid(f"{path}.custom.description", "Input should be a valid string")
    if "input_schema" not in tool:
        yield required(f"{path}.custom.input_schema")
    else:
        yield from schema_root(tool["input_schema"], f"{path}.custom.input_schema", tool.get("strict") is True)
    yield from cache_control_rules(tool, f"{path}.custom")


def _search_rules(tool: JsonObject, path: str, names: set[str]) -> Iterator[Refusal]:
    for key in tool:
        if key not in _SEARCH_KEYS:
            yield extra(f"{path}.{key}")
    if tool.get("name") != "web_search":
        yield invalid(f"{path}.name", "Input should be 'web_search'")
    elif "web_search" in names:
        yield invalid("tools", "Tool names must be unique.")
    names.add("web_search")
    uses = tool.get("max_uses")
    if uses is not None and (not isinstance(uses, int) or not is_integer(uses) or uses < 1):
        yield invalid(f"{path}.max_uses", "Input should be greater than 0")
    if tool.get("allowed_domains") and tool.get("blocked_domains"):
        yield invalid(path, "Only one of allowed_domains and blocked_domains can be set")
    yield from cache_control_rules(tool, path)
