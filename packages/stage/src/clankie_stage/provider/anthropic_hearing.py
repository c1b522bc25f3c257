"""Anthropic's history and tools in OpenAI's form, for whoever only listens: matches, and the rehearsal model."""

import json
from collections.abc import Iterable, Iterator

from clankie_stage.provider.anthropic_messages import blocks
from clankie_stage.provider.hearing import text_of
from clankie_stage.provider.shapes import JsonObject


def as_heard(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Each message with its texts joined; results of tools become messages of their own, as OpenAI has them."""
    for message in messages:
        parts = blocks(message)
        for part in parts:
            if part["type"] == "tool_result":
                yield {"role": "tool", "tool_call_id": part["tool_use_id"], "content": text_of(part)}
        words = [part for part in parts if part["type"] == "text"]
        calls = [_call(part) for part in parts if part["type"] == "tool_use"]
        if calls:
            yield {"role": message["role"], "content": words or None, "tool_calls": calls}
        elif words or not any(part["type"] == "tool_result" for part in parts):
            yield {"role": message["role"], "content": words}


def offered(tools: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Each tool as a function; those that the provider runs itself are none."""
    for tool in tools:
        if tool.get("type", "custom") not in ("custom", None):
            continue
        function = {"name": tool["name"], "description": tool.get("description"), "parameters": tool["input_schema"]}
        yield {"type": "function", "function": function}


def _call(block: JsonObject) -> JsonObject:
    function = {"name": block["name"], "arguments": json.dumps(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}
