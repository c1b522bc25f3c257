"""The messages array: roles, contents, and the pairing of tool calls with their results."""

import json
import re
from collections.abc import Iterator

from clankie_stage.provider.images import image_rules
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal, invalid, missing, unknown, wrong_type
from clankie_stage.provider.shapes import JsonObject, is_blank, mapping, sequence
from clankie_stage.provider.tooling import NAME

_SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}")
_LONGEST_CALL_ID = 40

_KEYS: dict[str, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset(
        {"role", "content", "name", "refusal", "tool_calls", "audio", "annotations"}
        # Compatible servers take back the thoughts that they streamed.
        | {"reasoning", "reasoning_content", "reasoning_details"}
    ),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
_PARTS: dict[str, tuple[str, ...]] = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}


def message_rules(messages: list[object], limits: Limits) -> Iterator[Refusal]:
    """What makes a history unacceptable, in the order a reader meets it. Source: C02, C04, C10."""
    if not messages:
        yield invalid("messages", "Expected at least one message.", "empty_array")
    images = sum(_images(mapping(message) or {}) for message in messages)
    limits = limits.for_images(images)
    entries: list[JsonObject] = []
    for index, message in enumerate(messages):
        entry = mapping(message)
        if entry is None:
            yield wrong_type(_at(index), "an object")
            return
        yield from _one_message(entry, _at(index), limits)
        entries.append(entry)
    yield from pairing_rules(entries)
    if images > limits.images:
        yield invalid("messages", f"Too many images: at most {limits.images} a request.", "too_many_images")


def pairing_rules(messages: list[JsonObject]) -> Iterator[Refusal]:
    """Each tool call is answered once, directly after the message that made it. Source: C02."""
    owed: set[str] = set()
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            answered = str(message.get("tool_call_id"))
            if answered not in owed:
                yield invalid(
                    f"{_at(index)}.role",
                    "A message with role 'tool' answers no open tool call of the message before it.",
                    None,
                )
            owed.discard(answered)
            continue
        yield from _unanswered(owed, index)
        owed = _call_ids(message)
    yield from _unanswered(owed, len(messages))


def _unanswered(owed: set[str], index: int) -> Iterator[Refusal]:
    if owed:
        yield invalid(
            f"{_at(index)}.role",
            "An assistant message with 'tool_calls' must be followed directly by a tool message for each id. "
            f"No result for: {', '.join(sorted(owed))}.",
            None,
        )


def _one_message(message: JsonObject, path: str, limits: Limits) -> Iterator[Refusal]:
    role = message.get("role")
    if role is None:
        yield missing(f"{path}.role")
    if not isinstance(role, str) or role not in _KEYS:
        yield invalid(f"{path}.role", f"Unknown role: one of {', '.join(_KEYS)}.")
        return
    for key in message:
        if key not in _KEYS[role]:
            yield unknown(f"{path}.{key}")
    name = message.get("name")
    if name is not None and (not isinstance(name, str) or _SPEAKER.fullmatch(name) is None):
        yield invalid(f"{path}.name", "A name is 1 to 64 characters without spaces and < | \\ / >.")
    if role == "assistant":
        yield from _assistant_rules(message, path)
    elif message.get("content") is None:
        yield invalid(f"{path}.content", "Expected a string or an array of parts, got null.")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield missing(f"{path}.tool_call_id")
    if message.get("content") is not None:
        yield from _content_rules(message["content"], path, role, limits)


def _assistant_rules(message: JsonObject, path: str) -> Iterator[Refusal]:
    refusal = message.get("refusal")
    if refusal is not None and not isinstance(refusal, str):
        yield wrong_type(f"{path}.refusal", "a string or null")
    if all(message.get(key) is None for key in ("content", "tool_calls", "refusal")):
        yield invalid(f"{path}.content", "An assistant message needs content or tool_calls.")
    if "tool_calls" in message and message["tool_calls"] is not None:
        calls = sequence(message["tool_calls"])
        if calls is None:
            yield wrong_type(f"{path}.tool_calls", "an array")
        elif not calls:
            yield invalid(f"{path}.tool_calls", "Expected at least one call.", "empty_array")
        seen: set[str] = set()
        for index, call in enumerate(calls or []):
            yield from _call_rules(mapping(call) or {}, f"{path}.tool_calls[{index}]", seen)


def _call_rules(call: JsonObject, path: str, seen: set[str]) -> Iterator[Refusal]:
    call_id, function = call.get("id"), mapping(call.get("function")) or {}
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(call_id, str) or not 1 <= len(call_id) <= _LONGEST_CALL_ID:
        yield invalid(f"{path}.id", f"A call's id is 1 to {_LONGEST_CALL_ID} characters.")
        return
    if call_id in seen:
        yield invalid(f"{path}.id", "Two calls share one id.")
    seen.add(call_id)
    if call.get("type") != "function":
        yield invalid(f"{path}.type", "A call's type is 'function'.")
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        yield invalid(f"{path}.function.name", "A tool's name is 1 to 64 of A-Z a-z 0-9 _ and -.")
    if not isinstance(arguments, str):
        yield wrong_type(f"{path}.function.arguments", "a string")
    elif not _is_json_object(arguments):
        # OpenAI's own service takes any string; Anthropic, Google and vLLM need the object.
        yield invalid(f"{path}.function.arguments", "A call's arguments are the JSON text of an object.")


def _content_rules(content: object, path: str, role: str, limits: Limits) -> Iterator[Refusal]:
    if isinstance(content, str):
        if is_blank(content):
            yield invalid(f"{path}.content", "Content must be non-empty and not only white space.")
        return
    parts = sequence(content)
    if parts is None:
        yield wrong_type(f"{path}.content", "a string or an array of parts")
        return
    if not parts:
        yield invalid(f"{path}.content", "Expected at least one part.", "empty_array")
    for index, part in enumerate(parts):
        entry, where = mapping(part), f"{path}.content[{index}]"
        kind = entry.get("type") if entry is not None else None
        if entry is None or kind not in _PARTS[role]:
            yield invalid(f"{where}.type", f"A part of role '{role}' is one of {', '.join(_PARTS[role])}.")
        elif kind == "image_url":
            yield from image_rules(entry, where, limits)
        else:
            yield from _text_rules(entry.get(str(kind)), f"{where}.{kind}")


def _text_rules(text: object, path: str) -> Iterator[Refusal]:
    if not isinstance(text, str):
        yield wrong_type(path, "a string")
    elif is_blank(text):
        yield invalid(path, "A text part must be non-empty and not only white space.")


def _call_ids(message: JsonObject) -> set[str]:
    calls = sequence(message.get("tool_calls")) or []
    return {str((mapping(call) or {}).get("id")) for call in calls}


def _images(message: JsonObject) -> int:
    parts = sequence(message.get("content")) or []
    return sum((mapping(part) or {}).get("type") == "image_url" for part in parts)


def _is_json_object(text: str) -> bool:
    try:
        return mapping(json.loads(text)) is not None
    except (ValueError, RecursionError):
        return False


def _at(index: int) -> str:
    return f"messages.[{index}]"
