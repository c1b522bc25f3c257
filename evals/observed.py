"""What was seen of one performance of a case: the eval's own words and figures. Source: LOOP-8."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Mode = Literal["one_shot", "lane", "loop"]

MODES: tuple[Mode, ...] = ("one_shot", "lane", "loop")
"""A lane for each message; one for a room, which anybody steers (ADR 0118); one in which speakers take turns (0291)."""


class _Seen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class End(_Seen):
    """What became of a message: its state, whose run answered it, his words, the failure."""

    state: Literal["replied", "absorbed", "silent", "failed"]
    by: str | None = None
    text: str | None = None
    code: str | None = None


class Posted(_Seen):
    """A message of his: its words, and the label of the message that it shows as answered."""

    text: str
    to: str | None = None


class Run(_Seen):
    """One line of ``turn-settled.jsonl``; tokens of all its requests, the cached ones among ``input``."""

    input: int
    output: int
    cached: int
    context: int


class Observed(_Seen):
    """One performance.

    Attributes:
        ends: By label.
        posted: His messages in the room, oldest first.
        tools: The tools that were called.
        latencies_ms: From message to reply, from the reply receipts.
        runs: What settled in the room.
        fault: Why it came to no end; everything else is what was there by then.
    """

    ends: dict[str, End]
    posted: tuple[Posted, ...] = ()
    tools: tuple[str, ...] = ()
    latencies_ms: tuple[int, ...] = ()
    runs: tuple[Run, ...] = ()
    fault: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """His replies, in the order of what they answer."""
        return tuple(end.text for end in self.ends.values() if end.state == "replied" and end.text is not None)

    @property
    def replies(self) -> int:
        """How many replies the room got: those of the results, or more where one was posted twice."""
        again = sum(
            max(0, sum(each.text.strip() == text.strip() for each in self.posted) - 1) for text in {*self.texts}
        )
        same = len(self.texts) - len({*self.texts})
        return len(self.texts) + max(0, again - same)
