"""What was written while nobody listened is read, and handed over as if it came just now. Source: ING-9, C12."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from clankie_bridge.captain.patience import Patience
from clankie_bridge.core import admission, missed
from clankie_bridge.core.admission import Policy
from clankie_bridge.core.missed import Channel
from clankie_bridge.desk.missing import Missing
from clankie_bridge.desk.room import Item, Room, Rooms, Said
from clankie_bridge.desk.standing import Standing
from clankie_bridge.desk.sweeping import Sweeping
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.discord.directory import channels_of
from clankie_bridge.discord.payloads import Json, objects, snowflake
from clankie_bridge.errors import CaptainError
from clankie_bridge.log import place_of
from clankie_bridge.ports import Log, Presence
from clankie_settings import bounds
from clankie_settings.clock import Clock
from clankie_settings.wire.receipt import KnownRoom

READERS: Final = 4
"""Rooms that are read at the same time."""

_GUILDS_AWAITED: Final = timedelta(minutes=1)
_PLANNED: Final = 4 * (bounds.MISSED_ROOMS + bounds.MISSED_DMS)


@dataclass(slots=True, eq=False)
class _Session:
    """One session of the gateway's.

    Attributes:
        awaited: Guilds that it has not described yet.
        began: When it began, on the clock of elapsed time.
        since: Since when something may have been missed.
        recorded: The last message of each room that the captain has.
        learned: Set once these two are known.
        rooms: How many more rooms may be read.
        early: Rooms that a message came from before that.
    """

    awaited: set[str]
    began: timedelta
    since: datetime | None = None
    recorded: dict[str, str] = field(default_factory=dict[str, str])
    learned: asyncio.Event = field(default_factory=asyncio.Event)
    rooms: int = bounds.MISSED_ROOMS
    early: list[Room] = field(default_factory=list[Room])


class Absence:
    """Holds each room that may lack something, from the moment the gateway names it until what it lacks is there.

    Attributes:
        sessions: How many sessions of the gateway have begun.
    """

    def __init__(
        self,
        *,
        presence: Presence,
        standing: Standing,
        patience: Patience,
        missing: Missing,
        sweeping: Sweeping,
        policy: Policy,
        rooms: Rooms,
        tasks: Tasks,
        clock: Clock,
        log: Log,
        work: Callable[[Room], None],
    ) -> None:
        self._presence = presence
        self._standing = standing
        self._patience = patience
        self._missing = missing
        self._sweeping = sweeping
        self._policy = policy
        self._rooms = rooms
        self._tasks = tasks
        self._clock = clock
        self._log = log
        self._work = work
        self._planned: asyncio.Queue[tuple[_Session, Channel]] = asyncio.Queue(_PLANNED)
        self._left = 0
        self._session: _Session | None = None
        self.sessions = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is known to be missing any more."""
        session = self._session
        if session is None or self._left or not session.learned.is_set():
            return False
        return not session.awaited or self._clock.elapsed() - session.began > _GUILDS_AWAITED

    def begin(self, payload: Json) -> None:
        """A session has begun that knows nothing of the one before: anything may have been written in between."""
        self.sessions += 1
        guilds = {found for each in objects(payload.get("guilds")) if (found := snowflake(each.get("id"))) is not None}
        self._session = _Session(guilds, self._clock.elapsed())
        self._tasks.spawn(self._learn(self._session), "absence")

    def note(self, name: str, payload: Json) -> None:
        """Take in what the gateway says of a guild; one that he has just joined is none that he was away from."""
        session, guild_id = self._session, snowflake(payload.get("id"))
        if session is None or guild_id is None:
            return
        if name == "GUILD_DELETE" and payload.get("unavailable") is True:
            session.awaited.add(guild_id)
        elif name == "GUILD_CREATE" and guild_id in session.awaited:
            session.awaited.discard(guild_id)
            self._plan(session, self._worth_reading(guild_id, channels_of(payload)))
            self._look_around()

    def meet(self, room: Room) -> None:
        """Something came from a room; a direct message is held until it is known what else came from there."""
        session = self._session
        if room.guild_id is not None or session is None or session.learned.is_set() or room in session.early:
            return
        room.held += 1
        session.early.append(room)

    async def run(self) -> None:
        """Read rooms for as long as the bridge lives, a few at a time."""
        async with asyncio.TaskGroup() as group:
            for _ in range(READERS):
                group.create_task(self._read_on())

    async def _learn(self, session: _Session) -> None:
        await self._standing.held()
        known: tuple[KnownRoom, ...] = ()
        try:
            known = (await self._patience.until_done(self._presence.rooms)).rooms
        except CaptainError as error:
            self._log.error("rooms_unknown", kind=type(error).__name__)
        own = [each for each in known if each.room.platform == "discord"]
        session.recorded = {each.room.channel_id: each.last_message_id for each in own}
        # As it was when this session began: nobody says that he listens before its rooms are read.
        session.since = self._standing.listening_at
        if self._policy.dms != "deny":
            dms = [Channel(each.room.channel_id, None) for each in own if each.room.guild_id is None]
            self._plan(session, dms[: bounds.MISSED_DMS])
        session.learned.set()
        for room in session.early:
            self._let_go(room)
        self._look_around()

    def _worth_reading(self, guild_id: str, channels: Iterable[Channel]) -> list[Channel]:
        now = self._clock.now()
        admitted = [
            each
            for each in channels
            if missed.may_hold_something(each, now)
            and admission.judge_channel(self._policy, guild_id, each.channel_id, each.parent_id) is None
        ]
        return sorted(admitted, key=lambda each: each.last, reverse=True)

    def _plan(self, session: _Session, channels: list[Channel]) -> None:
        for channel in channels:
            if not session.rooms or self._planned.full():
                self._log.error("missed_left_out", rooms=len(channels), most=bounds.MISSED_ROOMS)
                return
            session.rooms -= 1
            self._left += 1
            self._rooms.at(channel.channel_id, channel.guild_id).held += 1
            self._planned.put_nowait((session, channel))

    async def _read_on(self) -> None:
        while True:
            session, channel = await self._planned.get()
            await session.learned.wait()
            room = self._rooms.at(channel.channel_id, channel.guild_id)
            try:
                await self._read(session, channel, room)
            except Exception as error:  # noqa: BLE001 -- one room's fault must not hold up the others
                self._log.error("missed_failed", kind=type(error).__name__, where=place_of(error))
            finally:
                self._left -= 1
                self._let_go(room)
                self._look_around()

    async def _read(self, session: _Session, channel: Channel, room: Room) -> None:
        recorded = session.recorded.get(channel.channel_id)
        if recorded is not None:
            # A card may stand in front of the last message that the captain has: that one was said to a run at work.
            self._sweeping.up_to(room, recorded)
        gap = missed.gap(channel, recorded, session.since, self._clock.now())
        if gap is None:
            return
        items = await self._missing.of(room, channel, gap)
        self._put(room, items)
        turns = sum(isinstance(each, Said) for each in items)
        if turns:
            self._log.info("missed_read", room=channel.channel_id, messages=turns)

    def _look_around(self) -> None:
        """Let the captain know at once where nothing is missing any more: this life may be short."""
        if self.is_over:
            self._standing.renew()

    def _put(self, room: Room, items: list[Item]) -> None:
        """In front of everything that came since, and behind what has waited from before."""
        room.fill_in(items)
        self._rooms.waiting += len(items)

    def _let_go(self, room: Room) -> None:
        room.held -= 1
        if room.waiting:
            self._work(room)
