"""Words stand in a room in the order in which they settled, whichever are heard of first. Source: OUT-2."""

import asyncio
from datetime import timedelta
from typing import Final

from clankie_bridge.captain.patience import Patience
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.pauses import pause
from clankie_bridge.desk.room import Delivery
from clankie_bridge.errors import CaptainError
from clankie_bridge.ports import Captain
from clankie_settings.clock import Clock

ASKED_AGAIN_EVERY: Final = timedelta(seconds=5)
"""How often the captain is asked again while an earlier result that it has is not heard of here."""

AWAY_FOR: Final = timedelta(seconds=15)
"""How long a captain that is away is waited for: it is back in less after a restart."""


class Order:
    """Lets earlier words go first, for as long as a captain is there that knows of them."""

    def __init__(self, *, captain: Captain, patience: Patience, deliveries: Deliveries, clock: Clock) -> None:
        self._captain = captain
        self._patience = patience
        self._deliveries = deliveries
        self._clock = clock

    async def earlier_said(self, delivery: Delivery) -> None:
        """Wait for words of the same room that settled before these, although these were heard of first.

        Each delivery is waited for by itself, and a lost connection or a pause may let a later one hear first. A lane
        settles in the order in which it accepted: what has no result by now is of another, and is not waited for.

        Source: OUT-2.
        """
        while unheard := [each for each in self._deliveries.before(delivery) if each.settled is None]:
            settled = await self._settled()
            late = next((each for each in unheard if each.id in settled), None)
            if late is None:
                break
            await pause(self._clock, ASKED_AGAIN_EVERY, late.closed)
        for each in self._deliveries.before(delivery):
            if each.settled is not None:
                await each.closed.wait()

    async def _settled(self) -> set[str]:
        """Whose results the captain has; nobody's where it stays away: what is in hand must not wait for ever."""
        try:
            async with asyncio.timeout(AWAY_FOR.total_seconds()):
                owed = await self._patience.until_done(self._captain.owed)
        except (CaptainError, TimeoutError):
            return set()
        return {each.delivery_id for each in owed if each.result is not None}
