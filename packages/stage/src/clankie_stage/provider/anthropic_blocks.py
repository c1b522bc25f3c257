"""Content blocks: which kinds a role may hold, and what each must be."""

import re
from collections.abc import Iterator, Mapping

from clankie_stage.provider.anthropic_thoughts import signature
from clankie_stage.provider.images import encoded_rules
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.shapes import JsonObject, is_blank, mapping, sequence

CALL_ID = re.compile(r"[A-Za-z0-9_-]+")
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")

_KEYS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"text", "citations", "cache_control"}),
    "image": frozenset({"source", "cache_control"}),
    "tool_result": frozenset({"tool_use_id", "content", "is_error", "cache_control"}),
    "tool_use": frozenset({"id", "name", "input", "caller", "cache_control"}),
    "thinking": frozenset({"thinking", "signature"}),
    "redacted_thinking": frozenset({"data"}),
}
BLOCKS: Mapping[str, tuple[str, ...]] = {
    "user": ("text", "image", "tool_result"),
    "assistant": ("text", "tool_use", "thinking", "redacted_thinking"),
    "tool_result": ("text", "image"),
    "system": ("text",),
}
"""The kinds of blocks that a place may hold."""


def block_rules(block: object, path: str, place: str, limits: Limits) -> Iterator[Refusal]:
    """What makes one block of a message, a tool result or the system prompt unacceptable."""
    entry = mapping(block)
    kind = entry.get("type") if entry is not None else None
    if entry is None or kind not in BLOCKS[place]:
        yield invalid(f"{path}.type", f"Input tag does not match any of the expected tags: {', '.join(BLOCKS[place])}")
        return
    for key in entry:
        if key != "type" and key not in _KEYS[str(kind)]:
            yield extra(f"{path}.{kind}.{key}")
    yield from cache_control_rules(entry, f"{path}.{kind}")
    match kind:
        case "text":
            yield from text_rules(entry.get("text"), f"{path}.text", entry)
        case "image":
            yield from _image_rules(entry, f"{path}.image.source", limits)
        case "tool_result":
            yield from _result_rules(entry, f"{path}.tool_result", limits)
        case "tool_use":
            yield from _call_rules(entry, f"{path}.tool_use")
        case _:
            yield from _thought_rules(entry, path)


def text_rules(text: object, path: str, block: JsonObject | None = None) -> Iterator[Refusal]:
    """What makes a text unacceptable, standing alone or in a block. Source: C10."""
    if not isinstance(text, str):
        yield string(path)
    elif not text:
        if block is not None and "cache_control" in block:
            yield invalid(path, "cache_control cannot be set for empty text blocks")
        yield invalid("messages", "text content blocks must be non-empty")
    elif is_blank(text):
        yield invalid("messages", "text content blocks must contain non-whitespace text")


def cache_control_rules(block: JsonObject, path: str) -> Iterator[Refusal]:
    """What makes a block's ``cache_control`` unacceptable, if it has one."""
    control = block.get("cache_control")
    if control is None:
        return
    entry = mapping(control) or {}
    if entry.get("type") != "ephemeral" or entry.get("ttl", "5m") not in ("5m", "1h") or entry.keys() - {"type", "ttl"}:
        yield invalid(f"{path}.cache_control", "Input should be {'type': 'ephemeral'}, with a ttl of 5m or 1h")


def required(path: str) -> Refusal:
    """A field that is absent."""
    return invalid(path, "Field required")


def extra(path: str) -> Refusal:
    """A field that the API does not have."""
    return invalid(path, "Extra inputs are not permitted")


def string(path: str) -> Refusal:
    """A field that is no text."""
    return invalid(path, "Input should be a valid string")


def _image_rules(block: JsonObject, path: str, limits: Limits) -> Iterator[Refusal]:
    source = mapping(block.get("source"))
    if not limits.vision:
        yield invalid(path, "This model does not take images.")
    elif source is None:
        yield required(path)
    elif source.get("type") != "base64":
        yield invalid(f"{path}.type", "Expected a base64 source: this provider downloads nothing.")
    elif not isinstance(source.get("data"), str):
        yield required(f"{path}.base64.data")
    else:
        yield from encoded_rules(str(source["data"]), source.get("media_type"), f"{path}.base64", limits)


def _result_rules(block: JsonObject, path: str, limits: Limits) -> Iterator[Refusal]:
    if not isinstance(block.get("tool_use_id"), str):
        yield required(f"{path}.tool_use_id")
    if not isinstance(block.get("is_error", False), bool):
        yield invalid(f"{path}.is_error", "Input should be a valid boolean")
    content = block.get("content", "")
    if isinstance(content, str):
        return
    parts = sequence(content)
    if parts is None:
        yield string(f"{path}.content")
    elif not parts:
        yield invalid(f"{path}.content", "Expected at least one block; leave the key out instead.")
    for index, part in enumerate(parts or []):
        yield from block_rules(part, f"{path}.content.{index}", "tool_result", limits)


def _call_rules(block: JsonObject, path: str) -> Iterator[Refusal]:
    call_id, name = block.get("id"), block.get("name")
    if not isinstance(call_id, str) or CALL_ID.fullmatch(call_id) is None:
        yield invalid(f"{path}.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(name, str) or TOOL_NAME.fullmatch(name) is None:
        yield invalid(f"{path}.name", "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    if "input" not in block:
        yield required(f"{path}.input")
    elif mapping(block["input"]) is None:
        yield invalid(f"{path}.input", "Input should be a valid dictionary")


def _thought_rules(block: JsonObject, path: str) -> Iterator[Refusal]:
    if block["type"] == "redacted_thinking":
        if not isinstance(block.get("data"), str) or not block["data"]:
            yield required(f"{path}.redacted_thinking.data")
        return
    thought, signed = block.get("thinking"), block.get("signature")
    if not isinstance(thought, str):
        yield required(f"{path}.thinking.thinking")
    elif not isinstance(signed, str):
        yield required(f"{path}.thinking.signature")
    elif signed != signature(thought):
        yield invalid(path, "Invalid `signature` in `thinking` block")
