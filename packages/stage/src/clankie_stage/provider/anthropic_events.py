"""Messages as Anthropic writes them: JSON values only, no sending."""

from collections.abc import Mapping
from dataclasses import dataclass

from clankie_stage.provider.beats import FinishReason, Search
from clankie_stage.provider.chunks import dumps
from clankie_stage.provider.shapes import JsonObject
from clankie_stage.provider.usage import Prompt, Usage

REASONS: Mapping[FinishReason, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "model_context_window_exceeded": "model_context_window_exceeded",
}
"""Why a model stopped, in this provider's words."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every form of one answer repeats."""

    message_id: str
    model: str
    prompt: Prompt

    def start(self) -> JsonObject:
        """The event that begins a stream: the message without any content."""
        message = self.message([], None, None, Usage(self.prompt, completion=1))
        return {"type": "message_start", "message": message}

    def message(
        self, content: list[JsonObject], reason: str | None, explanation: str | None, usage: Usage
    ) -> JsonObject:
        """A whole message."""
        return {
            "id": self.message_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "stop_details": stop_details(explanation),
            "usage": {**usage_object(usage), "service_tier": "standard"},
        }


def delta_event(reason: str, explanation: str | None, usage: Usage) -> JsonObject:
    """The event that says why the model stopped and what it cost in all."""
    delta = {"stop_reason": reason, "stop_sequence": None, "stop_details": stop_details(explanation)}
    return {"type": "message_delta", "delta": delta, "usage": usage_object(usage)}


def stop_details(explanation: str | None) -> JsonObject | None:
    """What a refusal adds to its stop reason."""
    return None if explanation is None else {"type": "refusal", "category": None, "explanation": explanation}


def usage_object(usage: Usage) -> JsonObject:
    """Usage; what was read from the cache or written to it is no part of ``input_tokens``."""
    prompt = usage.prompt
    return {
        "input_tokens": prompt.size - prompt.cached - prompt.written,
        "cache_creation_input_tokens": prompt.written,
        "cache_read_input_tokens": prompt.cached,
        "output_tokens": usage.completion,
    }


def event(value: JsonObject) -> bytes:
    """One named server-sent event."""
    return f"event: {value['type']}\ndata: ".encode() + dumps(value) + b"\n\n"


def search_blocks(search: Search, search_id: str) -> tuple[JsonObject, JsonObject]:
    """The block in which the provider searches, and the one with what it found."""
    asked = {"query": search.query}
    call: JsonObject = {"type": "server_tool_use", "id": search_id, "name": "web_search", "input": asked}
    pages: list[object] = [
        {"type": "web_search_result", "title": title, "url": url, "encrypted_content": "b3BhcXVl", "page_age": None}
        for title, url in search.pages
    ]
    error = {"type": "web_search_tool_result_error", "error_code": search.error}
    content = error if search.error else pages
    return call, {"type": "web_search_tool_result", "tool_use_id": search_id, "content": content}


def citation(title: str, url: str) -> JsonObject:
    """Words that are from a page which was found."""
    place = {"type": "web_search_result_location", "url": url, "title": title}
    return {**place, "encrypted_index": "b3BhcXVl", "cited_text": f"as {title} has it"}
