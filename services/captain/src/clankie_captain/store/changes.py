"""Changes of accepted deliveries: other words, withdrawal, cancellation. Source: ING-7, OPS-1."""

from datetime import datetime

from sqlalchemy import Connection, select, update

from clankie_captain.core.changes import Change, change
from clankie_captain.core.settlement import failure
from clankie_captain.core.turns import Cancellation, Turn
from clankie_captain.errors import StartedError, UnknownDeliveryError
from clankie_captain.store import events, rows, tables
from clankie_captain.store.arrivals import cancel_run
from clankie_captain.store.engine import Database
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import DeliveryId, PresenceId, RunId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Trigger, content_hash


class ChangeStore:
    """The rows of deliveries, as their presence changes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def edit(self, presence: PresenceId, delivery: DeliveryId, body: str) -> Turn:
        """Replace the words of a delivery that no run has heard.

        Raises:
            UnknownDeliveryError: The presence has none of this id.
            StartedError: A run has heard the old words, or it is settled.
        """

        def work(connection: Connection) -> Turn:
            row = _open(connection, presence, delivery)
            trigger = Trigger.model_validate_json(row.trigger).model_copy(update={"body": body})
            values = {"trigger": trigger.model_dump_json(exclude_none=True), "content_hash": content_hash(trigger)}
            changed = update(tables.delivery).where(*rows.mine(presence, delivery)).values(values)
            return rows.turn(connection.execute(changed.returning(tables.delivery)).one())

        return await self._database.transact(work)

    async def withdraw(self, presence: PresenceId, delivery: DeliveryId, at: datetime) -> Turn:
        """Settle a delivery that no run has heard as withdrawn.

        Raises:
            UnknownDeliveryError: The presence has none of this id.
            StartedError: A run has heard its words, or it is settled.
        """

        def work(connection: Connection) -> Turn:
            row = _open(connection, presence, delivery)
            return _fail(connection, row, FailureCode.WITHDRAWN, at)

        return await self._database.transact(work)

    async def cancel(self, presence: PresenceId, delivery: DeliveryId, at: datetime) -> Cancellation:
        """Settle a delivery that no run has heard as cancelled, or name the run that must be ended.

        Only the owner of a run ends it: a turn that was steered into somebody's run and heard is part of that.

        Raises:
            UnknownDeliveryError: The presence has none of this id.
        """

        def work(connection: Connection) -> Cancellation:
            row = _row(connection, presence, delivery)
            if _fate(row) == "open":
                return Cancellation(_fail(connection, row, FailureCode.CAPTAIN_CANCELLED, at), None)
            run = RunId(row.run) if row.state == "live" else None
            if run is not None:
                cancel_run(connection, run)
            return Cancellation(rows.turn(row), run)

        return await self._database.transact(work)


def _row(connection: Connection, presence: PresenceId, delivery: DeliveryId) -> AnyRow:
    one, lane = tables.delivery, tables.lane.c
    statement = select(one, lane.epoch).join(tables.lane, lane.id == one.c.lane).where(*rows.mine(presence, delivery))
    row = connection.execute(statement).one_or_none()
    if row is None:
        raise UnknownDeliveryError(delivery)
    return row


def _fate(row: AnyRow) -> Change:
    # What an earlier owner of the lane took is free again: whatever it had put together was never stored.
    return change(row.state, taken=row.taken == row.epoch)


def _open(connection: Connection, presence: PresenceId, delivery: DeliveryId) -> AnyRow:
    row = _row(connection, presence, delivery)
    if _fate(row) != "open":
        raise StartedError(delivery)
    return row


def _fail(connection: Connection, row: AnyRow, code: FailureCode, at: datetime) -> Turn:
    result = failure(DeliveryId(row.id), TurnId(row.turn), code)
    values = {"state": "done", "result": result.model_dump_json(exclude_none=True), "owed": False, "settled_at": at}
    mine = rows.mine(PresenceId(row.presence), DeliveryId(row.id))
    changed = update(tables.delivery).where(*mine).values(values).returning(tables.delivery)
    settled = connection.execute(changed).one()
    events.append(connection, row.lane, events.settled(row.lane, [result]), at)
    return rows.turn(settled)
