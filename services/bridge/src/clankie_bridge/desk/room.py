"""What the bridge holds of a room while it runs; nothing of it is on disk."""

import asyncio
import heapq
import math
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final

from clankie_bridge.core.card import Card
from clankie_bridge.core.exchange import Exchange
from clankie_bridge.core.message import Message
from clankie_bridge.discord.normalize import Change
from clankie_settings import bounds
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from clankie_settings.wire.trigger import Trigger

WAITING_A_ROOM: Final = 200
"""Messages of one room that may wait for the captain; beyond them the newest are read up by history later."""

WAITING: Final = 5_000
"""Messages of all rooms that may wait for the captain."""

_ROOMS: Final = 1_000
_WINDOW: Final = bounds.CONTEXT_MESSAGES + 4


@dataclass(frozen=True, slots=True)
class Said:
    """An admitted message, and when it came, on the clock of elapsed time."""

    message: Message
    at: timedelta


@dataclass(frozen=True, slots=True)
class CatchUp:
    """It is time to hand over what waited for him in a room that he has drifted from."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A message that is no turn, but that a later turn may need to know."""

    message: Message


Item = Said | Talk | Change | CatchUp
"""What a room waits to work on: an admitted message, talk, a change of something said, or time to catch up."""


@dataclass(slots=True, eq=False)
class Delivery:
    """A delivery that the captain has, or is about to get, and whose outcome is not complete yet.

    Attributes:
        trigger: What is handed over; None for one that an earlier life of the bridge handed over.
        attempted: Whether the captain may have it: a hand-over may have reached it.
        accepted: Whether the captain surely has it.
        held_body: The words that the captain surely holds.
        edited_at: Discord's time of the last edit that was seen.
        gone: Whether its message was deleted.
        settled: Its result, as soon as it is known.
        sending: Whether the first part of its reply is on its way.
        typing: The lighting of the indicator that is under way.
        actions: Numbers of actions for it that are not done.
        interim: Held by each of its interim words in turn, until they are in the room.
        card: Its tool-activity card.
        addressed: Whether somebody called him.
        inherited: Whether an earlier life of the bridge may have posted something for it.
        doubted: Whether an answer of the captain's about it was lost, so that its result may be older than it seems.
        settled_at: When it settled, where that was not just now.
        closed: Set once nothing more is to be done for it.
    """

    id: str
    message_id: str
    room: "Room"
    trigger: Trigger | None = None
    attempted: bool = False
    accepted: bool = False
    held_body: str | None = None
    edited_at: str | None = None
    gone: bool = False
    settled: Replied | Absorbed | Silent | Failed | None = None
    sending: bool = False
    typing: asyncio.Task[None] | None = None
    actions: set[int] = field(default_factory=set[int])
    interim: asyncio.Lock = field(default_factory=asyncio.Lock)
    card: Card | None = None
    addressed: bool = False
    inherited: bool = False
    doubted: bool = False
    settled_at: datetime | None = None
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def answers(self) -> str | None:
        """The message that words for it refer to, while it is there. Source: C67."""
        return None if self.gone else self.message_id

    def stop_typing(self) -> None:
        """Take back the indicator's next lighting. Source: C63."""
        if self.typing is not None:
            self.typing.cancel()
            self.typing = None


def _by_time(items: Iterable[Item]) -> list[tuple[float, Item]]:
    """Items with their places in time; what is no message belongs in front of the message behind it."""
    placed: list[tuple[float, Item]] = []
    place = math.inf
    for each in reversed([*items]):
        if isinstance(each, Said | Talk):
            place = int(each.message.id)
        placed.append((place, each))
    return placed[::-1]


@dataclass(slots=True, eq=False)
class Room:
    """One room.

    Attributes:
        door: Held while a trigger or words go out, so that a reply's receipt precedes the next trigger.
        waiting: What happened here and was not worked on yet, oldest first.
        window: The latest messages, oldest first; complete only while ``warm``.
        opener: The message that a thread hangs on.
        exchange: How far away his last word is.
        drifted: Messages that wait for a catch-up turn, oldest first.
        stirred: Set where something in ``waiting`` has changed.
        busy: Whether somebody works on ``waiting``.
        open: Deliveries of this room that are not complete.
        held: How many readings of what was missed here have to end before anything goes on.
        showing: Held while a card is shown: whoever looks for cards that were left needs its message's id.
        swept: Whether this life has looked for cards that an earlier one left here.
    """

    channel_id: str
    guild_id: str | None
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: deque[Item] = field(default_factory=deque[Item])
    window: deque[Message] = field(default_factory=lambda: deque[Message](maxlen=_WINDOW))
    opener: Message | None = None
    exchange: Exchange = field(default_factory=Exchange)
    drifted: deque[Message] = field(default_factory=lambda: deque[Message](maxlen=bounds.COVERED_MESSAGES))
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    warm: bool = False
    busy: bool = False
    open: int = 0
    held: int = 0
    showing: asyncio.Lock = field(default_factory=asyncio.Lock)
    swept: bool = False

    def remember(self, message: Message) -> None:
        """Add a message to the window, where the window is complete."""
        if self.warm:
            self.window.append(message)

    def recent(self) -> tuple[Message, ...]:
        """What was said here before, oldest first, with a thread's opener in any case."""
        latest = tuple(self.window)[-bounds.CONTEXT_MESSAGES :]
        if self.opener is None or any(each.id == self.opener.id for each in latest):
            return latest
        return (self.opener, *latest[-bounds.CONTEXT_MESSAGES + 1 :])

    def apply(self, change: Change) -> None:
        """Let the window show a message as it is now."""
        for index, each in enumerate(self.window):
            if each.id == change.message_id:
                if change.message is not None:
                    self.window[index] = change.message
                elif change.kind == "deleted":
                    del self.window[index]
                return

    def change_drifted(self, change: Change) -> None:
        """Let what waits for a catch-up turn be as it is now."""
        for index, each in enumerate(self.drifted):
            if each.id == change.message_id:
                if change.message is not None:
                    self.drifted[index] = change.message
                elif change.kind == "deleted":
                    del self.drifted[index]
                return

    def fill_in(self, items: Iterable[Item]) -> None:
        """Put what was read back where it belongs by time, among what waits already.

        What waits may be older: an earlier session brought it, and the captain was away. Handed over behind newer
        messages, it would be lost with this process, since the next one reads from the last that the captain has.

        Source: ING-9.
        """
        merged = [each for _, each in heapq.merge(_by_time(items), _by_time(self.waiting), key=itemgetter(0))]
        self.waiting.clear()
        self.waiting.extend(merged)

    def chill(self) -> None:
        """Something was missed here: read the history again before the next turn."""
        self.warm = False
        self.window.clear()

    @property
    def is_followed(self) -> bool:
        """Whether the window is complete, or about to be."""
        return self.warm or self.busy or self.held > 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not (self.busy or self.waiting or self.open or self.drifted or self.held)


class Rooms:
    """The rooms that something happened in lately; idle ones beyond a thousand are forgotten, oldest first."""

    def __init__(self) -> None:
        self._rooms: OrderedDict[str, Room] = OrderedDict()
        self.waiting = 0

    def at(self, channel_id: str, guild_id: str | None) -> Room:
        """The room of a channel."""
        room = self._rooms.get(channel_id)
        if room is None:
            room = self._rooms[channel_id] = Room(channel_id, guild_id)
            self._forget()
        self._rooms.move_to_end(channel_id)
        return room

    def known(self, channel_id: str) -> Room | None:
        """The room of a channel, where something happened in it."""
        return self._rooms.get(channel_id)

    def chill(self) -> None:
        """Events may have been missed anywhere."""
        for room in self._rooms.values():
            room.chill()

    @property
    def are_quiet(self) -> bool:
        """Whether nothing waits to be handed over."""
        return all(not room.waiting and not room.busy for room in self._rooms.values())

    def _forget(self) -> None:
        if len(self._rooms) <= _ROOMS:
            return
        idle = next((key for key, room in self._rooms.items() if room.is_idle), None)
        if idle is not None:
            del self._rooms[idle]
