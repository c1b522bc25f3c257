"""When a run counts as dead. Source: FAIL-1, FAIL-2, FAIL-3."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from clankie_settings import bounds

Verdict = Literal["alive", "stalled"]


@dataclass(frozen=True, slots=True)
class Limits:
    """``silence`` bounds a run without any event; ``bytes`` bounds one that only receives bytes; all as durations."""

    silence: timedelta = bounds.STALL_AFTER
    bytes: timedelta = bounds.BYTES_HOLD
    tick: timedelta = bounds.STALL_TICK


@dataclass(frozen=True, slots=True)
class Watch:
    """What the watchdog knows of a run; all on the clock that counts suspension.

    ``event`` and ``received`` are the last event and the last bytes, ``ticked`` the last reading of the clock.
    """

    event: timedelta
    received: timedelta
    ticked: timedelta


def watch(now: timedelta) -> Watch:
    """A run that begins now."""
    return Watch(now, now, now)


def limits(silence: timedelta) -> Limits:
    """The limits that follow from a configured stall bound: bytes hold three times as long, five ticks at least."""
    return Limits(silence, silence * 3, min(bounds.STALL_TICK, silence / 5))


def share(most: timedelta, silence: timedelta) -> timedelta:
    """How long one call of a tool may take: ``most``, and less than the stall bound, however short that is."""
    return min(most, silence * bounds.TOOL_SHARE)


def tick(state: Watch, now: timedelta, limit: Limits) -> tuple[Watch, Verdict]:
    """Read the clock once.

    A tick that comes late means that the host slept: one more tick of awake time is given, in which a live
    stream shows itself, and then the rule applies.
    """
    slept = now - state.ticked > 2 * limit.tick
    ticked = replace(state, ticked=now)
    if slept:
        return ticked, "alive"
    silent = now - max(state.event, state.received)
    if silent >= limit.silence or now - state.event >= limit.bytes:
        return ticked, "stalled"
    return ticked, "alive"
