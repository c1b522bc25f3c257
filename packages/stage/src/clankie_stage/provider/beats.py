"""What an answer is made of, independent of any provider's wire shape.

A step is a list of beats that are played in order. Headers leave with the first beat that writes, so a gate
or a pause at the front holds back even these, and ``Open`` sends them alone.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

FinishReason: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter", "model_context_window_exceeded"]


@dataclass(frozen=True, slots=True)
class Open:
    """Send status and headers now, and nothing else."""


@dataclass(frozen=True, slots=True)
class Say:
    """One delta of answer text; it may hold an unpaired surrogate."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """One delta of visible reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Decline:
    """One delta of a refusal, in the field that the wire has for it."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; its JSON arguments arrive in these pieces, which need not be valid."""

    name: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """The provider's own search: pages by title and address, or the code of a search that failed."""

    query: str
    pages: tuple[tuple[str, str], ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Ping:
    """Bytes that mean nothing: ``count`` comments, ``every_s`` seconds apart; 0 goes on until hang-up."""

    count: int = 1
    every_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Pause:
    """Let so many seconds pass, times the provider's pace."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Wait until the named barrier is opened; whoever steers the test sees the arrival."""

    name: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Do nothing more until the client hangs up."""


@dataclass(frozen=True, slots=True)
class Fail:
    """An error: the HTTP answer when nothing was written yet, else an error event in the open stream."""

    status: int
    type: str
    code: str | None = None
    message: str = "The scripted error."
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class End:
    """Close the answer properly, but without any terminal event."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The terminal event: why the model stopped, then usage where it was asked for."""

    reason: FinishReason = "stop"


Beat: TypeAlias = (
    Open | Say | Think | Decline | Call | Search | Ping | Pause | Gate | Hold | Fail | End | Finish
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Match:
    """Which request a step is for; every part that is set must hold.

    Attributes:
        last_user: Part of the text of the newest user message.
        anywhere: Part of the text of any message: a lane's marker, for instance.
        model: The exact model name.
    """

    last_user: str | None = None
    anywhere: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """How one request is answered.

    Attributes:
        beats: Played in order; after the last the answer is closed without a terminal event.
        when: Which request may take this step.
        cut_after: Abort the connection after so many bytes of the response body.
        label: A name for records.
    """

    beats: tuple[Beat, ...]
    when: Match = Match()
    cut_after: int | None = None
    label: str = ""
