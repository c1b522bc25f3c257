"""Children as they are forked, looked at and ended. Source: LOOP-6."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, update

from clankie_captain.core import children
from clankie_captain.core.children import Child, Ending, Fork, ForkOutcome, OpenCounts
from clankie_captain.core.settlement import failure
from clankie_captain.core.turns import LiveRun
from clankie_captain.store import forks, rows, tables
from clankie_captain.store.arrivals import cancel_run
from clankie_captain.store.engine import Database
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import ChildId, DeliveryId, LaneId, PresenceId, RunId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Failed
from clankie_settings.wire.trigger import Trigger

_child, _delivery, _run = tables.child.c, tables.delivery.c, tables.run.c
_told = tables.delivery.alias("told")

_SHOWN: Final = (
    select(
        tables.child,
        _delivery.actor,
        _delivery.trigger,
        _delivery.turn,
        _delivery.state,
        _delivery.result,
        _delivery.run,
        _delivery.settled_at,
        _run.attempt,
        _run.usage,
        _run.started_at,
        _told.c.state.label("told_state"),
        _told.c.result.label("told_result"),
    )
    .select_from(tables.child)
    .join(tables.delivery, (_delivery.presence == _child.presence) & (_delivery.id == _child.id))
    .outerjoin(tables.run, _run.id == _delivery.run)
    .outerjoin(
        _told, (_told.c.presence == _child.presence) & (_told.c.id == children.report_id(ChildId("")) + _child.id)
    )
)
_OF_ID: Final = _SHOWN.where(_child.id == bindparam("child"))
_NEWEST: Final = _SHOWN.order_by(_child.created_at.desc(), _child.id.desc())
_END: Final = update(tables.delivery).where(
    _delivery.presence == bindparam("of_presence"), _delivery.id == bindparam("of_delivery")
)


_TASKED: Final = tables.child.join(
    tables.delivery, (_delivery.presence == _child.presence) & (_delivery.id == _child.id)
)


class ChildStore:
    """The rows of all children."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def fork(self, run: LiveRun, wanted: Fork, at: datetime) -> ForkOutcome:
        """Begin a child of a live run's lane, or let it wait; its call has its result in the same transaction.

        Raises:
            FencedError: The run is not its lane's live one.
        """
        return await self._database.transact(lambda connection: forks.fork(connection, run, wanted, at))

    async def newest(self, most: int) -> tuple[Child, ...]:
        """The children that were forked last, newest first."""

        def work(connection: Connection) -> tuple[Child, ...]:
            return tuple(_shown(row) for row in connection.execute(_NEWEST.limit(most)))

        return await self._database.transact(work)

    async def open(self) -> OpenCounts:
        """How many children run, and how many wait."""

        def work(connection: Connection) -> OpenCounts:
            open_ones = select(_delivery.state, func.count().label("many")).select_from(_TASKED)
            rows_of = open_ones.where(_delivery.state.in_(("queued", "live"))).group_by(_delivery.state)
            found = {row.state: row.many for row in connection.execute(rows_of)}
            return OpenCounts(found.get("live", 0), found.get("queued", 0))

        return await self._database.transact(work)

    async def cancel(self, child: ChildId, at: datetime) -> Ending | None:
        """Ask for a child's end; None where there is no such. One that has ended stays as it is."""

        def work(connection: Connection) -> Ending | None:
            row = connection.execute(_OF_ID, {"child": child}).first()
            if row is None:
                return None
            if row.state == "live":
                cancel_run(connection, RunId(row.run))
                return Ending(_shown(row), run=RunId(row.run))
            return Ending(_shown(row)) if row.state == "done" else _unbegun(connection, row, at)

        return await self._database.transact(work)


def open_in(connection: Connection, room: str) -> int:
    """How many children of a room have not ended."""
    counted = (
        select(func.count()).select_from(_TASKED).where(_delivery.state.in_(("queued", "live")), _child.room == room)
    )
    return connection.execute(counted).scalar_one()


def _unbegun(connection: Connection, row: AnyRow, at: datetime) -> Ending:
    """End a child that waits; nothing that waits behind it comes free by that."""
    ended = failure(DeliveryId(row.id), TurnId(row.turn), FailureCode.CAPTAIN_CANCELLED)
    mine = {"of_presence": row.presence, "of_delivery": row.id}
    done = {"state": "done", "result": ended.model_dump_json(exclude_none=True), "settled_at": at}
    connection.execute(_END, {**mine, **done})
    lane = connection.execute(select(tables.lane).where(tables.lane.c.id == row.lane)).one()
    parent = rows.lane_key(lane).forked_from
    assert parent is not None
    told = forks.tell(connection, PresenceId(row.presence), ChildId(row.id), parent, ended, at)
    shown = connection.execute(_OF_ID, {"child": row.id}).one()
    return Ending(_shown(shown), result=ended, told=told)


def _shown(row: AnyRow) -> Child:
    ended = rows.result(row.result, owed=False)
    told = rows.result(row.told_result, owed=False)
    code = ended.code if isinstance(ended, Failed) else None
    return Child(
        id=ChildId(row.id),
        lane=LaneId(row.lane),
        forked_from=LaneId(row.forked_from),
        room=row.room,
        presence=PresenceId(row.presence),
        owner=DeliveryId(row.owner),
        actor=row.actor,
        fingerprint=row.fingerprint,
        task=Trigger.model_validate_json(row.trigger).body or "",
        state=children.state(row.state, ended),
        code=code,
        attempt=row.attempt or 0,
        report=told.state if told is not None else row.told_state,
        usage=row.usage,
        created_at=row.created_at,
        started_at=row.started_at,
        settled_at=row.settled_at,
    )
