"""Discord's rate limits: a bucket per route and room, a global one, and the headers that tell of them."""

import hashlib
import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from clankie_settings.clock import Clock
from clankie_stage.discord.behaviour import Behaviour

DEFAULT_LIMIT = (50, 1.0)
"""Requests, and seconds they refill in, of a route without a limit of its own."""

WITHOUT_HEADERS = frozenset({"/gateway", "/gateway/bot"})
"""Routes that Discord does not limit by bucket."""

KEPT_BUCKETS = 10_000
"""At this many buckets the full ones are dropped; a dropped one is simply full again."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request may pass, with the headers that its answer carries either way.

    Attributes:
        retry_after: seconds to wait when it may not pass, else None.
        scope: whose limit it hit.
    """

    headers: dict[str, str]
    retry_after: float | None = None
    scope: Literal["user", "global"] = "user"

    def payload(self) -> dict[str, Any]:
        """The body of the 429."""
        return {
            "message": "You are being rate limited.",
            "retry_after": round(self.retry_after or 0.0, 3),
            "global": self.scope == "global",
        }


@dataclass(slots=True)
class RateLimits:
    """GCRA: a bucket is one instant, the one at which it will be full again."""

    clock: Clock
    behaviour: Behaviour
    _full_at: dict[str, float] = field(default_factory=dict[str, float])

    def clear(self) -> None:
        """Fill every bucket."""
        self._full_at.clear()

    def judge(self, method: str, template: str, major: str) -> Verdict:
        """Count a request against its bucket and the global one, unless either is empty."""
        if template in WITHOUT_HEADERS or not self.behaviour.rate_limits:
            return Verdict({})
        now = self.clock.elapsed().total_seconds()
        name = f"{method} {template}"
        limit, per = self.behaviour.bucket_limits.get(name, DEFAULT_LIMIT)
        key = f"{name} {major}"
        wait = self._wait("global", self.behaviour.global_limit, 1.0, now)
        if wait is not None:
            return Verdict(
                {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global", **_refused(wait)}, wait, "global"
            )
        wait = self._wait(key, limit, per, now)
        if wait is None:
            self._take("global", self.behaviour.global_limit, 1.0, now)
            self._take(key, limit, per, now)
        headers = self._headers(name, key, (limit, per), now)
        if wait is None:
            return Verdict(headers)
        return Verdict({**headers, "X-RateLimit-Remaining": "0", "X-RateLimit-Scope": "user", **_refused(wait)}, wait)

    def _wait(self, key: str, limit: int, per: float, now: float) -> float | None:
        """Seconds until the bucket takes one more, or None when it does now."""
        over = max(self._full_at.get(key, now), now) + per / limit - now - per
        return over if over > 1e-9 else None

    def _take(self, key: str, limit: int, per: float, now: float) -> None:
        if len(self._full_at) >= KEPT_BUCKETS:
            self._full_at = {each: full for each, full in self._full_at.items() if full > now}
        self._full_at[key] = max(self._full_at.get(key, now), now) + per / limit

    def _headers(self, name: str, key: str, limit: tuple[int, float], now: float) -> dict[str, str]:
        count, per = limit
        reset_after = max(self._full_at.get(key, now) - now, 0.0)
        reset: datetime = self.clock.now() + timedelta(seconds=reset_after)
        return {
            "X-RateLimit-Limit": str(count),
            "X-RateLimit-Remaining": str(max(math.floor((per - reset_after) / per * count + 1e-6), 0)),
            "X-RateLimit-Reset": f"{reset.timestamp():.3f}",
            "X-RateLimit-Reset-After": f"{reset_after:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(name.encode()).hexdigest()[:32],
        }


def _refused(wait: float) -> dict[str, str]:
    # Discord's own 429s pass a proxy; clients take one without Via for a ban by the edge.
    return {"Retry-After": str(math.ceil(wait)), "Via": "1.1 stage"}
