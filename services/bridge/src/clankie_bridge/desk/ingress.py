"""Gateway events become admitted messages of rooms, or evidence of why not. Source: ING-1, ING-5."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Protocol

from clankie_bridge.core.admission import Policy
from clankie_bridge.core.message import Message
from clankie_bridge.desk.myself import Myself
from clankie_bridge.desk.room import WAITING, WAITING_A_ROOM, Item, Room, Rooms, Said, Talk
from clankie_bridge.desk.screening import Screening, Verdict
from clankie_bridge.discord import normalize
from clankie_bridge.discord.directory import Directory
from clankie_bridge.discord.gateway import Tap
from clankie_bridge.discord.normalize import Change
from clankie_bridge.discord.payloads import Json, json_object, snowflake
from clankie_bridge.log import place_of
from clankie_bridge.ports import Evidence, Happened, History, Log
from clankie_settings.clock import Clock

_EVENTS_A_TURN: Final = 64
_PARENTS_ASKED: Final = 1_000
_PARENT_S: Final = 3.0


class Away(Protocol):
    """Whoever has to know when a session of the gateway's begins, which knows nothing of the one before."""

    def begin(self, payload: Json) -> None:
        """A session has begun; the payload is that of READY."""

    def note(self, name: str, payload: Json) -> None:
        """An event about a guild or its channels."""

    def meet(self, room: Room) -> None:
        """Something came from a room."""


class Ingress:
    """Takes events in their order and puts what is admitted to its room."""

    def __init__(
        self,
        *,
        tap: Tap,
        directory: Directory,
        policy: Policy,
        rooms: Rooms,
        history: History,
        evidence: Evidence,
        clock: Clock,
        log: Log,
        work: Callable[[Room], None],
        changed: Callable[[Room, Change], bool],
        bot: Myself,
        screening: Screening,
        absence: Away,
    ) -> None:
        self._tap = tap
        self._directory = directory
        self._policy = policy
        self._rooms = rooms
        self._history = history
        self._evidence = evidence
        self._clock = clock
        self._log = log
        self._work = work
        self._change = changed
        self._bot = bot
        self._screening = screening
        self._absence = absence
        self._asked: set[str] = set()
        self._overflowing: set[str] = set()

    async def run(self) -> None:
        """Take events for as long as the bridge lives."""
        taken = 0
        while True:
            name, payload = await self._tap.next()
            try:
                await self.take(name, payload)
            except Exception as error:  # noqa: BLE001 -- one event's fault must not end the bridge
                self._log.error("event_failed", name=name, kind=type(error).__name__, where=place_of(error))
            taken += 1
            if taken % _EVENTS_A_TURN == 0:
                # A full queue is never waited for, so a flood would let nobody else run.
                await self._clock.sleep(timedelta())

    async def take(self, name: str, payload: Json) -> None:
        """Work on one event."""
        for channel_id in self._tap.take_marked():
            if (room := self._rooms.known(channel_id)) is not None:
                room.chill()
        if name == "MESSAGE_CREATE":
            await self._created(payload)
        elif name == "MESSAGE_UPDATE":
            self._changed(normalize.change(payload))
        elif name in ("MESSAGE_DELETE", "MESSAGE_DELETE_BULK"):
            for change in normalize.deletions(payload):
                self._changed(change)
        elif name == "READY":
            self._bot.id = snowflake(json_object(payload.get("user")).get("id"))
            # A new session gets no replay of what the last one missed.
            self._rooms.chill()
            self._absence.begin(payload)
            self._log.info("gateway_ready", guilds=len(payload.get("guilds") or ()))
        else:
            self._directory.note(name, payload)
            self._absence.note(name, payload)

    async def _created(self, payload: Json) -> None:
        message = normalize.message(payload)
        if message is None or self._bot.id is None:
            self._evidence.record(Happened.DROPPED, "unknown", "unknown", "malformed")
            return
        if not self._screening.is_new(message):
            self._evidence.record(Happened.DEDUPLICATED, message.id, message.channel_id)
            return
        verdict = self._screening.judged(message, await self._parent(message) if message.in_thread else None)
        if verdict is Verdict.TURN:
            self._put(self._rooms.at(message.channel_id, message.guild_id), Said(message, self._clock.elapsed()))
        elif verdict is Verdict.TALK:
            self._keep_as_talk(message)

    def _keep_as_talk(self, message: Message) -> None:
        """Not a turn, but something that a later turn may need to know."""
        room = self._rooms.known(message.channel_id)
        if room is not None and room.is_followed:
            self._put(room, Talk(message))

    def _changed(self, change: Change | None) -> None:
        room = self._rooms.known(change.channel_id) if change is not None else None
        if change is not None and room is not None and self._change(room, change):
            self._put(room, change)

    def _put(self, room: Room, item: Item) -> None:
        self._absence.meet(room)
        if len(room.waiting) >= WAITING_A_ROOM or self._rooms.waiting >= WAITING:
            room.chill()
            if room.channel_id not in self._overflowing:
                self._overflowing.add(room.channel_id)
                self._log.error("room_overflow", room=room.channel_id, waiting=len(room.waiting))
            if isinstance(item, Said):
                self._evidence.record(Happened.DROPPED, item.message.id, room.channel_id, "overflow")
            return
        self._overflowing.discard(room.channel_id)
        room.waiting.append(item)
        self._rooms.waiting += 1
        self._work(room)

    async def _parent(self, message: Message) -> str | None:
        guild_id, channel_id = message.guild_id, message.channel_id
        parent_id = self._directory.parent(guild_id, channel_id)
        if parent_id is not None or guild_id is None or channel_id in self._asked:
            return parent_id
        if not self._policy.channels or channel_id in self._policy.channels:
            return None
        # A thread that the gateway never announced, for one that was archived; asked once, or events would wait.
        if len(self._asked) < _PARENTS_ASKED:
            self._asked.add(channel_id)
        found = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PARENT_S):
                found = await self._history.parent(channel_id)
        if found is not None:
            self._directory.remember_parent(guild_id, channel_id, found)
        return found
