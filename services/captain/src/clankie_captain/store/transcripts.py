"""Lanes as they are looked at afterwards: which there are, and what is written in one. Source: LANE-12."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from clankie_captain.ports import EntryLine, LaneSummary
from clankie_captain.store import tables
from clankie_captain.store.engine import Database
from clankie_settings.ids import DeliveryId, LaneId


class TranscriptStore:
    """Reads lanes, and changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def lanes(self, after: str, most: int) -> tuple[LaneSummary, ...]:
        """Lanes in the order of their ids, after one of them."""
        return await self._found(_summaries().where(tables.lane.c.id > after).limit(most))

    async def lane(self, lane: LaneId) -> LaneSummary | None:
        """One lane; None where there is no such."""
        return next(iter(await self._found(_summaries().where(tables.lane.c.id == lane))), None)

    async def of_room(self, room: str, most: int) -> tuple[LaneSummary, ...]:
        """The lanes of a Discord room (``guildId:channelId``, or ``dm:channelId``), the last used first."""
        return await self._found(_summaries().where(in_room(room)).order_by(None).order_by(_LAST_USED).limit(most))

    async def of_delivery(self, delivery: DeliveryId) -> tuple[LaneSummary, ...]:
        """The lanes that a delivery of this id went to: one for each presence that gave it."""
        own = tables.delivery.c
        named = select(own.lane).where(own.id == delivery)
        return await self._found(_summaries().where(tables.lane.c.id.in_(named)))

    async def entries(self, lane: LaneId, after: int, most: int) -> tuple[EntryLine, ...] | None:
        """What is written in a lane after one entry, in order; None for a lane that there is none of."""

        def work(connection: Connection) -> tuple[EntryLine, ...] | None:
            known = select(tables.lane.c.id).where(tables.lane.c.id == lane)
            if connection.execute(known).first() is None:
                return None
            one = tables.entry.c
            statement = select(one.seq, one.run, one.kind, one.payload, one.at).where(one.lane == lane, one.seq > after)
            rows = connection.execute(statement.order_by(one.seq).limit(most))
            return tuple(EntryLine(row.seq, row.run or None, row.kind, row.payload, row.at) for row in rows)

        return await self._database.transact(work)

    async def _found(self, statement: Select[*tuple[Any, ...]]) -> tuple[LaneSummary, ...]:
        def work(connection: Connection) -> tuple[LaneSummary, ...]:
            return tuple(LaneSummary(*row) for row in connection.execute(statement))

        return await self._database.transact(work)


_LAST_USED = tables.lane.c.touched_at.desc()


def _summaries() -> Select[*tuple[Any, ...]]:
    one, own = tables.lane.c, tables.delivery.c
    waiting = select(func.count()).where(own.lane == one.id, own.state == "queued").scalar_subquery()
    return select(one.id, one.kind, one.authority, one.live_run, waiting, one.next_entry - 1, one.touched_at).order_by(
        one.id
    )


def in_room(room: str) -> ColumnElement[bool]:
    """The condition that picks the lanes of a Discord room."""
    one, place = tables.lane.c.id, f"discord:{room}"
    exact = one.in_([f"rooms/{place}", f"voice/{place}"])
    # Behind the tilde stands what tells lanes of one room apart: authority, grant, or a one-shot's message.
    # Whatever lane a child is of, its own begins with it.
    kinds = ("rooms", "voice", "turns", "turns/rooms", "turns/turns")
    return or_(exact, *(one.startswith(f"{kind}/{place}~", autoescape=True) for kind in kinds))
