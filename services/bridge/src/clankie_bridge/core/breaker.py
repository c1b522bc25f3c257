"""When the bridge stops asking Discord because Discord says no too often. Source: C49."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from clankie_bridge.core.pace import ZERO

REFUSALS: Final = 1_000
"""Refused requests within ``SPAN`` at which it stops; Discord bans an address at 10,000. Source: C49."""

SPAN: Final = timedelta(minutes=10)
"""The span in which Discord counts refused requests. Source: Discord's documentation."""

HELD_FOR: Final = timedelta(minutes=10)
"""How long nothing is asked then: as long as Discord remembers what it refused. Source: C49."""

_SLICE: Final = timedelta(minutes=1)
_COUNTED: Final = frozenset({401, 403, 429})


@dataclass(frozen=True, slots=True)
class Breaker:
    """Refusals by slice of a minute on the clock of elapsed time, and the instant until which nothing is asked."""

    slices: tuple[tuple[int, int], ...] = ()
    until: timedelta = ZERO

    def after(self, status: int, now: timedelta, *, shared: bool = False) -> "Breaker":
        """The breaker after an answer; a limit that is ``shared`` with others is not held against the bot."""
        if status not in _COUNTED or shared:
            return self
        present = now // _SLICE
        counts = dict(self.slices)
        counts[present] = counts.get(present, 0) + 1
        # A slice counts until the last of its minute is out of the span.
        kept = tuple((at, count) for at, count in counts.items() if (at + 1) * _SLICE > now - SPAN)
        if sum(count for _, count in kept) < REFUSALS:
            return replace(self, slices=kept)
        return Breaker((), now + HELD_FOR)

    def wait(self, now: timedelta) -> timedelta:
        """How long nothing may be asked from now on."""
        return max(self.until - now, ZERO)
