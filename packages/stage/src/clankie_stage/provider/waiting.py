"""Waiting for a condition instead of for time."""

import asyncio
from collections.abc import Callable


class Bell:
    """Wakes everyone who waits for a condition whenever something changed."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def ring(self) -> None:
        """Say that something changed; waiters look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, holds: Callable[[], bool], within_s: float | None = None) -> None:
        """Return once ``holds`` is true.

        Raises:
            TimeoutError: ``within_s`` seconds passed first.
        """
        async with asyncio.timeout(within_s):
            while not holds():
                await self._changed.wait()


class Barriers:
    """Named places where an answer waits until a test lets it go on. An open barrier stays open."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._arrivals: dict[str, int] = {}
        self._opened: set[str] = set()

    def open(self, name: str) -> None:
        """Let everyone pass who waits there, or ever will."""
        self._opened.add(name)
        self._bell.ring()

    def arrivals(self, name: str) -> int:
        """How many answers have come to the barrier so far, passed ones included."""
        return self._arrivals.get(name, 0)

    async def reach(self, name: str) -> None:
        """Arrive, and wait until the barrier is open."""
        self._arrivals[name] = self.arrivals(name) + 1
        self._bell.ring()
        await self._bell.until(lambda: name in self._opened)

    def reset(self) -> None:
        """Forget all arrivals, and close all barriers."""
        self._arrivals.clear()
        self._opened.clear()
