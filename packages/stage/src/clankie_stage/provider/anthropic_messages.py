"""Anthropic's messages array: roles, contents, and the pairing of tool calls with their results."""

from collections.abc import Iterator

from clankie_stage.provider.anthropic_blocks import block_rules, extra, text_rules
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

_MESSAGE_KEYS = frozenset({"role", "content"})
_THOUGHTS = ("thinking", "redacted_thinking")


def history_rules(messages: list[object], thinks: bool, limits: Limits) -> Iterator[Refusal]:
    """What makes a history unacceptable, in the order a reader meets it. Source: C02, C04, C10.

    ``thinks`` says whether the request has thinking switched on.
    """
    if not messages:
        yield invalid("messages", "at least one message is required")
        return
    images = sum(part.get("type") == "image" for each in messages for part in _all_blocks(mapping(each) or {}))
    limits = limits.for_images(images)
    entries: list[JsonObject] = []
    for index, message in enumerate(messages):
        entry = mapping(message)
        if entry is None:
            yield invalid(f"messages.{index}", "Input should be a valid dictionary")
            return
        yield from _one_message(entry, f"messages.{index}", index == len(messages) - 1, limits)
        entries.append(entry)
    if entries[0]["role"] != "user":
        yield invalid("messages", 'first message must use the "user" role')
    yield from _pairing_rules(entries)
    yield from _ending_rules(entries, thinks)
    if entries[-1]["role"] != "user":
        # What older models took as the beginning of their answer.
        yield invalid("messages", "assistant message prefill is not supported: the last message is the user's")
    if images > limits.images:
        yield invalid("messages", f"too many images: at most {limits.images} a request")


def blocks(message: JsonObject) -> list[JsonObject]:
    """The content blocks of a message; a plain text is one."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [entry for part in sequence(content) or [] if (entry := mapping(part)) is not None]


def _one_message(message: JsonObject, path: str, last: bool, limits: Limits) -> Iterator[Refusal]:
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        yield invalid(
            f"{path}.role", "Input should be 'user' or 'assistant'; a system prompt is the `system` parameter"
        )
        return
    for key in message:
        if key not in _MESSAGE_KEYS:
            yield extra(f"{path}.{key}")
    parts = sequence(content)
    if isinstance(content, str) and content:
        yield from text_rules(content, f"{path}.content")
    elif content in ("", []):
        if not (last and role == "assistant"):
            yield invalid(
                path, "all messages must have non-empty content except for the optional final assistant message"
            )
    elif parts is None:
        yield invalid(f"{path}.content", "Input should be a valid string or list")
    for index, part in enumerate(parts or []):
        yield from block_rules(part, f"{path}.content.{index}", str(role), limits)


def _pairing_rules(messages: list[JsonObject]) -> Iterator[Refusal]:
    """Each call is answered once, first of all in the very next message. Source: C02."""
    owed: set[str] = set()
    seen: set[str] = set()
    for index, message in enumerate(messages):
        parts = blocks(message)
        answered = [str(part["tool_use_id"]) for part in parts if part["type"] == "tool_result"]
        leading = [part for part in parts[: len(answered)] if part["type"] == "tool_result"]
        yield from _unanswered(owed - {str(part["tool_use_id"]) for part in leading}, index - 1)
        for place, part in enumerate(parts):
            if part["type"] == "tool_result":
                yield from _answer_rules(str(part["tool_use_id"]), owed, answered, f"messages.{index}.content.{place}")
        owed = {str(part["id"]) for part in parts if part["type"] == "tool_use"}
        calls = [str(part["id"]) for part in parts if part["type"] == "tool_use"]
        if len(owed) < len(calls) or owed & seen:
            yield invalid(f"messages.{index}", "`tool_use` ids must be unique")
        seen |= owed
    yield from _unanswered(owed, len(messages) - 1)


def _unanswered(owed: set[str], index: int) -> Iterator[Refusal]:
    if owed:
        yield invalid(
            f"messages.{index}",
            "`tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(sorted(owed))}. They begin the next message, one for each call.",
        )


def _answer_rules(answered: str, owed: set[str], given: list[str], path: str) -> Iterator[Refusal]:
    if answered not in owed:
        yield invalid(path, f"unexpected `tool_use_id` in a `tool_result`: the message before made no call {answered}")
    elif given.count(answered) > 1:
        yield invalid(path, "each `tool_use` must have a single result")


def _ending_rules(messages: list[JsonObject], thinks: bool) -> Iterator[Refusal]:
    spoken = [(index, blocks(message)) for index, message in enumerate(messages) if message["role"] == "assistant"]
    for index, parts in spoken:
        if parts and parts[-1]["type"] in _THOUGHTS:
            yield invalid(f"messages.{index}", "The final block in an assistant message cannot be `thinking`.")
    if not spoken:
        return
    index, parts = spoken[-1]
    if index == len(messages) - 1 and parts and parts[-1]["type"] == "text":
        text = str(parts[-1]["text"])
        if text != text.rstrip():
            yield invalid("messages", "final assistant content cannot end with trailing whitespace")
    kinds = [part["type"] for part in parts]
    if thinks and "tool_use" in kinds and kinds[0] not in _THOUGHTS:
        yield invalid(
            f"messages.{index}.content.0.type",
            f"Expected `thinking` or `redacted_thinking`, but found `{kinds[0]}`: thinking is enabled",
        )


def _all_blocks(message: JsonObject) -> Iterator[JsonObject]:
    for block in blocks(message):
        yield block
        yield from blocks(block)
