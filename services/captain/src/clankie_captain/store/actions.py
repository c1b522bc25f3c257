"""Stored actions: a sequence per presence, given out in the transaction that stores the action."""

from datetime import datetime

from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.turns import LiveRun, Numbered
from clankie_captain.errors import SupersededActionError, UnknownActionError
from clankie_captain.store import rows, speech, tables
from clankie_captain.store.engine import Database
from clankie_captain.store.fences import prove
from clankie_captain.store.numbering import store
from clankie_settings.ids import ActionId, DeliveryId, PresenceId
from clankie_settings.wire.action import Post, Speak, StoredAction
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
            return store(connection, run.presence, action, at, run=run.run, call=call)

        return await self._database.transact(work)

    async def post(self, presence: PresenceId, words: Post, at: datetime) -> Numbered:
        """Store words that belong to no live run and that nobody waits for, once for each action id.

        Source: wire.md.
        """

        def work(connection: Connection) -> Numbered:
            one = tables.action.c
            known = select(one.seq, one.name, one.payload).where(one.id == words.action_id)
            found = connection.execute(known).one_or_none()
            return store(connection, presence, words, at) if found is None else Numbered(*found)

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

    async def acknowledge(
        self, presence: PresenceId, action: ActionId, receipt: ActionReceipt
    ) -> frozenset[PresenceId]:
        """Keep what became of an action, once; a later receipt of it changes nothing.

        Words that cannot be spoken go back to text in the same transaction; the presences that are to post some.

        Raises:
            UnknownActionError: The presence was given no such action.
            SupersededActionError: It was to speak, and its words went back to text before.

        Source: VOX-2.
        """

        def work(connection: Connection) -> frozenset[PresenceId]:
            one = tables.action.c
            found = select(tables.action).where(one.presence == presence, one.id == action)
            row = connection.execute(found).one_or_none()
            if row is None:
                raise UnknownActionError(action)
            if row.state == speech.RETURNED:
                raise SupersededActionError(action)
            if row.name == Speak.name and row.state == "pending" and not receipt.ok:
                return speech.give_back(connection, row, receipt.code)
            change = update(tables.action).where(one.id == action, one.state == "pending")
            state = "done" if receipt.ok else "refused"
            values = {"state": state, "message_id": receipt.message_id, "code": receipt.code}
            connection.execute(change.values(values))
            if receipt.message_id is not None:
                _carry(connection, presence, DeliveryId(row.delivery), receipt.message_id)
            return frozenset()

        return await self._database.transact(work)


def _carry(connection: Connection, presence: PresenceId, delivery: DeliveryId, message: str) -> None:
    """His own words in the room are part of the lane: they are never given to it as backlog."""
    lane = connection.execute(select(tables.delivery.c.lane).where(*rows.mine(presence, delivery))).scalar()
    if lane is not None:
        own = upsert(tables.lane_message).values(lane=lane, message_id=message)
        connection.execute(own.on_conflict_do_nothing())
