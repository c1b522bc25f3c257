"""OpenAI's chat completions."""

from collections.abc import Mapping

from clankie_settings.clock import Clock, Ids
from clankie_stage.provider.brain import Habits
from clankie_stage.provider.chunks import Stamp
from clankie_stage.provider.completions import Streaming, Whole
from clankie_stage.provider.dialects import Dialect, is_json
from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.rules import Request, authorize, check, too_large
from clankie_stage.provider.sink import Sink, answer_refusal
from clankie_stage.provider.usage import Meter, Prompt
from clankie_stage.provider.voices import Voice


class OpenAIDialect(Dialect):
    """``POST /v1/chat/completions``."""

    def judge(self, headers: Mapping[str, str], raw: bytes | None, habits: Habits) -> Request | Refusal:
        """The first refusal of key, content type or body; else the request."""
        refusal = authorize(headers.get("authorization"), habits.bad_keys)
        if refusal is not None:
            return refusal
        if not is_json(headers):
            return invalid(None, "Send the body as 'Content-Type: application/json'.", None)
        return too_large(habits.limits) if raw is None else check(raw, habits.limits)

    def voice(self, request: Request, sink: Sink, prompt: Prompt, clock: Clock, ids: Ids) -> Voice:
        """A stream of chunks, or one object."""
        stamp = Stamp(
            completion_id="chatcmpl-" + ids.new("stage"),
            created=int(clock.now().timestamp()),
            model=request.model,
            include_usage=request.include_usage,
        )
        kind = Streaming if request.stream else Whole
        return kind(sink, stamp, Meter(), prompt, lambda: ids.new("call"))

    async def refuse(self, sink: Sink, refusal: Refusal, ids: Ids) -> None:
        """The error object with its four fields."""
        del ids
        await answer_refusal(sink, refusal)
