"""Chat completions as OpenAI writes them: JSON values only, no sending."""

import json
from dataclasses import dataclass

from clankie_stage.provider.shapes import JsonObject
from clankie_stage.provider.usage import Usage

DONE = b"data: [DONE]\n\n"
FINGERPRINT = "fp_stage"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every chunk of one answer repeats."""

    completion_id: str
    created: int
    model: str
    include_usage: bool

    def chunk(self, delta: JsonObject, finish_reason: str | None = None) -> JsonObject:
        """One delta of the only choice."""
        choice: JsonObject = {
            "index": 0,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        return self._chunk([choice], None)

    def usage_chunk(self, usage: Usage) -> JsonObject:
        """The last chunk, without choices, when usage was asked for."""
        return self._chunk([], usage_object(usage))

    def completion(self, message: JsonObject, finish_reason: str, usage: Usage) -> JsonObject:
        """A whole answer in one object."""
        choice: JsonObject = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        head = self._head("chat.completion")
        return {
            **head,
            "choices": [choice],
            "usage": usage_object(usage),
            "system_fingerprint": FINGERPRINT,
        }

    def _chunk(self, choices: list[JsonObject], usage: JsonObject | None) -> JsonObject:
        value: JsonObject = {
            **self._head("chat.completion.chunk"),
            "service_tier": "default",
            "system_fingerprint": FINGERPRINT,
            "choices": choices,
        }
        return {**value, "usage": usage} if self.include_usage else value

    def _head(self, kind: str) -> JsonObject:
        return {"id": self.completion_id, "object": kind, "created": self.created, "model": self.model}


def usage_object(usage: Usage) -> JsonObject:
    """Usage with the details that say what was cached and what was thought."""
    return {
        "prompt_tokens": usage.prompt.size,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt.size + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.prompt.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def call_head(index: int, call_id: str, name: str) -> JsonObject:
    """The first delta of a tool call: its id and name, no arguments yet."""
    function: JsonObject = {"name": name, "arguments": ""}
    return {"index": index, "id": call_id, "type": "function", "function": function}


def event(value: JsonObject) -> bytes:
    """One server-sent event."""
    return b"data: " + dumps(value) + b"\n\n"


def dumps(value: JsonObject) -> bytes:
    """Compact JSON in UTF-8; an unpaired surrogate, which UTF-8 cannot carry, makes everything escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
