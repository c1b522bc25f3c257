"""What commands look at and change: a lane's state, its history's beginning, its quiet. Source: OPS-5."""

from collections.abc import Callable
from datetime import datetime
from typing import assert_never

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.children import place
from clankie_captain.core.commands import Deed, Halt, Hush, Renew, is_quiet
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.turns import Done, LaneView
from clankie_captain.store import allowances, gauges, loops, one_shots, tables
from clankie_captain.store.arrivals import cancel_run
from clankie_captain.store.children import open_in
from clankie_captain.store.engine import Database
from clankie_settings.ids import LaneId, PresenceId, RunId
from clankie_settings.wire.command import Command
from clankie_settings.wire.trigger import Room


class ControlStore:
    """The rows that commands work on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def carry_out(
        self, presence: PresenceId, command: Command, lane: LaneKey, at: datetime, decide: Callable[[LaneView], Deed]
    ) -> Done:
        """Do a command once: look at its lane, decide, change the lane and keep the answer, all or nothing.

        One that was done before is answered as it was then.
        """

        def work(connection: Connection) -> Done:
            one = tables.command.c
            known = select(one.answer).where(one.presence == presence, one.id == command.command_id)
            answer = connection.execute(known).scalar()
            if answer is not None:
                return Done(answer)
            view = _view(connection, lane, command.room, at)
            deed = decide(view)
            _change(connection, lane, deed, view, at)
            row = {
                "presence": presence, "id": command.command_id, "name": command.name, "answer": deed.answer, "at": at,
            }  # fmt: skip
            connection.execute(insert(tables.command).values(row))
            return Done(deed.answer, _ended(deed, view))

        return await self._database.transact(work)


def _ended(deed: Deed, view: LaneView) -> tuple[RunId, ...]:
    """The runs that a deed ends; what begins anew needs no compaction of what was, and nothing else runs there."""
    match deed.change:
        case Halt(runs):
            return runs
        case Renew():
            own = () if view.live is None else (view.live,)
            return (*own, *(each.run for each in view.loops))
        case _:
            return ()


def _change(connection: Connection, lane: LaneKey, deed: Deed, view: LaneView, at: datetime) -> None:
    one = tables.lane.c
    for run in _ended(deed, view):
        cancel_run(connection, run)
    match deed.change:
        case Halt():
            pass
        case Renew():
            for each in _lanes(connection, lane):
                gauges.forget(connection, each)
                connection.execute(update(tables.lane).where(one.id == each).values(history_from=one.next_entry))
        case Hush(until):
            _hush(connection, lane, until, at)
        case None:
            pass
        case _:  # pragma: no cover
            assert_never(deed.change)


def _lanes(connection: Connection, lane: LaneKey) -> tuple[LaneId, ...]:
    """A lane and the loops that it stands for."""
    return (lane.id, *loops.lanes(connection, lane.id)) if lane.authority == "social" else (lane.id,)


def _hush(connection: Connection, lane: LaneKey, until: datetime | None, at: datetime) -> None:
    row = {
        "id": lane.id, "kind": lane.kind, "authority": lane.authority, "owner": None, "epoch": 0,
        "live_run": None, "next_seq": 0, "next_entry": 1, "history_from": 1, "quiet_until": until,
        "touched_at": at,
    }  # fmt: skip
    known = upsert(tables.lane).values(row)
    changed = {"quiet_until": until, "touched_at": at}
    connection.execute(known.on_conflict_do_update(index_elements=["id"], set_=changed))


def _view(connection: Connection, lane: LaneKey, room: Room, at: datetime) -> LaneView:
    one, own = tables.lane.c, tables.delivery.c
    statement = select(one.live_run, one.quiet_until).where(one.id == lane.id)
    row = connection.execute(statement).one_or_none()
    waits = own.lane.in_(_lanes(connection, lane)), own.state.in_(("queued", "steer"))
    waiting = select(func.count()).where(*waits)
    started = None
    speakers: frozenset[str] = frozenset()
    if row is not None and row.live_run is not None:
        begun = select(tables.run.c.started_at).where(tables.run.c.id == row.live_run)
        started = connection.execute(begun).scalar_one()
        heard = select(own.actor).where(own.run == row.live_run, own.state.in_(("live", "heard", "steer")))
        speakers = frozenset(connection.execute(heard).scalars())
    return LaneView(
        live=None if row is None or row.live_run is None else RunId(row.live_run),
        started_at=started,
        speakers=speakers,
        waiting=connection.execute(waiting).scalar_one(),
        quiet=row is not None and is_quiet(row.quiet_until, at),
        tokens=allowances.tokens(connection, lane.id, at),
        compacting=row is not None and gauges.is_compaction(connection, row.live_run),
        one_shots=one_shots.live(connection, room),
        loops=loops.live(connection, lane.id) if lane.authority == "social" else (),
        children=open_in(connection, place(room)),
    )
