"""Waiting for something to become true on the stage, without polling and without sleeping."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Tells waiters that something changed; they look again whether it is what they wait for."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    def announce(self) -> None:
        """Something changed: let every waiter look again."""
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def until(self, look: Callable[[], T | None], within_s: float) -> T:
        """What ``look`` returns once that is neither None nor False.

        Raises:
            TimeoutError: it did not come about within ``within_s`` seconds.
        """
        async with asyncio.timeout(within_s):
            while True:
                found = look()
                if found is not None and found is not False:
                    return found
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.add(waiter)
                try:
                    await waiter
                finally:
                    self._waiters.discard(waiter)
