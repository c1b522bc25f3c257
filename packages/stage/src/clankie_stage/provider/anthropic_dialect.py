"""Anthropic's messages."""

from collections.abc import Mapping

from clankie_settings.clock import Clock, Ids
from clankie_stage.provider.anthropic_events import Envelope
from clankie_stage.provider.anthropic_rules import authorize_key, check_messages, size_refusal
from clankie_stage.provider.anthropic_voices import EventVoice, MessageVoice, answer_error
from clankie_stage.provider.brain import Habits
from clankie_stage.provider.dialects import Dialect, is_json
from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.rules import Request
from clankie_stage.provider.sink import Sink
from clankie_stage.provider.usage import Meter, Prompt
from clankie_stage.provider.voices import Voice


class AnthropicDialect(Dialect):
    """``POST /v1/messages``."""

    def judge(self, headers: Mapping[str, str], raw: bytes | None, habits: Habits) -> Request | Refusal:
        """The first refusal of key, version, content type or body; else the request."""
        refusal = authorize_key(headers, habits.bad_keys)
        if refusal is not None:
            return refusal
        if not is_json(headers):
            return invalid(None, "Content-Type must be application/json", None)
        if raw is None:
            return size_refusal()
        return check_messages(raw, habits.limits, headers["anthropic-version"])

    def voice(self, request: Request, sink: Sink, prompt: Prompt, clock: Clock, ids: Ids) -> Voice:
        """A stream of events, or one message."""
        del clock
        envelope = Envelope(ids.new("msg"), request.model, prompt)
        kind = EventVoice if request.stream else MessageVoice
        return kind(sink, envelope, Meter(), ids.new)

    async def refuse(self, sink: Sink, refusal: Refusal, ids: Ids) -> None:
        """The error object with its type and message."""
        await answer_error(sink, refusal, ids.new("req"))
