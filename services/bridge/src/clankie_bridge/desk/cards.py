"""A turn's tool-activity card: one message that comes late, changes seldom and goes with the turn. Source: ROOM-4."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import assert_never

from clankie_bridge.core import card
from clankie_bridge.core.card import Card, Later, Remove, Rest, Seek, Write
from clankie_bridge.core.crash_points import CARD_SHOWN
from clankie_bridge.core.nonce import nonce
from clankie_bridge.desk.pauses import pause
from clankie_bridge.desk.room import Delivery, Room
from clankie_bridge.desk.sweeping import Sweeping
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.ports import Surface
from clankie_settings.clock import Clock
from clankie_settings.crashing import Crash
from clankie_settings.wire.action import ToolActivity


class Cards:
    """Shows the cards of all turns, each from a task of its own that no turn waits for."""

    def __init__(
        self,
        *,
        surface: Surface,
        sweeping: Sweeping,
        switch: Callable[[Room], bool],
        tasks: Tasks,
        crash: Crash,
        clock: Clock,
    ) -> None:
        self._surface = surface
        self._sweeping = sweeping
        self._switch = switch
        self._tasks = tasks
        self._crash = crash
        self._clock = clock
        self._stirred: dict[str, asyncio.Event] = {}

    def heard(self, delivery: Delivery, activity: ToolActivity) -> None:
        """He works in tools for a delivery; only the latest counts."""
        if delivery.settled is not None or delivery.sending or not self._switch(delivery.room):
            return
        known = delivery.card or Card(self._clock.elapsed() - timedelta(seconds=activity.elapsed_s))
        delivery.card = known.heard(activity.categories)
        self._follow(delivery)

    def end(self, delivery: Delivery) -> None:
        """The turn has ended, or wants nothing shown any more."""
        if delivery.card is not None and not delivery.card.over:
            delivery.card = delivery.card.ended()
            self._follow(delivery)

    def left(self, delivery: Delivery) -> None:
        """A turn of an earlier life has ended, which may have shown a card at its last moment. Source: ROOM-4."""
        self._sweeping.behind(delivery.room, delivery.message_id)

    @property
    def are_quiet(self) -> bool:
        """Whether no card is being written or taken away."""
        return not self._stirred

    def _follow(self, delivery: Delivery) -> None:
        stirred = self._stirred.get(delivery.id)
        if stirred is not None:
            stirred.set()
            return
        self._stirred[delivery.id] = asyncio.Event()
        self._tasks.spawn(self._kept(delivery), "card")

    async def _kept(self, delivery: Delivery) -> None:
        try:
            while delivery.card is not None and await self._step(delivery, delivery.card):
                pass
        finally:
            del self._stirred[delivery.id]

    async def _step(self, delivery: Delivery, known: Card) -> bool:
        """One step of a card; whether there may be another."""
        now, stirred = self._clock.elapsed(), self._stirred[delivery.id]
        stirred.clear()
        due = card.step(known, now)
        match due:
            case Rest():
                return False
            case Later(at):
                await pause(self._clock, at - now, stirred)
            case Write(text):
                await self._write(delivery, known, text)
                self._crash.reach(CARD_SHOWN)
            case Remove(message_id):
                self._keep(delivery, known.shown or "", None)
                if not await self._surface.remove(delivery.room.channel_id, message_id):
                    self._sweeping.take(delivery.room, message_id)
            case Seek():
                self._keep(delivery, known.shown or "", None)
                self._sweeping.behind(delivery.room, delivery.message_id)
            case _:
                assert_never(due)
        return True

    async def _write(self, delivery: Delivery, known: Card, text: str) -> None:
        channel_id, message_id = delivery.room.channel_id, known.message_id
        if message_id is not None:
            is_there = await self._surface.change(channel_id, message_id, text)
            self._keep(delivery, text, message_id if is_there else None)
            return
        async with delivery.room.showing:
            shown = await self._surface.show(channel_id, text, nonce("card", channel_id, delivery.id, 1))
            self._keep(delivery, text, shown.message_id, doubtful=shown.doubtful)

    def _keep(self, delivery: Delivery, text: str, message_id: str | None, *, doubtful: bool = False) -> None:
        # What was heard while Discord answered stands beside it.
        if delivery.card is not None:
            delivery.card = delivery.card.written(text, self._clock.elapsed(), message_id, doubtful=doubtful)
