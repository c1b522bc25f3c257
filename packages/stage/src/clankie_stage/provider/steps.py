"""Ready-made steps: one name for each thing a provider may do to a caller."""

import json
from collections.abc import Mapping
from dataclasses import replace

from clankie_stage.provider.beats import (
    Beat,
    Call,
    Decline,
    End,
    Fail,
    Finish,
    FinishReason,
    Gate,
    Hold,
    Match,
    Open,
    Pause,
    Ping,
    Say,
    Search,
    Step,
    Think,
)

SILENCE = "[[stay-silent]]"
"""What a model answers when it wishes to say nothing. Source: ROOM-1."""


def step(*beats: Beat, label: str = "beats") -> Step:
    """A step of any beats."""
    return Step(beats, label=label)


def text(*deltas: str, reason: FinishReason = "stop") -> Step:
    """An answer in these deltas."""
    return Step((*map(Say, deltas), Finish(reason)), label="text")


def silence() -> Step:
    """The silence marker, in two deltas."""
    return Step((Say(SILENCE[:7]), Say(SILENCE[7:]), Finish()), label="silence")


def call(name: str, arguments: Mapping[str, object] | None = None, pieces: int = 3) -> Call:
    """One call, its JSON arguments split into about so many pieces, for ``calls``."""
    whole = json.dumps(arguments or {}, ensure_ascii=False, separators=(",", ":"))
    size = max(1, -(-len(whole) // pieces))
    return Call(name, tuple(whole[at : at + size] for at in range(0, len(whole), size)))


def calls(*wanted: Call, before: str = "") -> Step:
    """One or several parallel tool calls, after these words if any."""
    words = (Say(before),) if before else ()
    return Step((*words, *wanted, Finish("tool_calls")), label="calls")


def searched(query: str, *pages: tuple[str, str], words: str = "", error: str | None = None) -> Step:
    """A search of the provider's own that found these pages, by title and address, and words on them."""
    said = (Say(words),) if words else ()
    return Step((Search(query, pages, error), *said, Finish()), label="searched")


def gated(barrier: str, *deltas: str, after: int = 0) -> Step:
    """A text that waits at a barrier after ``after`` deltas: 0 is before the first byte, all before the end."""
    said = tuple(map(Say, deltas))
    return Step((*said[:after], Gate(barrier), *said[after:], Finish()), label="gated")


def slow(*deltas: str, every_s: float) -> Step:
    """A text with a pause before each delta."""
    paced = (beat for delta in deltas for beat in (Pause(every_s), Say(delta)))
    return Step((*paced, Finish()), label="slow")


def hold(*deltas: str) -> Step:
    """Headers, these deltas, then nothing and no end. Source: C05."""
    return Step((Open(), *map(Say, deltas), Hold()), label="hold")


def unanswered() -> Step:
    """Not even headers. Source: C05."""
    return Step((Hold(),), label="unanswered")


def pings(every_s: float = 15.0, count: int = 0) -> Step:
    """Comments for ever, or so many and then a hold. Source: C05."""
    return Step((Open(), Ping(count, every_s), Hold()), label="pings")


def empty() -> Step:
    """An answer with no content at all. Source: C10."""
    return Step((Finish(),), label="empty")


def blank() -> Step:
    """An answer of white space. Source: C10."""
    return Step((Say(" \n"), Finish()), label="blank")


def thinking_only(*thoughts: str) -> Step:
    """Reasoning, and no answer."""
    return Step((*map(Think, thoughts or ("Hm.",)), Finish()), label="thinking only")


def refusal(words: str = "I can't help with that.", *said: str) -> Step:
    """A refusal in its own field, after these deltas if any. Source: C34."""
    return Step((*map(Say, said), Decline(words), Finish()), label="refusal")


def content_filter(*said: str) -> Step:
    """Stopped by a content filter, after these deltas if any. Source: C34."""
    return Step((*map(Say, said), Finish("content_filter")), label="content filter")


def cut_short(*said: str) -> Step:
    """Stopped by the token limit, after these deltas if any."""
    return Step((*map(Say, said), Finish("length")), label="length")


def window_reached(*said: str) -> Step:
    """Stopped because the model's window was full, after these deltas if any. Source: C09."""
    return Step((*map(Say, said), Finish("model_context_window_exceeded")), label="window reached")


def call_promised(*said: str) -> Step:
    """Stopped for a tool call that was never made, after these deltas if any."""
    return Step((*map(Say, said), Finish("tool_calls")), label="call promised")


def call_cut(name: str, *pieces: str, reason: FinishReason | None = None) -> Step:
    """A tool call whose arguments stop in the middle, then a stop for this reason or a mere end. Source: C02."""
    end = End() if reason is None else Finish(reason)
    return Step((Call(name, pieces), end), label="call cut")


def lone_surrogate() -> Step:
    """Half an emoji in the text. Source: C43."""
    return Step((Say("half \ud83d"), Finish()), label="lone surrogate")


def written_call(name: str, arguments: Mapping[str, object]) -> Step:
    """A tool call that the model wrote into its text instead of making it. Source: C60."""
    inner = json.dumps({"name": name, "arguments": arguments})
    return text("<tool_call>", inner, "</tool_call>")


def broken_stream(*said: str, error: Fail | None = None) -> Step:
    """These deltas, then an error event inside the open stream. Source: C11."""
    return Step((Open(), *map(Say, said), error or overloaded_error()), label="broken stream")


def ended(*said: str) -> Step:
    """These deltas, then a proper end of the response without a terminal event. Source: C11."""
    return Step((Open(), *map(Say, said), End()), label="ended")


def cut(after_bytes: int, *said: str) -> Step:
    """A text whose connection dies after so many bytes of the body."""
    return replace(text(*(said or ("one ", "two ", "three"))), cut_after=after_bytes, label="cut")


def failed(error: Fail) -> Step:
    """An HTTP error instead of an answer."""
    return Step((error,), label=f"failed {error.status}")


def quota_error() -> Fail:
    """The account has no credit left."""
    return Fail(429, "insufficient_quota", "insufficient_quota")


def rate_limit_error(retry_after: str | None = "1") -> Fail:
    """Too many requests; ``retry_after`` as the header has it, in seconds."""
    return Fail(429, "requests", "rate_limit_exceeded", retry_after=retry_after)


def server_error(status: int = 500) -> Fail:
    """The provider's own fault."""
    return Fail(status, "server_error")


def overloaded_error(status: int = 529) -> Fail:
    """The provider is overloaded; 503 or 529."""
    return Fail(status, "overloaded_error", "overloaded", "Overloaded.")


def overflow_error(status: int = 400) -> Fail:
    """The prompt is too long, whatever its size. Source: C09."""
    message = "This model's maximum context length is exceeded."
    return Fail(status, "invalid_request_error", "context_length_exceeded", message)


def key_error() -> Fail:
    """The key is not accepted."""
    return Fail(401, "invalid_request_error", "invalid_api_key")


def size_error() -> Fail:
    """The body is too large."""
    return Fail(413, "invalid_request_error", "request_too_large")


def image_error() -> Fail:
    """A picture that only this provider cannot read. Source: C04."""
    return Fail(400, "invalid_request_error", "image_parse_error", "Could not process image.")


def when(wanted: Step, last_user: str | None = None, anywhere: str | None = None) -> Step:
    """The same step for such requests only."""
    return replace(wanted, when=Match(last_user, anywhere))
