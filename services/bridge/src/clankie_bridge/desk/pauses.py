"""Waiting for something that may come, but not for longer than a while."""

import asyncio
from datetime import timedelta

from clankie_settings.clock import Clock


async def pause(clock: Clock, longest: timedelta, stirred: asyncio.Event) -> None:
    """Wait until ``stirred`` is set, or until ``longest`` has passed."""
    sleeping = asyncio.ensure_future(clock.sleep(longest))
    stirring = asyncio.ensure_future(stirred.wait())
    try:
        await asyncio.wait({sleeping, stirring}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleeping.cancel()
        stirring.cancel()
        await asyncio.gather(sleeping, stirring, return_exceptions=True)
