"""What commands look at and change: a lane's state, its history's beginning, its quiet. Source: OPS-5."""

from collections.abc import Callable
from datetime import datetime
from typing import assert_never

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.children import place
from clankie_captain.core.commands import Deed, Halt, Hush, Renew, is_quiet
from clankie_captain.core.lane import LaneKey, voice_beside, voice_lane
from clankie_captain.core.turns import Aloud, Done, LaneView
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
            own = (view.live, None if view.aloud is None else view.aloud.run)
            return (*(each for each in own if each is not None), *(each.run for each in view.loops))
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
    """A lane and, where it is a room's social one, the loops that it stands for and the room's voice lane."""
    if lane.authority != "social":
        return (lane.id,)
    return (lane.id, *loops.lanes(connection, lane.id), voice_beside(lane))


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
    row = connection.execute(select(one.quiet_until).where(one.id == lane.id)).one_or_none()
    live = _live(connection, lane.id)
    waits = own.lane.in_(_lanes(connection, lane)), own.state.in_(("queued", "steer"))
    waiting = select(func.count()).where(*waits)
    return LaneView(
        live=None if live is None else live.run,
        started_at=None if live is None else live.started_at,
        speakers=frozenset() if live is None else live.speakers,
        waiting=connection.execute(waiting).scalar_one(),
        quiet=row is not None and is_quiet(row.quiet_until, at),
        tokens=allowances.tokens(connection, lane.id, at),
        compacting=live is not None and gauges.is_compaction(connection, live.run),
        one_shots=one_shots.live(connection, room),
        loops=loops.live(connection, lane.id) if lane.authority == "social" else (),
        children=open_in(connection, place(room)),
        aloud=_live(connection, voice_lane(room).id),
    )


def _live(connection: Connection, lane: LaneId) -> Aloud | None:
    """The live run of a lane, and whose words are in it."""
    one, own = tables.run.c, tables.delivery.c
    begun = select(one.id, one.started_at).join(tables.lane, tables.lane.c.live_run == one.id)
    row = connection.execute(begun.where(tables.lane.c.id == lane)).one_or_none()
    if row is None:
        return None
    heard = select(own.actor).where(own.run == row.id, own.state.in_(("live", "heard", "steer")))
    return Aloud(RunId(row.id), frozenset(connection.execute(heard).scalars()), row.started_at)
