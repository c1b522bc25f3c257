"""After a start: take up what the captain says is owed, before anything new. Source: decision 6."""

import asyncio
from collections.abc import Awaitable, Callable

from clankie_bridge.captain.patience import Patience
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.room import Rooms
from clankie_bridge.desk.waiting import Waiting
from clankie_bridge.errors import CaptainError
from clankie_bridge.ports import Captain, Log
from clankie_settings.wire.result import Pending


class Resumption:
    """Asks once; what is new waits for it."""

    def __init__(
        self,
        *,
        captain: Captain,
        patience: Patience,
        waiting: Waiting,
        deliveries: Deliveries,
        rooms: Rooms,
        log: Log,
        stands: Callable[[], Awaitable[object]],
    ) -> None:
        self._captain = captain
        self._patience = patience
        self._waiting = waiting
        self._deliveries = deliveries
        self._rooms = rooms
        self._log = log
        self._stands = stands
        self._taken_up = asyncio.Event()

    async def run(self) -> None:
        """Follow every delivery that is queued, running or not receipted."""
        await self._stands()
        try:
            owed = await self._patience.until_done(self._captain.owed)
        except CaptainError as error:
            self._log.error("owed_unknown", kind=type(error).__name__)
            owed = ()
        for each in owed:
            # Rooms elsewhere belong to whoever handed their messages over under this presence's token.
            if each.delivery_id in self._deliveries or each.room.platform != "discord":
                continue
            room = self._rooms.at(each.room.channel_id, each.room.guild_id)
            delivery = self._deliveries.open(each.delivery_id, each.message_id, room, None)
            delivery.attempted = delivery.accepted = delivery.inherited = True
            delivery.addressed, delivery.settled_at = each.addressed, each.settled_at
            answer = each.result or Pending(state="queued", delivery_id=each.delivery_id)
            self._waiting.finish(delivery, answer, each.parts_posted)
        if owed:
            self._log.info("taken_up", deliveries=len(owed))
        self._taken_up.set()

    async def taken_up(self) -> None:
        """Wait until what is owed was taken up."""
        await self._taken_up.wait()
