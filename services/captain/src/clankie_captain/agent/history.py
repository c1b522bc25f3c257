"""Entries of a lane to messages of the model and back; pure.

An entry's payload is one message as the loop library's own JSON. What was recorded is what is sent, byte for byte,
for ever: a message is taken into the transcript only as it reads back from its payload.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
)

from clankie_captain.agent.scrubbing import scrub_data
from clankie_captain.agent.validity import begins_turn, clean, paired, repairs
from clankie_captain.core.run import Draft, Entry
from clankie_settings.ids import RunId


@dataclass(frozen=True, slots=True)
class Kept:
    """A message that the model is shown.

    ``place`` is the index of its entry among the lane's entries.
    """

    message: ModelMessage
    run: RunId
    place: int


def draft(message: ModelMessage) -> Draft:
    """The entry that stores a message."""
    return Draft(message.kind, ModelMessagesTypeAdapter.dump_json([message])[1:-1].decode())


def message(payload: str) -> ModelMessage | None:
    """The message of an entry; None where it cannot be read."""
    # An escaped NUL or half of a pair may have been stored by whoever was less careful; then the slow road is taken.
    if "\\u0000" not in payload:
        with suppress(ValidationError):
            return next(iter(ModelMessagesTypeAdapter.validate_json(f"[{payload}]")), None)
    try:
        return ModelMessagesTypeAdapter.validate_python([scrub_data(json.loads(payload))])[0]
    except ValueError:
        return None


def kept(entries: Sequence[Entry]) -> list[Kept]:
    """The lane's history as a provider takes it. Source: LANE-14.

    Skipped are entries that cannot be read, that hold nothing, or that stand before the first words of anybody.
    Calls are answered right after themselves, except those of a history's last response, which stay open.
    """
    found: list[Kept] = []
    calls: list[ToolCallPart] = []
    for place, (entry, read) in enumerate(zip(entries, _messages(entries), strict=True)):
        if read is None or (cleaned := clean(read)) is None:
            continue
        if isinstance(cleaned, ModelRequest):
            cleaned = paired(cleaned, calls)
            calls = []
        elif calls:
            found.append(Kept(ModelRequest(parts=repairs(calls)), entry.run, place))
        if cleaned is None or not (found or begins_turn(cleaned)):
            continue
        if isinstance(cleaned, ModelResponse):
            calls = cleaned.tool_calls
        found.append(Kept(cleaned, entry.run, place))
    return found


def messages(entries: Sequence[Entry]) -> list[ModelMessage]:
    """The messages of the entries that can be read and hold anything."""
    return [each.message for each in kept(entries)]


def open_calls(messages: Sequence[ModelMessage]) -> list[ToolCallPart]:
    """The calls of a history's last response, if nothing came after it."""
    last = messages[-1] if messages else None
    return last.tool_calls if isinstance(last, ModelResponse) else []


def opening(
    messages: Sequence[ModelMessage],
    parts: Iterable[ModelRequestPart],
    known: Mapping[str, ModelRequestPart] = MappingProxyType({}),
) -> ModelRequest | None:
    """The request that takes a history up again: results for its open calls, then these parts; None if neither.

    ``known`` holds those results that are not lost, by the calls' ids.
    """
    together = [*repairs(open_calls(messages), known), *parts]
    return ModelRequest(parts=together) if together else None


def _messages(entries: Sequence[Entry]) -> list[ModelMessage | None]:
    together = ",".join(entry.payload for entry in entries)
    if "\\u0000" not in together:
        try:
            # One pass for all of them costs a third of one pass each.
            read: list[ModelMessage | None] = [*ModelMessagesTypeAdapter.validate_json(f"[{together}]")]
        except ValidationError:
            read = []
        if len(read) == len(entries):
            return read
    return [message(entry.payload) for entry in entries]
