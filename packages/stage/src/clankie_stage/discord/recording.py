"""A record of everything that was asked of the stage and everything the gateway said."""

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Any, Literal, cast

from clankie_settings.clock import Clock
from clankie_stage.discord.changes import Changes
from clankie_stage.discord.world import Json

KEPT_ENTRIES = 20_000
"""The oldest entries beyond this many are forgotten."""

Kind = Literal["rest", "cdn", "gateway_in", "gateway_out", "gateway_open", "gateway_close"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened.

    Attributes:
        index: rises by one per entry, from 1, also over a reset.
        at: seconds since the stage started.
        kind: ``rest`` and ``cdn`` are requests when they were answered; ``gateway_in`` came from the bot.
        what: for requests ``method, path, route, query, body, files, status, answer, started_at``, and
            ``fault`` when one struck; for frames ``session, op, t, s, d``; for closes ``code``.
    """

    index: int
    at: float
    kind: Kind
    what: Json

    def payload(self) -> Json:
        """The entry as one JSON object."""
        return asdict(self)


class Recording:
    """The newest entries, and waiting for ones to come."""

    def __init__(self, clock: Clock, changes: Changes) -> None:
        self._clock = clock
        self._changes = changes
        self._began = clock.elapsed()
        self._entries: deque[Entry] = deque(maxlen=KEPT_ENTRIES)
        self._last = 0

    def now(self) -> float:
        """Seconds since the stage started, the scale of ``Entry.at``."""
        return (self._clock.elapsed() - self._began).total_seconds()

    @property
    def last(self) -> int:
        """The index of the newest entry; 0 before the first."""
        return self._last

    def add(self, kind: Kind, what: Json) -> None:
        """Note what happened."""
        self._last += 1
        self._entries.append(Entry(self._last, self.now(), kind, what))
        self._changes.announce()

    def clear(self) -> None:
        """Forget all entries; indexes go on."""
        self._entries.clear()

    def matching(self, match: Json, after: int = 0) -> list[Entry]:
        """Entries beyond index ``after`` that fit ``match``; see `fits`."""
        return list(self._matching(match, after))

    def _matching(self, match: Json, after: int) -> Iterator[Entry]:
        kind = match.get("kind", "*")
        wanted = {key: value for key, value in match.items() if key != "kind"}
        # Waiters look at every change, so only what is newer than `after` may cost anything.
        newer = list(takewhile(lambda entry: entry.index > after, reversed(self._entries)))
        for entry in reversed(newer):
            if fnmatchcase(entry.kind, kind) and fits(wanted, entry.what):
                yield entry


def fits(wanted: Any, found: Any) -> bool:
    """Whether ``found`` has at least what is wanted.

    Objects need the wanted keys, strings are matched as shell patterns, everything else must be equal.
    """
    if isinstance(wanted, dict):
        keys = cast("Json", wanted)
        return isinstance(found, dict) and all(key in found and fits(keys[key], found[key]) for key in keys)
    if isinstance(wanted, str):
        return isinstance(found, str) and (wanted == found or fnmatchcase(found, wanted))
    return wanted == found
