"""Stored actions: a sequence per presence, given out in the transaction that stores the action."""

from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.turns import LiveRun, Numbered
from clankie_captain.errors import UnknownActionError
from clankie_captain.store import rows, tables
from clankie_captain.store.engine import Database
from clankie_captain.store.fences import prove
from clankie_settings.ids import ActionId, DeliveryId, PresenceId
from clankie_settings.wire.action import StoredAction
from clankie_settings.wire.receipt import ActionReceipt


class ActionStore:
    """The rows of all stored actions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, run: LiveRun, action: StoredAction, at: datetime, most: int, call: str | None = None
    ) -> Numbered | None:
        """Store an action of a live run, or None where the run has stored ``most`` of this name already.

        ``call`` is the id of the tool call that wants it.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: ROOM-3.
        """

        def work(connection: Connection) -> Numbered | None:
            prove(connection, run)
            one = tables.action.c
            counted = select(func.count()).where(one.run == run.run, one.name == action.name)
            if connection.execute(counted).scalar_one() >= most:
                return None
            seq = _next(connection, run.presence, at)
            payload = action.model_dump_json(exclude_none=True)
            row = {
                "presence": run.presence, "seq": seq, "id": action.action_id, "delivery": action.delivery_id,
                "run": run.run, "call": call, "name": action.name, "payload": payload, "state": "pending",
                "created_at": at,
            }  # fmt: skip
            connection.execute(insert(tables.action).values(row))
            return Numbered(seq, action.name, payload)

        return await self._database.transact(work)

    async def pending(self, presence: PresenceId, after: int, most: int = 100) -> tuple[Numbered, ...]:
        """The presence's actions after ``after`` that were not acknowledged, in order, ``most`` at a time."""

        def work(connection: Connection) -> tuple[Numbered, ...]:
            one = tables.action.c
            statement = (
                select(one.seq, one.name, one.payload)
                .where(one.presence == presence, one.state == "pending", one.seq > after)
                .order_by(one.seq)
                .limit(most)
            )
            return tuple(Numbered(*row) for row in connection.execute(statement))

        return await self._database.transact(work)

    async def acknowledge(self, presence: PresenceId, action: ActionId, receipt: ActionReceipt) -> None:
        """Keep what became of an action, once; a later receipt of it changes nothing.

        Raises:
            UnknownActionError: The presence was given no such action.
        """

        def work(connection: Connection) -> None:
            one = tables.action.c
            found = select(one.delivery).where(one.presence == presence, one.id == action)
            delivery = connection.execute(found).scalar()
            if delivery is None:
                raise UnknownActionError(action)
            change = update(tables.action).where(one.id == action, one.state == "pending")
            state = "done" if receipt.ok else "refused"
            values = {"state": state, "message_id": receipt.message_id, "code": receipt.code}
            connection.execute(change.values(values))
            if receipt.message_id is not None:
                lane = select(tables.delivery.c.lane).where(*rows.mine(presence, DeliveryId(delivery)))
                own = upsert(tables.lane_message).values(lane=lane.scalar_subquery(), message_id=receipt.message_id)
                connection.execute(own.on_conflict_do_nothing())

        await self._database.transact(work)


def _next(connection: Connection, presence: PresenceId, at: datetime) -> int:
    one = tables.presence.c
    statement = (
        upsert(tables.presence)
        .values(id=presence, next_action=2, alive_at=at)
        .on_conflict_do_update(index_elements=["id"], set_={"next_action": one.next_action + 1})
        .returning(one.next_action)
    )
    return connection.execute(statement).scalar_one() - 1
