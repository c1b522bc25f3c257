"""A full disk passes, and a run is worth more than the wait for it. Source: DUR-3."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeVar

from clankie_captain.errors import StoreFullError
from clankie_settings.clock import Clock

PAUSE: Final = timedelta(seconds=1)
"""Between two looks for room."""

T = TypeVar("T")


async def kept(step: Callable[[], Awaitable[T]], clock: Clock) -> T:
    """What the step gives, once there is room for what it writes; the run's watchdog bounds the wait."""
    while True:
        try:
            return await step()
        except StoreFullError:
            await clock.sleep(PAUSE)
