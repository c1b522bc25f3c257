"""Tools offered to the model: names, schemas, and the choice among them."""

import re
from collections.abc import Iterator

from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal, invalid, missing, unknown, wrong_type
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a tool may be called, here and in the history's tool calls."""
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_DEEPEST = 20


def tool_rules(body: JsonObject, limits: Limits) -> Iterator[Refusal]:
    """What makes ``tools`` or a parameter that depends on them unacceptable."""
    if "tools" not in body:
        for name in ("tool_choice", "parallel_tool_calls"):
            if name in body and body[name] != "none":
                yield invalid(name, f"'{name}' is only allowed when 'tools' are specified.")
        return
    tools = sequence(body["tools"]) or []
    if not tools:
        yield invalid("tools", "Expected at least one tool; leave the key out instead.", "empty_array")
    if len(tools) > limits.tools:
        yield invalid("tools", f"Expected at most {limits.tools} tools.", "array_above_max_length")
    names: set[str] = set()
    for index, tool in enumerate(tools):
        yield from _one_tool(tool, f"tools[{index}]", names)
    yield from _choice_rules(body.get("tool_choice"), names)


def _one_tool(tool: object, path: str, names: set[str]) -> Iterator[Refusal]:
    entry = mapping(tool)
    function = mapping(entry.get("function")) if entry is not None else None
    if entry is None or entry.get("type") != "function" or function is None:
        yield invalid(path, "A tool is an object of type 'function' with a function object.")
        return
    for key in function:
        if key not in ("name", "description", "parameters", "strict"):
            yield unknown(f"{path}.function.{key}")
    name = function.get("name")
    if name is None:
        yield missing(f"{path}.function.name")
    elif not isinstance(name, str) or NAME.fullmatch(name) is None:
        yield invalid(f"{path}.function.name", "A tool's name is 1 to 64 of A-Z a-z 0-9 _ and -.")
    elif name in names:
        yield invalid(f"{path}.function.name", "Tool names must be unique.")
    else:
        names.add(name)
    if not isinstance(function.get("description", ""), str):
        yield wrong_type(f"{path}.function.description", "a string")
    strict = function.get("strict")
    if strict is not None and not isinstance(strict, bool):
        yield wrong_type(f"{path}.function.strict", "a boolean")
    if "parameters" in function:
        yield from schema_root(function["parameters"], f"{path}.function.parameters", strict is True)


def schema_root(schema: object, path: str, strict: bool) -> Iterator[Refusal]:
    """What makes a JSON schema of a tool's arguments unacceptable."""
    root = mapping(schema)
    if root is None or root.get("type") != "object":
        yield _bad_schema(path, "the schema's root has type 'object'")
        return
    yield from _schema_rules(root, path, strict, _DEEPEST)


def _schema_rules(schema: JsonObject, path: str, strict: bool, depth: int) -> Iterator[Refusal]:
    if depth == 0:
        yield _bad_schema(path, "it is nested too deeply")
        return
    named = schema.get("type", [])
    types = [named] if isinstance(named, str) else (sequence(named) or [])
    if not isinstance(named, str | list) or any(name not in _TYPES for name in types):
        yield _bad_schema(path, "unknown type")
    if "array" in types and "items" not in schema and "prefixItems" not in schema:
        yield _bad_schema(path, "an array lacks items")
    if "object" in types or "properties" in schema:
        yield from _object_rules(schema, path, strict)
    for where, child in _children(schema):
        below = mapping(child)
        if below is not None:
            yield from _schema_rules(below, f"{path}.{where}", strict, depth - 1)
        elif not isinstance(child, bool):
            yield _bad_schema(f"{path}.{where}", "a schema is an object or a boolean")


def _object_rules(schema: JsonObject, path: str, strict: bool) -> Iterator[Refusal]:
    properties = mapping(schema.get("properties", {}))
    required = sequence(schema.get("required", []))
    if properties is None:
        yield _bad_schema(path, "properties is an object")
    elif required is None or not all(isinstance(name, str) for name in required):
        yield _bad_schema(path, "required is an array of names")
    elif strict and schema.get("additionalProperties") is not False:
        yield _bad_schema(path, "a strict schema sets additionalProperties to false")
    elif strict and set(required) != set(properties):
        yield _bad_schema(path, "a strict schema requires every property")


def _children(schema: JsonObject) -> Iterator[tuple[str, object]]:
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        for name, child in (mapping(schema.get(key)) or {}).items():
            yield f"{key}.{name}", child
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for index, child in enumerate(sequence(schema.get(key)) or []):
            yield f"{key}[{index}]", child
    for key in ("items", "additionalProperties", "not"):
        if key in schema:
            yield key, schema[key]


def _choice_rules(choice: object, names: set[str]) -> Iterator[Refusal]:
    if choice is None or choice in ("none", "auto", "required"):
        return
    chosen = mapping(choice) or {}
    function = mapping(chosen.get("function")) or {}
    if chosen.get("type") == "allowed_tools":
        return
    if chosen.get("type") != "function" or function.get("name") not in names:
        yield invalid("tool_choice", "tool_choice names no offered tool.")


def _bad_schema(path: str, why: str) -> Refusal:
    return invalid(path, f"Invalid schema for a function: {why}.", "invalid_function_parameters")
