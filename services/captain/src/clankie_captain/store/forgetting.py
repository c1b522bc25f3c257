"""Forgetting a room, or a person in every lane, in small transactions. Source: OPS-12.

A lane is worked through in an order in which it can be begun again after a crash: what tells whose words stand where,
the triggers, goes last.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, func, select, update

from clankie_captain.errors import LaneBusyError
from clankie_captain.store import tables
from clankie_captain.store.album import Album
from clankie_captain.store.engine import Database
from clankie_captain.store.erasing import (
    Found,
    Rewriting,
    bare_deliveries,
    drop_calls,
    drop_entries,
    prove_idle,
    quieted,
)
from clankie_captain.store.rows import AnyRow
from clankie_captain.store.transcripts import in_room
from clankie_captain.store.upkeep import Upkeep
from clankie_settings.ids import LaneId

SLICE: Final = 200
"""Rows that one transaction works through, so that no turn waits for long."""

_lane, _delivery, _entry = tables.lane.c, tables.delivery.c, tables.entry.c


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many lanes, entries and deliveries were changed or emptied."""

    lanes: int = 0
    entries: int = 0
    deliveries: int = 0

    def plus(self, other: "Forgotten") -> "Forgotten":
        """Both together."""
        return Forgotten(self.lanes + other.lanes, self.entries + other.entries, self.deliveries + other.deliveries)


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where a lane ended when its forgetting began: what comes later is fresh."""

    entry: int
    seq: int


class Forgetting:
    """Takes words out of the rows of lanes."""

    def __init__(self, database: Database, upkeep: Upkeep, album: Album) -> None:
        self._database = database
        self._upkeep = upkeep
        self._album = album

    async def room(self, room: str) -> Forgotten:
        """Forget everything said in a Discord room (``guildId:channelId``, or ``dm:channelId``).

        Raises:
            LaneBusyError: A lane of it is at work, or owes the room a reply; the others are forgotten.
        """
        return await self._each(in_room(room), self._empty)

    async def lane(self, lane: LaneId) -> Forgotten | None:
        """Forget everything in one lane; None where there is no such.

        Raises:
            LaneBusyError: It is at work, or owes a reply.
        """
        forgotten = await self._each(_lane.id == lane, self._empty)
        return forgotten if forgotten.lanes else None

    async def person(self, person: str, *, replies: bool = True) -> Forgotten:
        """Forget a person's words, names and pictures wherever they stand.

        With ``replies`` his own words go as well where he answered to theirs, and wherever such a post of his came
        along with what another said, in whatever lane.

        Raises:
            LaneBusyError: A lane that holds words of theirs is at work, or owes a reply; the others have forgotten.
        """
        own: set[str] = set()

        async def look(lane: str) -> Forgotten:
            await self._look(lane, Found(person, own, replies=replies))
            return Forgotten()

        async def erase(lane: str) -> Forgotten:
            return await self._erase(lane, Found(person, own, replies=replies))

        if replies:
            # A post of one lane is backlog in another, so that all are known before the first goes.
            own.update(await self._database.transact(quieted))
            await self._each(None, look)
        return await self._each(None, erase)

    async def _each(self, which: Any, work: Callable[[str], Any]) -> Forgotten:
        busy: LaneBusyError | None = None
        done = Forgotten()
        async with self._upkeep.alone():
            async for lane in self._lanes(which):
                try:
                    done = done.plus(await work(lane))
                except LaneBusyError as error:
                    busy = error
        if busy is not None:
            raise busy
        return done

    async def _lanes(self, which: Any) -> AsyncGenerator[str]:
        after = ""
        while True:
            statement = select(_lane.id).where(_lane.id > after).order_by(_lane.id).limit(SLICE)
            page = await self._rows(statement if which is None else statement.where(which))
            for row in page:
                yield row.id
            if not page:
                return
            after = page[-1].id

    async def _empty(self, lane: str) -> Forgotten:
        ends = await self._begun(lane)

        def hidden(connection: Connection) -> None:
            prove_idle(connection, lane)
            mine = update(tables.lane).where(_lane.id == lane, _lane.history_from < ends.entry)
            connection.execute(mine.values(history_from=ends.entry))
            drop_calls(connection, lane, pictures)

        pictures: set[str] = set()
        await self._database.transact(hidden)
        dropping = partial(drop_entries, pictures=pictures)
        entries = await self._slices(lane, _entry.seq, ends.entry, dropping)
        bare = partial(bare_deliveries, pictures=pictures)
        deliveries = await self._slices(lane, _delivery.seq, ends.seq, bare)
        await self._album.remove(frozenset(pictures))
        return Forgotten(1, entries, deliveries)

    async def _look(self, lane: str, found: Found) -> _Ends:
        ends = await self._begun(lane)
        await self._slices(lane, _entry.seq, ends.entry, found.look_at_entries)
        await self._slices(lane, _delivery.seq, ends.seq, found.look_at_deliveries)
        return ends

    async def _erase(self, lane: str, found: Found) -> Forgotten:
        ends = await self._look(lane, found)
        if not (found.messages or found.carried):
            return Forgotten()
        erasure = found.erasure()
        await self._database.transact(lambda connection: prove_idle(connection, lane))
        rewriting = Rewriting(lane, erasure, set())
        entries = await self._slices(lane, _entry.seq, ends.entry, rewriting.entries)
        for run in sorted(erasure.runs):
            await self._database.transact(lambda connection, run=run: rewriting.actions(connection, run))
        entries += await self._slices(lane, _entry.seq, ends.entry, rewriting.heard)
        deliveries = await self._slices(lane, _delivery.seq, ends.seq, rewriting.deliveries)
        # At last, for till now rows told of them; what a crash leaves of them is tidied.
        await self._album.remove(frozenset(rewriting.pictures))
        return Forgotten(1, entries, deliveries)

    async def _begun(self, lane: str) -> _Ends:
        statement = select(_lane.next_entry, _lane.next_seq).where(_lane.id == lane)
        row = (await self._rows(statement))[0]
        return _Ends(row.next_entry, row.next_seq + 1)

    async def _slices(self, lane: str, place: Any, end: int, work: Callable[[Connection, str, int, int], int]) -> int:
        """Work through the rows of a lane up to ``end``; how many were changed."""
        count = 0
        first = (await self._rows(select(func.min(place)).where(place.table.c.lane == lane)))[0][0]
        for start in range(end if first is None else first, end, SLICE):
            stop = min(start + SLICE, end)
            count += await self._database.transact(
                lambda connection, start=start, stop=stop: work(connection, lane, start, stop)
            )
        return count

    async def _rows(self, statement: Any) -> Sequence[AnyRow]:
        return await self._database.transact(lambda connection: connection.execute(statement).all())
