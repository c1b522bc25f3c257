"""What a provider takes: pure rules over one message, and over calls and their results. Source: LANE-14."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from clankie_captain.agent.scrubbing import is_blank, scrub, scrub_data, scrub_json

_ELSEWHERE: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 64
_LONGEST_ID: Final = 40

NO_OUTPUT: Final = "(no output)"
"""What stands for an empty tool result: providers refuse empty ones. Source: C10."""

INTERRUPTED: Final = "Interrupted: the outcome is unknown. Do not repeat this call unless you are asked to."
"""What stands for the result of a call that was cut off. Source: DUR-2, C02."""


def clean_request(request: ModelRequest) -> ModelRequest | None:
    """The request as it may be sent and stored, without what a run puts on it; None if nothing is left of it."""
    parts = [part for part in map(_clean_request_part, request.parts) if part is not None]
    return ModelRequest(parts=parts, timestamp=request.timestamp) if parts else None


def clean_response(response: ModelResponse) -> ModelResponse | None:
    """The response as it may be sent again and stored; None where the model wrote nothing and called nothing.

    Thinking alone is nothing: providers refuse a turn that ends in it.
    """
    partial = response.state == "interrupted"
    parts = [part for part in (_clean_response_part(each, partial) for each in response.parts) if part is not None]
    if all(isinstance(part, ThinkingPart) for part in parts):
        return None
    details = scrub_data(response.provider_details)
    return replace(response, parts=parts, provider_details=details, run_id=None, conversation_id=None)


def clean(message: ModelMessage) -> ModelMessage | None:
    """Either kind of message, cleaned; None if nothing is left of it."""
    return clean_request(message) if isinstance(message, ModelRequest) else clean_response(message)


def with_distinct_calls(response: ModelResponse, taken: Collection[str]) -> ModelResponse:
    """The response with ids of calls that every provider takes and that are not ``taken`` in the history.

    Only for a response whose calls nobody has answered yet.
    """
    known = set(taken)
    parts: list[ModelResponsePart] = []
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            part = replace(part, tool_call_id=_distinct(_wire_name(part.tool_call_id, _LONGEST_ID) or "call", known))
            known.add(part.tool_call_id)
        parts.append(part)
    return replace(response, parts=parts)


def answered_call(part: ModelRequestPart) -> str | None:
    """The id of the call that a part of a request answers."""
    # Kinds of results differ; what they share is the call's id, and a tool's name where they answer one.
    if getattr(part, "tool_name", None) is None:
        return None
    return getattr(part, "tool_call_id", None)


def begins_turn(message: ModelMessage) -> bool:
    """Whether a history may begin with this message: somebody spoke, and no earlier call is answered."""
    if not isinstance(message, ModelRequest):
        return False
    heard = any(isinstance(part, UserPromptPart) for part in message.parts)
    return heard and not any(answered_call(part) for part in message.parts)


def repairs(
    calls: Sequence[ToolCallPart], known: Mapping[str, ModelRequestPart] = MappingProxyType({})
) -> list[ModelRequestPart]:
    """Results for calls that got none: what is ``known``, else that nobody knows. Source: C02, DUR-2."""
    return [
        known.get(call.tool_call_id) or ToolReturnPart(call.tool_name, INTERRUPTED, call.tool_call_id) for call in calls
    ]


def paired(message: ModelRequest, calls: Sequence[ToolCallPart]) -> ModelRequest | None:
    """A request that answers exactly these calls, first of all; None if nothing is left of it.

    Results of other calls are dropped, missing ones are put in front, in the order of the calls.
    """
    # Some models give calls of one response the same id: each of them is owed a result of its own.
    missing = list(calls)
    parts: list[ModelRequestPart] = []
    for part in message.parts:
        answered = answered_call(part)
        call = next((call for call in missing if call.tool_call_id == answered), None)
        if call is not None:
            missing.remove(call)
        if answered is None or call is not None:
            parts.append(part)
    if not missing and len(parts) == len(message.parts):
        return message
    parts = [*repairs(missing), *parts]
    return replace(message, parts=parts) if parts else None


def _clean_request_part(part: ModelRequestPart) -> ModelRequestPart | None:
    content: Any = getattr(part, "content", None)
    if answered_call(part) is not None:
        return replace(part, content=_result(content))  # type: ignore[call-arg]
    if isinstance(content, str):
        text = scrub(content)
        if is_blank(text):
            return None
        return part if text == content else replace(part, content=text)  # type: ignore[call-arg]
    if isinstance(part, UserPromptPart):
        items = [scrub(item) if isinstance(item, str) else item for item in part.content]
        items = [item for item in items if not (isinstance(item, str) and is_blank(item))]
        return replace(part, content=items) if items else None
    return part


def _result(content: Any) -> Any:
    if isinstance(content, str):
        text = scrub(content)
        return NO_OUTPUT if is_blank(text) else text
    if content is None or content in ([], {}, ()):
        return NO_OUTPUT
    return scrub_data(content) if isinstance(content, dict | list | tuple) else content


def _clean_response_part(part: ModelResponsePart, partial: bool) -> ModelResponsePart | None:
    match part:
        case TextPart(content=content):
            text = scrub(content)
            return None if is_blank(text) else replace(part, content=text)
        case ThinkingPart(content=content, signature=signature):
            text = scrub(content)
            if signature and text != content:
                # A signed thought is taken back unmodified or not at all.
                return None
            return None if is_blank(text) and not signature else replace(part, content=text)
        case ToolCallPart(args=args):
            cleaned = scrub_json(args) if isinstance(args, str) else scrub_data(args)
            call = replace(part, args=cleaned, tool_name=_wire_name(part.tool_name, _LONGEST_NAME) or "nameless")
            return None if partial and not _whole(call) else call
        case _:
            return part


def _wire_name(name: str, longest: int) -> str:
    # The narrowest rule of all providers, for names of tools and ids of calls alike; another's may hold anything.
    return _ELSEWHERE.sub("_", name)[:longest]


def _distinct(name: str, known: Collection[str]) -> str:
    numbered = (f"{name[: _LONGEST_ID - 6]}_{number}" for number in range(2, len(known) + 3))
    return next(each for each in (name, *numbered) if each not in known)


def _whole(call: ToolCallPart) -> bool:
    try:
        call.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError):
        return False
    return True
