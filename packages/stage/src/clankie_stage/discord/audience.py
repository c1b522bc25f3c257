"""Whoever watches the rooms live: the page, or a test that wants the same stream."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from clankie_stage.discord.changes import Changes
from clankie_stage.discord.world import Json

PENDING_SIGHTS = 1_000
"""Events that may wait for one watcher; beyond it the watcher is told to look at everything anew."""


@dataclass(slots=True)
class Audience:
    """Tells every watcher what is seen in the rooms."""

    changes: Changes
    _watchers: set[asyncio.Queue[Json]] = field(default_factory=set[asyncio.Queue[Json]])

    def show(self, sight: str, **details: object) -> None:
        """Tell of something that can be seen; ``sight`` names it."""
        for watcher in self._watchers:
            if watcher.full():
                while not watcher.empty():
                    watcher.get_nowait()
                watcher.put_nowait({"sight": "reload"})
            else:
                watcher.put_nowait({"sight": sight, **details})
        self.changes.announce()

    def dismiss(self) -> None:
        """Tell every watcher that there is nothing more to see."""
        for watcher in self._watchers:
            while not watcher.empty():
                watcher.get_nowait()
            watcher.put_nowait({"sight": "end"})

    @contextmanager
    def watching(self) -> Generator[asyncio.Queue[Json]]:
        """A queue of what is seen from now on."""
        watcher: asyncio.Queue[Json] = asyncio.Queue(PENDING_SIGHTS)
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)
