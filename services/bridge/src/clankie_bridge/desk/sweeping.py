"""Cards that nobody looks after are sought in a room's history, and taken away. Source: ROOM-4."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from clankie_bridge.core import card
from clankie_bridge.core.message import Message
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.room import Room
from clankie_bridge.discord.pages import DiscordPages
from clankie_bridge.log import place_of
from clankie_bridge.ports import Log, Surface

WAITING: Final = 2_000
"""Rooms to look through, and cards to take away, that may wait; what is beyond them is left to the next life."""

TRIED: Final = 20
"""How often a card is tried to be taken away, each time a few times, before it is left."""

_ATTEMPTS: Final = 20


@dataclass(frozen=True, slots=True)
class _Look:
    """Look through one page of a room, next to a message."""

    room: Room
    side: Literal["after", "before"]
    message_id: str


@dataclass(frozen=True, slots=True)
class _Take:
    """Take a card away, unless it is one of this life; ``tried`` is how often that failed."""

    room: Room
    card_id: str
    tried: int = 0


class Sweeping:
    """Does one thing after the other; nothing waits for it."""

    def __init__(self, *, pages: DiscordPages, surface: Surface, deliveries: Deliveries, bot_id: str, log: Log) -> None:
        self._pages = pages
        self._surface = surface
        self._deliveries = deliveries
        self._bot_id = bot_id
        self._log = log
        self._waiting: asyncio.Queue[_Look | _Take] = asyncio.Queue(WAITING)

    def up_to(self, room: Room, message_id: str) -> None:
        """Seek what an earlier life left in front of a message, once in this life. Source: ROOM-4."""
        if not room.swept:
            room.swept = True
            self._put(_Look(room, "before", message_id))

    def behind(self, room: Room, message_id: str) -> None:
        """Seek what may have been left behind the message of a turn. Source: ROOM-4."""
        self._put(_Look(room, "after", message_id))

    def found(self, room: Room, messages: Iterable[Message]) -> None:
        """Take the cards among these away whose turns nobody here shows. Source: ROOM-4."""
        for each in messages:
            if each.author.id == self._bot_id and card.is_card(each.content):
                self._put(_Take(room, each.id))

    def take(self, room: Room, card_id: str) -> None:
        """Take a card away that would not go. Source: ROOM-4."""
        self._put(_Take(room, card_id))

    async def run(self) -> None:
        """Sweep for as long as the bridge lives."""
        while True:
            work = await self._waiting.get()
            try:
                await self._do(work)
            except Exception as error:  # noqa: BLE001 -- one room's fault must not hold up the others
                self._log.error("sweep_failed", kind=type(error).__name__, where=place_of(error))

    async def _do(self, work: _Look | _Take) -> None:
        match work:
            case _Look(room, side, message_id):
                page = await self._pages.read(room.channel_id, room.guild_id, side, message_id, _ATTEMPTS)
                self.found(room, page.messages if page is not None else ())
            case _Take(room, card_id, tried):
                if not await self._is_gone(room, card_id):
                    self._put(_Take(room, card_id, tried + 1))
            case _:
                assert_never(work)

    async def _is_gone(self, room: Room, card_id: str) -> bool:
        """Whether a card is away, or is looked after."""
        # One that is being shown at this moment would be taken for left: its id is known only afterwards.
        async with room.showing:
            shown = {each.card.message_id for each in self._deliveries if each.card is not None}
        return card_id in shown or await self._surface.remove(room.channel_id, card_id)

    def _put(self, work: _Look | _Take) -> None:
        if self._waiting.full() or (isinstance(work, _Take) and work.tried >= TRIED):
            self._log.error("card_left", room=work.room.channel_id)
            return
        self._waiting.put_nowait(work)
