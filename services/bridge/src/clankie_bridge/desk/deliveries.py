"""The deliveries that are under way."""

import asyncio
import itertools
from collections.abc import Iterator
from typing import Final

from clankie_bridge.desk.room import Delivery, Room
from clankie_settings.wire.trigger import Trigger

UNDER_WAY: Final = 1_000
"""Deliveries that may be under way at once; the messages behind them wait in their rooms."""


class Deliveries:
    """Deliveries by id, from just before they are handed over until nothing is owed for them."""

    def __init__(self) -> None:
        self._open: dict[str, Delivery] = {}
        self._free = asyncio.Event()
        self._free.set()

    def __contains__(self, delivery_id: str) -> bool:
        return delivery_id in self._open

    def get(self, delivery_id: str) -> Delivery | None:
        """The delivery with this id, while it is under way."""
        return self._open.get(delivery_id)

    def __iter__(self) -> Iterator[Delivery]:
        return iter([*self._open.values()])

    def before(self, delivery: Delivery) -> tuple[Delivery, ...]:
        """The deliveries of the same room that were accepted earlier and are still under way, oldest first."""
        if self._open.get(delivery.id) is not delivery:
            return ()
        earlier = itertools.takewhile(lambda each: each is not delivery, self._open.values())
        return tuple(each for each in earlier if each.room is delivery.room)

    @property
    def are_done(self) -> bool:
        """Whether nothing is under way: no result is waited for, and no reply. Source: DUR-5."""
        return not self._open

    @property
    def are_quiet(self) -> bool:
        """Whether no reply is on its way into a room."""
        return not any(delivery.sending for delivery in self._open.values())

    async def place(self) -> None:
        """Wait until one more may be under way."""
        await self._free.wait()

    def open(self, delivery_id: str, message_id: str, room: Room, trigger: Trigger | None) -> Delivery:
        """Begin to follow a delivery."""
        addressed = trigger is not None and trigger.addressed
        delivery = self._open[delivery_id] = Delivery(delivery_id, message_id, room, trigger, addressed=addressed)
        room.open += 1
        if len(self._open) >= UNDER_WAY:
            self._free.clear()
        return delivery

    def close(self, delivery: Delivery) -> None:
        """Nothing more is to be done for it."""
        delivery.stop_typing()
        delivery.closed.set()
        if self._open.pop(delivery.id, None) is not None:
            delivery.room.open -= 1
        if len(self._open) < UNDER_WAY:
            self._free.set()
