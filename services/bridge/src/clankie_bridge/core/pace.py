"""How fast to act on others: send rates, and waits between attempts. Source: OUT-2."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

ZERO: Final = timedelta()


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``burst`` acts at once, and one more each ``every``."""

    burst: int
    every: timedelta


@dataclass(frozen=True, slots=True)
class Bucket:
    """A rate and the instant until which it is used up, on the clock of elapsed time."""

    rate: Rate
    used_until: timedelta = ZERO

    def take(self, now: timedelta) -> tuple["Bucket", timedelta]:
        """The bucket after one more act, and how long that act has to wait."""
        until = max(self.used_until, now) + self.rate.every
        wait = until - now - self.rate.every * self.rate.burst
        return replace(self, used_until=until), max(wait, ZERO)

    def held(self, now: timedelta, wait: timedelta) -> "Bucket":
        """The bucket after somebody else said to wait."""
        spent = now + wait + self.rate.every * (self.rate.burst - 1)
        return replace(self, used_until=max(self.used_until, spent))


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that double from ``first`` up to ``longest``."""

    first: timedelta
    longest: timedelta

    def wait(self, attempt: int, jitter: float) -> timedelta:
        """The wait after the attempt with this number (from 0); ``jitter`` in 0..1 takes up to half of it away."""
        doubled = min(self.first * 2 ** min(attempt, 30), self.longest)
        return doubled * (1 - jitter / 2)
