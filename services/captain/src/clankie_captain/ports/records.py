"""Where what happened is written down and counted."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from clankie_captain.core.compaction import CompactionOutcome
from clankie_captain.core.exhibits import PictureCounts
from clankie_captain.core.run import (
    Usage,
)
from clankie_captain.core.turns import (
    LiveRun,
)


class CompactionLog(Protocol):
    """Where compactions are counted."""

    def compacted(self, outcome: CompactionOutcome, usage: Usage) -> None:
        """Count one that has ended."""
        ...


@dataclass(frozen=True, slots=True)
class SettledRun:
    """What ``turn-settled.jsonl`` says of a run; ids, codes, counts and durations only. Source: OPS-6."""

    run: LiveRun
    outcome: str
    absorbed: int
    usage: Usage
    context_start: int
    context_end: int
    events: int
    waited: timedelta
    took: timedelta
    at: datetime
    pictures: PictureCounts = field(default_factory=PictureCounts)


class TurnLog(Protocol):
    """Where settled runs are written down."""

    async def settled(self, record: SettledRun) -> None:
        """Write one line. Never raises: a log that cannot be written costs the line, not the turn."""
        ...
