"""Forgetting a room, or a person in every lane, in small transactions. Source: OPS-12.

A lane is worked through in an order in which it can be begun again after a crash: what tells whose words stand where,
the triggers, goes last.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, Table, bindparam, delete, exists, func, or_, select, update

from clankie_captain.core import forgetting
from clankie_captain.core.forgetting import NOBODY, Erasure
from clankie_captain.core.lane import OPERATOR
from clankie_captain.errors import LaneBusyError
from clankie_captain.store import tables
from clankie_captain.store.album import Album, digests
from clankie_captain.store.engine import Database
from clankie_captain.store.rows import AnyRow
from clankie_captain.store.transcripts import in_room
from clankie_captain.store.upkeep import Upkeep
from clankie_settings.ids import LaneId
from clankie_settings.wire.trigger import Trigger, content_hash

SLICE: Final = 200
"""Rows that one transaction works through, so that no turn waits for long."""

_lane, _delivery, _entry = tables.lane.c, tables.delivery.c, tables.entry.c


_UNPOSTED: Final = (
    select(tables.action.c.id)
    .join(tables.presence, tables.presence.c.id == tables.action.c.presence)
    .join(
        tables.delivery, (_delivery.presence == tables.action.c.presence) & (_delivery.id == tables.action.c.delivery)
    )
    .where(tables.action.c.state == "pending", _delivery.lane == bindparam("of_lane"))
    .limit(1)
)


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

        With ``replies`` his own words go as well where he answered to theirs.

        Raises:
            LaneBusyError: A lane that holds words of theirs is at work, or owes a reply; the others have forgotten.
        """

        async def erase(lane: str) -> Forgotten:
            return await self._erase(lane, person, replies=replies)

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
            _idle(connection, lane)
            mine = update(tables.lane).where(_lane.id == lane, _lane.history_from < ends.entry)
            connection.execute(mine.values(history_from=ends.entry))
            connection.execute(delete(tables.finished_call).where(tables.finished_call.c.lane == lane))

        await self._database.transact(hidden)
        pictures: set[str] = set()
        dropping = partial(_drop_entries, pictures=pictures)
        entries = await self._slices(lane, _entry.seq, ends.entry, dropping)
        await self._album.remove(frozenset(pictures))
        deliveries = await self._slices(lane, _delivery.seq, ends.seq, _bare_deliveries)
        return Forgotten(1, entries, deliveries)

    async def _erase(self, lane: str, person: str, *, replies: bool) -> Forgotten:
        found = _Found(person)
        ends = await self._begun(lane)
        await self._slices(lane, _entry.seq, ends.entry, found.look_at_entries)
        await self._slices(lane, _delivery.seq, ends.seq, found.look_at_deliveries)
        if not found.messages:
            return Forgotten()
        erasure = found.erasure(replies=replies)
        await self._database.transact(lambda connection: _idle(connection, lane))
        rewriting = _Rewriting(lane, erasure, set())
        entries = await self._slices(lane, _entry.seq, ends.entry, rewriting.entries)
        for run in sorted(erasure.runs):
            await self._database.transact(lambda connection, run=run: rewriting.actions(connection, run))
        await self._album.remove(frozenset(rewriting.pictures))
        entries += await self._slices(lane, _entry.seq, ends.entry, rewriting.heard)
        deliveries = await self._slices(lane, _delivery.seq, ends.seq, rewriting.deliveries)
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


class _Found:
    """What a lane holds of a person, put together row by row."""

    def __init__(self, person: str) -> None:
        self._person = person
        self._named = f'"{person}"'
        self.messages: set[str] = set()
        self._deliveries: set[str] = set()
        self._runs: set[str] = set()

    def look_at_entries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were heard."""
        statement = select(_entry.run, _entry.payload).where(*_range(tables.entry, lane, start, stop))
        named = func.instr(_entry.payload, self._named) > 0
        for row in connection.execute(statement.where(_entry.kind == "heard", named)):
            self._look(row.payload, row.run)
        return 0

    def look_at_deliveries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were accepted."""
        statement = select(_delivery.trigger, _delivery.run).where(*_range(tables.delivery, lane, start, stop))
        for row in connection.execute(statement.where(func.instr(_delivery.trigger, self._named) > 0)):
            self._look(row.trigger, row.run)
        return 0

    def erasure(self, *, replies: bool) -> Erasure:
        """What the lane is to forget."""
        runs = frozenset(self._runs) if replies else frozenset[str]()
        return Erasure(self._person, frozenset(self.messages), frozenset(self._deliveries), runs)

    def _look(self, payload: str, run: str | None) -> None:
        trigger = Trigger.model_validate_json(payload)
        theirs = forgetting.written_by(self._person, trigger)
        self.messages |= theirs
        if trigger.actor.actor_id == self._person:
            self._deliveries.add(trigger.delivery_id)
        if theirs and run:
            self._runs.add(run)


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """Rows of a lane without what it is to forget."""

    lane: str
    erasure: Erasure
    pictures: set[str]

    def entries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """Everything but the triggers."""
        _idle(connection, lane)
        connection.execute(delete(tables.finished_call).where(tables.finished_call.c.lane == lane))
        return self._rewrite(connection, start, stop, _entry.kind != "heard")

    def heard(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were heard."""
        return self._rewrite(connection, start, stop, _entry.kind == "heard")

    def deliveries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were accepted, and the results of the runs."""
        erasure, count = self.erasure, 0
        for row in connection.execute(select(tables.delivery).where(*_range(tables.delivery, lane, start, stop))).all():
            trigger = Trigger.model_validate_json(row.trigger)
            changed = forgetting.without(erasure.person, trigger)
            values = {} if changed == trigger else _described(row, trigger, changed)
            answer = None
            if row.run in erasure.runs:
                answer = forgetting.result(row.result) if row.result else None
                _quiet_actions(connection, _of(row))
            if answer is not None:
                values["result"] = answer
            if values:
                connection.execute(_mine(row).values(values))
                count += 1
            if trigger.actor.actor_id == erasure.person and trigger.room.guild_id is None:
                _unname(connection, row.presence, changed)
        return count

    def actions(self, connection: Connection, run: str) -> None:
        """The words that a run posted besides its reply."""
        one = tables.action.c
        _quiet_actions(connection, one.run == run)

    def _rewrite(self, connection: Connection, start: int, stop: int, kinds: Any) -> int:
        statement = select(_entry.seq, _entry.run, _entry.kind, _entry.payload)
        count = 0
        for row in connection.execute(statement.where(*_range(tables.entry, self.lane, start, stop), kinds)).all():
            changed = forgetting.entry(row.kind, row.run, row.payload, self.erasure)
            if changed is not None:
                mine = update(tables.entry).where(_entry.lane == self.lane, _entry.seq == row.seq)
                connection.execute(mine.values(payload=changed))
                self.pictures.update(digests(row.payload) - digests(changed))
                count += 1
        return count


def _idle(connection: Connection, lane: str) -> None:
    """Let a lane be changed that neither works nor owes anything.

    Raises:
        LaneBusyError: It does.
    """
    live = connection.execute(select(_lane.live_run).where(_lane.id == lane)).scalar()
    # Nobody posts what the operator reads for themselves.
    waits = or_(_delivery.state != "done", _delivery.owed & (_delivery.presence != OPERATOR))
    owes = connection.execute(select(exists().where(_delivery.lane == lane, waits))).scalar()
    if live is not None or owes or connection.execute(_UNPOSTED, {"of_lane": lane}).first() is not None:
        raise LaneBusyError(LaneId(lane))


def _drop_entries(connection: Connection, lane: str, start: int, stop: int, pictures: set[str]) -> int:
    _idle(connection, lane)
    told = select(_entry.payload).where(*_range(tables.entry, lane, start, stop))
    pictures.update(*map(digests, connection.execute(told).scalars()))
    return connection.execute(delete(tables.entry).where(*_range(tables.entry, lane, start, stop))).rowcount


def _bare_deliveries(connection: Connection, lane: str, start: int, stop: int) -> int:
    rows = connection.execute(select(tables.delivery).where(*_range(tables.delivery, lane, start, stop))).all()
    for row in rows:
        trigger = Trigger.model_validate_json(row.trigger)
        bare = forgetting.bare(trigger)
        answer = forgetting.result(row.result) if row.result else None
        connection.execute(_mine(row).values({**_described(row, trigger, bare), "result": answer or row.result}))
        _quiet_actions(connection, _of(row))
        _unname(connection, row.presence, bare)
    return len(rows)


def _quiet_actions(connection: Connection, which: Any) -> None:
    one = tables.action.c
    for row in connection.execute(select(one.id, one.payload).where(which)).all():
        changed = forgetting.action(row.payload)
        if changed is not None:
            connection.execute(update(tables.action).where(one.id == row.id).values(payload=changed))


def _unname(connection: Connection, presence: str, trigger: Trigger) -> None:
    """Take the names out of what is remembered of a room."""
    one, room = tables.room.c, trigger.room
    key = f"{room.platform}:{room.guild_id or 'dm'}:{room.channel_id}"
    mine = update(tables.room).where(one.presence == presence, one.key == key)
    connection.execute(mine.values(room=room.model_dump_json(exclude_none=True)))


def _described(row: AnyRow, before: Trigger, after: Trigger) -> dict[str, Any]:
    """The columns of a delivery that its trigger tells; its hash stays only while its words do."""
    values: dict[str, Any] = {"trigger": after.model_dump_json(exclude_none=True), "pictures": None}
    if before.actor != after.actor:
        # With the hash whoever knows a short message could prove that it was said.
        values |= {"actor": NOBODY, "content_hash": content_hash(after)}
    return values


def _of(row: AnyRow) -> Any:
    """The actions of a delivery."""
    return (tables.action.c.delivery == row.id) & (tables.action.c.presence == row.presence)


def _mine(row: AnyRow) -> Any:
    return update(tables.delivery).where(_delivery.presence == row.presence, _delivery.id == row.id)


def _range(table: Table, lane: str, start: int, stop: int) -> tuple[Any, ...]:
    return table.c.lane == lane, table.c.seq >= start, table.c.seq < stop
