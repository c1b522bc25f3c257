"""What a run is given, what it reports, and how it ends."""

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

from clankie_captain.core.exhibits import Exhibit
from clankie_captain.core.servers import ServerTool
from clankie_settings.ids import DeliveryId, LaneId, RunId
from clankie_settings.wire.attachment import Artifact
from clankie_settings.wire.failure import FailureCode

EntryKind = Literal["request", "response", "notes"]
"""An entry that the model is shown: what was sent to it, what it answered, or notes in place of older entries."""

UpdateFate = Literal["posted", "refused", "unknown"]
"""What became of mid-turn words: in the room, not in the room, or nobody knows and it must not be repeated."""


@dataclass(frozen=True, slots=True)
class UpdateOutcome:
    """The fate of mid-turn words; ``reason`` is a sentence for the model where they were refused. Source: ROOM-3."""

    fate: UpdateFate
    reason: str = ""


def room_refused(code: str | None) -> str:
    """The reason of words that the room did not take; ``code`` is that of their receipt."""
    return f"the room: {code}"


@dataclass(frozen=True, slots=True)
class CallResult:
    """A call's result as it was kept when its tool had ended; ``payload`` is the agent's own JSON. Source: DUR-2."""

    payload: str


CallEnd = CallResult | UpdateOutcome
"""What is known of a call that no request answers: its result, or the fate of the words that it sent."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a lane's history as the model is shown it; ``payload`` is the agent's own JSON.

    ``seq`` counts within the lane; entries of a lane are ordered by it.
    """

    seq: int
    run: RunId
    kind: EntryKind
    payload: str


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry that is not stored yet."""

    kind: EntryKind
    payload: str


@dataclass(frozen=True, slots=True)
class Words:
    """A delivery's words as the model will read them, fenced and framed, and the pictures that follow them.

    Source: CTX-4, IMG-6.
    """

    delivery: DeliveryId
    text: str
    exhibits: tuple[Exhibit, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """What one stretch of a run starts with.

    ``words`` is empty where the history ends in a request that was never answered: the run continues there.
    ``instructions`` is the stable system part of the lane. ``tools`` names the tools that are offered, in their order;
    ``served`` holds those of servers that are known to the run.
    """

    lane: LaneId
    run: RunId
    instructions: str
    history: tuple[Entry, ...]
    words: tuple[Words, ...]
    tools: tuple[str, ...] = ()
    served: tuple[ServerTool, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and calls of some model requests; ``input_tokens`` includes the cached ones. Source: OPS-6."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0
    tool_calls: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.requests + other.requests,
            self.tool_calls + other.tool_calls,
        )

    def to_json(self) -> str:
        """The counts as one JSON object."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Answered:
    """The run's last response held this text; None or blank where the model wrote nothing. Source: LANE-15, ART-2.

    ``artifacts`` are what its tools made for the reply.
    """

    text: str | None
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """The run cannot go on. Source: FAIL-4.

    ``cause`` is the class of the error, for logs; ``words`` are the provider's own, or what the model had half
    written, for the transcript alone.
    """

    code: FailureCode
    cause: str = ""
    words: str = field(default="", repr=False)


Finish = Answered | Broken
"""How one stretch of a run ended."""
