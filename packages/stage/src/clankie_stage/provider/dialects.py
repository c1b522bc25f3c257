"""How one provider is asked and how it answers: the port that each wire shape fills."""

from collections.abc import Mapping
from typing import Protocol

from clankie_settings.clock import Clock, Ids
from clankie_stage.provider.brain import Habits
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.rules import Request
from clankie_stage.provider.sink import Sink
from clankie_stage.provider.usage import Prompt
from clankie_stage.provider.voices import Voice


class Dialect(Protocol):
    """One provider's wire shape."""

    def judge(self, headers: Mapping[str, str], raw: bytes | None, habits: Habits) -> Request | Refusal:
        """Whether a request is accepted; ``raw`` is None where the body was over the limit."""
        ...

    def voice(self, request: Request, sink: Sink, prompt: Prompt, clock: Clock, ids: Ids) -> Voice:
        """What gives the answer."""
        ...

    async def refuse(self, sink: Sink, refusal: Refusal, ids: Ids) -> None:
        """Send an error as the HTTP answer."""
        ...


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether the body is declared as JSON."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
