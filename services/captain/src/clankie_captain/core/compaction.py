"""When a lane's history is put together into notes, and which part of it. Source: CTX-7, C26, C09."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Literal

from clankie_captain.core.context import NOTES
from clankie_captain.core.quoting import block
from clankie_captain.core.run import Broken, Entry
from clankie_captain.core.turns import LiveRun
from clankie_settings.ids import LaneId, RunId
from clankie_settings.wire.trigger import Room

COMPACT_AT: Final = 0.75
"""Share of the limit at which an idle lane is compacted. Source: CTX-7."""

COMPACT_FIRST: Final = 0.9
"""Share of the limit at which even turns that wait let the compaction go first. Source: CTX-7."""

GROWTH: Final = 0.05
"""By what share of itself a history must grow before another try after one that gained nothing. Source: C09."""

KEPT: Final = 0.25
"""Share of the history's text that stays word for word, in whole runs, newest first."""

WORTH: Final = 0.25
"""Share of the history's text that must go into notes for it to be worth a request."""

READ: Final = 0.7
"""Share of the history's text that the writer of notes is shown at most, so that its request fits for certain."""

NOTES_TOKENS: Final = 4_096
"""Longest notes, in tokens."""

NOTES_CHARS: Final = 16_384
"""Longest notes, in characters."""

CompactionOutcome = Literal["compacted", "failed", "cancelled", "stalled", "pointless", "interrupted"]
"""How a compaction ended; only the first one changes the history."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """How many tokens a lane's requests may hold: the model's window, and what single rooms are given.

    ``rooms`` is keyed by ``guildId:channelId``.
    """

    window: int | None = None
    rooms: Mapping[str, int] = field(default_factory=dict[str, int])

    def of(self, room: Room) -> int | None:
        """The limit in a room; a thread has its parent's. None: nobody knows one."""
        own = (self.rooms.get(f"{room.guild_id}:{each}") for each in (room.channel_id, room.parent_id))
        known = [each for each in (self.window, next((each for each in own if each is not None), None)) if each]
        return min(known, default=None)


@dataclass(frozen=True, slots=True)
class Fill:
    """What a run says about its lane: tokens of its last request and answer (0: unknown), and their limit."""

    tokens: int = 0
    limit: int | None = None


EMPTY: Final = Fill()
"""What a run says that asked nothing, or whose limit nobody knows."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """How full a lane is known to be, in tokens; 0 where no run has told since its history became shorter.

    ``resume_at`` holds compaction back until the lane is that full; 0 after a compaction whose gain is not known yet.
    """

    tokens: int = 0
    resume_at: int | None = None


def read(gauge: Gauge, fill: Fill) -> Gauge:
    """The gauge after a run.

    A lane that is as full as before although it was just compacted (its system part alone may do that) is let be until
    it has grown, so that no message costs a compaction of its own.

    Source: C09.
    """
    if fill.limit is None or not fill.tokens:
        return gauge
    if fill.tokens < COMPACT_AT * fill.limit:
        return Gauge(fill.tokens)
    held = _grown(fill.tokens) if gauge.resume_at == 0 else gauge.resume_at
    return Gauge(fill.tokens, held)


def due(gauge: Gauge, limit: int | None, *, waiting: bool) -> bool:
    """Whether the lane is compacted now that its run has ended; ``waiting`` turns go first while there is room."""
    if limit is None or gauge.tokens < (gauge.resume_at or 0):
        return False
    return gauge.tokens >= (COMPACT_FIRST if waiting else COMPACT_AT) * limit


def relieved() -> Gauge:
    """The gauge of a lane that has just been compacted."""
    return Gauge(0, 0)


def put_off(gauge: Gauge) -> Gauge:
    """The gauge of a lane whose compaction came to nothing: it is not tried again until the lane has grown."""
    return Gauge(gauge.tokens, _grown(gauge.tokens))


def _grown(tokens: int) -> int:
    return tokens + max(1, round(GROWTH * tokens))


@dataclass(frozen=True, slots=True)
class Portion:
    """What goes into notes, and the place of the first entry that stays.

    ``chars`` bounds what the writer is shown, ``tokens`` what it may write.
    """

    entries: tuple[Entry, ...]
    kept_from: int
    chars: int
    tokens: int


def portion(history: Sequence[Entry], tokens: int) -> Portion | None:
    """The older part of a history of so many tokens; None where too little of it could go.

    The cut lies between two runs, so the part that stays begins with somebody's words. Earlier notes go into the new
    ones.
    """
    earlier = tuple(each for each in history if each.kind == "notes")
    lines = tuple(each for each in history if each.kind != "notes")
    runs = [tuple(run) for _, run in groupby(lines, lambda each: each.run)]
    whole = _weight(history)
    stays, kept_from = 0, lines[-1].seq + 1 if lines else 0
    while runs and stays + (newest := _weight(runs[-1])) <= KEPT * whole:
        stays += newest
        kept_from = runs.pop()[0].seq
    goes = tuple(each for run in runs for each in run)
    if _weight(goes) < WORTH * whole or not goes:
        return None
    return Portion((*earlier, *goes), kept_from, int(READ * whole), min(NOTES_TOKENS, max(256, tokens // 4)))


@dataclass(frozen=True, slots=True)
class Shorter:
    """The history goes on with notes in place of what lies before ``kept_from``.

    ``payload`` is the message that holds them, as the agent's own JSON.
    """

    kept_from: int
    payload: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The history stays as it is; ``broken`` says why, where the model is to blame."""

    outcome: CompactionOutcome
    broken: Broken | None = None


Compaction = Shorter | Unchanged
"""What a compaction came to."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction that has ended, and the run that follows at once."""

    outcome: CompactionOutcome
    follows: LiveRun | None


def _weight(entries: Sequence[Entry]) -> int:
    return sum(len(each.payload) for each in entries)


@dataclass(frozen=True, slots=True)
class Digest:
    """Entries that are to become notes: at most ``chars`` of them are shown to the writer, ``tokens`` bound its words.

    ``delimiter`` is random; it fences what the writer reads and what it has written.
    """

    lane: LaneId
    run: RunId
    entries: tuple[Entry, ...]
    chars: int
    tokens: int
    delimiter: str


def notes(text: str, delimiter: str) -> str:
    """Notes as the model reads them, between two lines that nothing in them can imitate. Source: CTX-4."""
    said = text.replace(delimiter, "").strip()[:NOTES_CHARS]
    return f"{NOTES}\n{block('notes', delimiter, ' from=yourself', said)}"
