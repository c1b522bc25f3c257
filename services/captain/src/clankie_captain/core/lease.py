"""Which process of a presence is the only one. Source: C74, OUT-1."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Asking:
    """A process that asks for the lease; ``ttl`` of nothing gives it back."""

    instance: str
    ttl: timedelta
    listening: bool = False
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A lease.

    Attributes:
        holder: The process that has it, or had it last.
        fence: Grows whenever the lease changes hands.
        renewed_at: When the holder last asked.
        ttl: How long from then it is the holder's alone.
        listening_at: When any holder last said that nothing escapes it.
        missed_since: What ``listening_at`` was when this holder took the lease.
        last_action: The number of the last action that was given out before it did.
    """

    holder: str
    fence: int
    renewed_at: datetime
    ttl: timedelta
    listening_at: datetime | None = None
    missed_since: datetime | None = None
    last_action: int = 0

    def lives(self, now: datetime) -> bool:
        """Whether nobody else may take it.

        One that was renewed later than now is from before a step of the clock, and nobody can say how old it is.
        """
        return self.renewed_at <= now < self.renewed_at + self.ttl


def granted(held: Held | None, asking: Asking, now: datetime, last_action: int) -> Held | None:
    """The lease as it is the asking process's, or None where another one holds it.

    Source: C74.
    """
    if held is not None and held.holder == asking.instance:
        mine = held
    elif held is not None and held.holder != asking.replaces and held.lives(now):
        return None
    else:
        heard = held.listening_at if held is not None else None
        fence = held.fence + 1 if held is not None else 1
        mine = Held(asking.instance, fence, now, asking.ttl, heard, heard, last_action)
    listening_at = now if asking.listening else mine.listening_at
    return replace(mine, renewed_at=now, ttl=asking.ttl, listening_at=listening_at)
