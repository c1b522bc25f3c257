"""Deliveries after they were accepted: results, receipts, what a room still lacks. Source: WIRE-5, OUT-1."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, union_all, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.lane import OPERATOR
from clankie_captain.core.turns import Counts, Received, Turn
from clankie_captain.errors import UnknownDeliveryError
from clankie_captain.store import rows, tables
from clankie_captain.store.engine import Database
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.receipt import Owed, OwedList, Receipt
from clankie_settings.wire.result import Replied
from clankie_settings.wire.trigger import Trigger

_OPEN = ("queued", "steer", "heard", "live")

_DELIVERY: Final = select(tables.delivery).where(
    tables.delivery.c.presence == bindparam("presence"), tables.delivery.c.id == bindparam("id")
)


class DeliveryStore:
    """The rows of all deliveries, as a presence asks for them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, presence: PresenceId, delivery: DeliveryId) -> Turn:
        """A delivery of the presence, as it is now.

        Raises:
            UnknownDeliveryError: The presence has none of this id.
        """

        def work(connection: Connection) -> Turn:
            return rows.turn(_row(connection, presence, delivery))

        return await self._database.transact(work)

    async def owed(self, presence: PresenceId) -> OwedList:
        """What is queued, running, or settled and not yet receipted, oldest first.

        What nobody waits for is not among it: its words are an action.

        Source: WIRE-5.
        """

        def work(connection: Connection) -> OwedList:
            one = tables.delivery.c
            mine = select(tables.delivery).where(one.presence == presence, one.awaited)
            # Apart, so that the index serves both halves and none of what was settled is read.
            unposted, unsettled = mine.where(one.owed), mine.where(~one.owed, one.state.in_(_OPEN))
            statement = union_all(unposted, unsettled).order_by("accepted_at", "seq")
            found = connection.execute(statement).all()
            return OwedList(turns=tuple(_owed(row) for row in found))

        return await self._database.transact(work)

    async def receive(self, presence: PresenceId, delivery: DeliveryId, receipt: Receipt) -> Received:
        """Keep the receipt of one part, once; the last clears ``owed``.

        A part that will never reach the room ends the delivery, since no later part makes sense without it.

        Raises:
            UnknownDeliveryError: The presence has no delivery of this id.

        Source: OUT-1, OUT-4.
        """

        def work(connection: Connection) -> Received:
            row = _row(connection, presence, delivery)
            values = {"presence": presence, "delivery": delivery, **receipt.model_dump()}
            kept = connection.execute(upsert(tables.receipt).values(values).on_conflict_do_nothing())
            if receipt.message_id is not None:
                own = {"lane": row.lane, "message_id": receipt.message_id}
                connection.execute(upsert(tables.lane_message).values(own).on_conflict_do_nothing())
            posted, given = _parts(connection, presence, delivery)
            owed = row.owed and receipt.code is None and given < receipt.of
            mine = update(tables.delivery).where(*rows.mine(presence, delivery))
            connection.execute(mine.values(owed=owed, parts_posted=posted))
            last = row.owed and not owed and kept.rowcount == 1 and receipt.code is None
            # A notice of a failure reached the room as well, but it is no reply.
            replied = last and isinstance(rows.result(row.result, owed=owed), Replied)
            # Two hosts' clocks may differ, and nobody was answered before he asked.
            latency = max(receipt.posted_at - _sent_at(row), timedelta())
            return Received(owed, latency if replied else None)

        return await self._database.transact(work)

    async def owing(self, since: datetime) -> int:
        """How many deliveries that settled since then have something that their rooms still lack."""

        def work(connection: Connection) -> int:
            one = tables.delivery.c
            # What the operator asked is read by whoever asked, and nobody posts it.
            owing = select(func.count()).where(one.owed, one.presence != OPERATOR, one.settled_at >= since)
            return connection.execute(owing).scalar_one()

        return await self._database.transact(work)

    async def counts(self) -> Counts:
        """What the captain has in hand."""

        def work(connection: Connection) -> Counts:
            one = tables.delivery.c
            waiting = select(func.count()).where(one.state.in_(("queued", "steer")))
            lanes = select(func.count(), func.count(tables.lane.c.live_run))
            known, live = connection.execute(lanes).one()
            return Counts(known, live, connection.execute(waiting).scalar_one())

        return await self._database.transact(work)


def _row(connection: Connection, presence: PresenceId, delivery: DeliveryId) -> AnyRow:
    row = connection.execute(_DELIVERY, {"presence": presence, "id": delivery}).one_or_none()
    if row is None:
        raise UnknownDeliveryError(delivery)
    return row


def _parts(connection: Connection, presence: PresenceId, delivery: DeliveryId) -> tuple[int, int]:
    one = tables.receipt.c
    statement = select(func.count(one.message_id), func.count()).where(
        one.presence == presence, one.delivery == delivery
    )
    row = connection.execute(statement).one()
    return row[0], row[1]


def _sent_at(row: AnyRow) -> datetime:
    return Trigger.model_validate_json(row.trigger).sent_at


def _owed(row: AnyRow) -> Owed:
    trigger = Trigger.model_validate_json(row.trigger)
    return Owed(
        delivery_id=row.id,
        room=trigger.room,
        message_id=trigger.message_id,
        addressed=trigger.addressed,
        accepted_at=row.accepted_at,
        settled_at=row.settled_at,
        result=rows.result(row.result, owed=row.owed),
        parts_posted=row.parts_posted,
    )
