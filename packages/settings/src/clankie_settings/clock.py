"""The only door to time and to fresh ids, so that tests can hold both."""

import asyncio
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, elapsed time for decisions."""

    def now(self) -> datetime:
        """The wall clock as an aware UTC timestamp; it may jump, so nothing is decided by it alone."""
        ...

    def elapsed(self) -> timedelta:
        """Time since some fixed instant that counts suspension and ignores steps. Source: FAIL-2."""
        ...

    async def sleep(self, duration: timedelta) -> None:
        """Let ``duration`` of awake time pass."""
        ...


class Ids(Protocol):
    """Fresh identifiers."""

    def new(self, kind: str) -> str:
        """A never repeated id that begins with ``kind`` and an underscore."""
        ...


class SystemClock:
    """The machine's clocks."""

    def __init__(self) -> None:
        # CLOCK_BOOTTIME goes on while the host sleeps; where there is none, monotonic is the nearest.
        self._source = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

    def now(self) -> datetime:
        """The wall clock as an aware UTC timestamp."""
        return datetime.now(UTC)

    def elapsed(self) -> timedelta:
        """Time since boot, suspension included."""
        return timedelta(microseconds=time.clock_gettime_ns(self._source) // 1_000)

    async def sleep(self, duration: timedelta) -> None:
        """Let ``duration`` of awake time pass on the running event loop."""
        await asyncio.sleep(duration.total_seconds())


class RandomIds:
    """Random ids, 128 bits each."""

    def new(self, kind: str) -> str:
        """A fresh id such as ``run_1f0c…``."""
        return f"{kind}_{uuid.uuid4().hex}"
