"""Letting go what is older than it is to be kept, in small transactions. Source: OPS-11."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

import structlog
from sqlalchemy import BigInteger, Connection, cast, delete, exists, func, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core import forgetting
from clankie_captain.core.lane import OPERATOR
from clankie_captain.core.retention import Written, cut, cutoff, proven, snowflake
from clankie_captain.store import tables
from clankie_captain.store.album import Album
from clankie_captain.store.engine import Database
from clankie_captain.store.rows import AnyRow
from clankie_captain.store.upkeep import Upkeep
from clankie_settings.clock import Clock
from clankie_settings.wire.trigger import Trigger, content_hash

EVERY: Final = timedelta(hours=1)
"""How often is looked for what is too old."""

SLICE: Final = 200
"""Rows that one transaction works through, so that no turn waits for long."""

_lane, _delivery, _entry, _action = tables.lane.c, tables.delivery.c, tables.entry.c, tables.action.c

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Terms:
    """How many days transcripts and pictures are kept; None: for ever."""

    days: int | None = None
    picture_days: int | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """How many entries, deliveries and pictures went."""

    entries: int = 0
    deliveries: int = 0
    pictures: int = 0


class Retention:
    """Keeps a captain's store to its terms; what is open, live or owed stays whatever its age."""

    def __init__(self, database: Database, upkeep: Upkeep, album: Album, terms: Terms, clock: Clock) -> None:
        self._database = database
        self._upkeep = upkeep
        self._album = album
        self._terms = terms
        self._clock = clock
        self._looked: timedelta | None = None
        self._tidied: date | None = None

    async def run(self) -> None:
        """Look every hour, for as long as the captain lives; once, where everything is kept."""
        while True:
            try:
                gone = await self.look()
                if gone != Gone():
                    _log.info("retention.gone", **asdict(gone))
            except Exception as error:  # noqa: BLE001 -- what failed is tried again, and must end nothing else
                _log.warning("retention.failed", cause=type(error).__name__)
            if self._terms == Terms():
                return
            await self._clock.sleep(EVERY)

    async def look(self) -> Gone:
        """Let go what is too old now.

        Raises:
            StoreError: The store fails; what went so far is gone, the rest goes the next time.
        """
        now = await self._now()
        entries = deliveries = pictures = 0
        async with self._upkeep.alone():
            if self._terms.days is not None:
                before = cutoff(now, self._terms.days)
                async for lane in self._lanes():
                    entries += await self._cut(lane, before)
                    deliveries += await self._drop_deliveries(lane, before)
                    await self._database.transact(lambda connection, lane=lane: _drop_lane(connection, lane, before))
                await self._drop_rest(before)
            if self._tidied != now.date():
                # Every row is read for it, so not every hour.
                days = self._terms.picture_days or self._terms.days
                pictures = await self._album.tidy(now, None if days is None else cutoff(now, days))
                self._tidied = now.date()
        return Gone(entries, deliveries, pictures)

    async def _now(self) -> datetime:
        elapsed = self._clock.elapsed()
        passed = timedelta() if self._looked is None else elapsed - self._looked
        self._looked = elapsed
        wall = self._clock.now()

        def work(connection: Connection) -> datetime:
            before = connection.execute(select(tables.upkeep.c.proven_at)).scalar()
            messages = connection.execute(select(tables.room.c.last_message_id)).scalars()
            now = proven(before, passed, wall, messages)
            kept = upsert(tables.upkeep).values(id=1, proven_at=now)
            connection.execute(kept.on_conflict_do_update(index_elements=["id"], set_={"proven_at": now}))
            return now

        return await self._database.transact(work)

    async def _lanes(self) -> AsyncGenerator[str]:
        after = ""
        while True:
            statement = select(_lane.id).where(_lane.id > after).order_by(_lane.id).limit(SLICE)
            page = await self._rows(statement)
            for row in page:
                yield row.id
            if not page:
                return
            after = page[-1].id

    async def _cut(self, lane: str, before: datetime) -> int:
        gone = 0
        while True:
            count, more = await self._database.transact(lambda connection: _cut(connection, lane, before))
            gone += count
            if not more:
                return gone

    async def _drop_deliveries(self, lane: str, before: datetime) -> int:
        gone, after = 0, -1
        while True:
            last, count = await self._database.transact(
                lambda connection, after=after: _drop_deliveries(connection, lane, before, after)
            )
            gone += count
            if last is None:
                return gone
            after = last

    async def _drop_rest(self, before: datetime) -> None:
        one = tables.run.c
        live = exists().where(_lane.live_run == one.id)
        owned = exists().where(_delivery.run == one.id)
        runs = select(one.id).where(one.settled_at < before, ~live, ~owned).limit(SLICE)
        done = select(_action.id).where(_action.created_at < before, _action.state != "pending").limit(SLICE)
        own = tables.command.c
        told = select(own.id).where(own.at < before).limit(SLICE)
        child = tables.child.c
        tasked = exists().where(_delivery.presence == child.presence, _delivery.id == child.id)
        # A child is its task's delivery: without that, nothing of it is left.
        gone = select(child.lane).where(child.created_at < before, ~tasked).limit(SLICE)
        for column, which in ((one.id, runs), (_action.id, done), (own.id, told), (child.lane, gone)):
            statement = delete(column.table).where(column.in_(which))
            while await self._database.transact(lambda connection, s=statement: connection.execute(s).rowcount):
                pass

    async def _rows(self, statement: Any) -> Sequence[AnyRow]:
        return await self._database.transact(lambda connection: connection.execute(statement).all())


def _cut(connection: Connection, lane: str, before: datetime) -> tuple[int, bool]:
    """Drop a lane's oldest entries; how many went, and whether there may be more of them."""
    row = connection.execute(select(_lane.live_run).where(_lane.id == lane)).one_or_none()
    if row is None or row.live_run is not None:
        return 0, False
    oldest = select(_entry.seq, _entry.run, _entry.at).where(_entry.lane == lane).order_by(_entry.seq)
    if (first := connection.execute(oldest.limit(1)).one_or_none()) is None or first.at >= before:
        return 0, False
    size = SLICE
    while True:
        found = [Written(each.seq, each.run, each.at) for each in connection.execute(oldest.limit(size))]
        whole = len(found) < size
        stays = cut(found, before, whole=whole)
        if stays is not None or whole or found[-1].at >= before:
            break
        size *= 2  # one run that is longer than a slice
    if stays is None:
        return 0, False
    change = update(tables.lane).where(_lane.id == lane, _lane.history_from < stays)
    connection.execute(change.values(history_from=stays))
    gone = connection.execute(delete(tables.entry).where(_entry.lane == lane, _entry.seq < stays)).rowcount
    carried = tables.lane_message.c
    old = cast(carried.message_id, BigInteger) < int(snowflake(before))
    ours = (carried.lane == lane) & (func.length(carried.message_id) >= 17) & old
    connection.execute(delete(tables.lane_message).where(ours))
    return gone, not whole


def _drop_deliveries(connection: Connection, lane: str, before: datetime, after: int) -> tuple[int | None, int]:
    """Drop a lane's oldest deliveries; the place to go on behind, None at the end, and how many went."""
    statement = select(tables.delivery).where(_delivery.lane == lane, _delivery.seq > after)
    rows = connection.execute(statement.order_by(_delivery.seq).limit(SLICE)).all()
    gone = 0
    for row in rows:
        if row.accepted_at >= before:
            return None, gone
        owed = row.owed and row.presence != OPERATOR
        if row.state == "done" and not owed and (row.settled_at is None or row.settled_at < before):
            gone += _drop(connection, row)
    return (rows[-1].seq if len(rows) == SLICE else None), gone


def _drop(connection: Connection, row: AnyRow) -> int:
    room = tables.room.c
    last = exists().where(room.presence == row.presence, room.last_delivery == row.id)
    mine = (_delivery.presence == row.presence) & (_delivery.id == row.id)
    if connection.execute(select(last)).scalar():
        # The room's state hangs on it, and its words do not.
        bare = forgetting.bare(Trigger.model_validate_json(row.trigger))
        trigger = bare.model_dump_json(exclude_none=True)
        if trigger == row.trigger:
            return 0
        result = row.result and (forgetting.result(row.result) or row.result)
        values = {
            "trigger": trigger,
            "actor": bare.actor.actor_id,
            "content_hash": content_hash(bare),
            "result": result,
            "pictures": None,
        }
        return connection.execute(update(tables.delivery).where(mine).values(values)).rowcount
    receipt = tables.receipt.c
    connection.execute(delete(tables.receipt).where(receipt.presence == row.presence, receipt.delivery == row.id))
    return connection.execute(delete(tables.delivery).where(mine)).rowcount


def _drop_lane(connection: Connection, lane: str, before: datetime) -> None:
    """Drop the lane of a one-shot of which nothing is left."""
    empty = ~exists().where(_entry.lane == lane), ~exists().where(_delivery.lane == lane)
    mine = _lane.id == lane, _lane.kind == "one_shot", _lane.live_run.is_(None), _lane.touched_at < before
    connection.execute(delete(tables.lane).where(*mine, *empty))
