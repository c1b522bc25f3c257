"""What commands look at and change: a lane's state, its history's beginning, its quiet. Source: OPS-5."""

from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.turns import LaneView
from clankie_captain.store import allowances, tables
from clankie_captain.store.arrivals import cancel_run
from clankie_captain.store.engine import Database
from clankie_settings.ids import PresenceId, RunId
from clankie_settings.wire.command import Command


class ControlStore:
    """The rows that commands work on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def view(self, lane: LaneKey, at: datetime) -> LaneView:
        """A lane as it is; one that there is no row of is idle and empty."""

        async def work(connection: AsyncConnection) -> LaneView:
            return await _view(connection, lane, at)

        return await self._database.transact(work)

    async def stop(self, lane: LaneKey) -> RunId | None:
        """Write down that the live run must end; which it is, or None where nothing runs."""

        async def work(connection: AsyncConnection) -> RunId | None:
            run = (await connection.execute(select(tables.lane.c.live_run).where(tables.lane.c.id == lane.id))).scalar()
            if run is not None:
                await cancel_run(connection, RunId(run))
            return None if run is None else RunId(run)

        return await self._database.transact(work)

    async def renew(self, lane: LaneKey) -> bool:
        """Let the lane's history begin anew; False where a run is live, which needs the old one."""

        async def work(connection: AsyncConnection) -> bool:
            one = tables.lane.c
            live = select(one.live_run).where(one.id == lane.id)
            if (await connection.execute(live)).scalar() is not None:
                return False
            await connection.execute(update(tables.lane).where(one.id == lane.id).values(history_from=one.next_entry))
            return True

        return await self._database.transact(work)

    async def quiet(self, lane: LaneKey, until: datetime | None, at: datetime) -> None:
        """Keep the lane quiet until then, or no longer."""

        async def work(connection: AsyncConnection) -> None:
            row = {
                "id": lane.id, "kind": lane.kind, "authority": lane.authority, "owner": None, "epoch": 0,
                "live_run": None, "next_seq": 0, "next_entry": 1, "history_from": 1, "quiet_until": until,
                "touched_at": at,
            }  # fmt: skip
            known = upsert(tables.lane).values(row)
            await connection.execute(
                known.on_conflict_do_update(index_elements=["id"], set_={"quiet_until": until, "touched_at": at})
            )

        await self._database.transact(work)

    async def answer(self, presence: PresenceId, command: Command) -> str | None:
        """What a command was answered when it was done, or None where it is new."""

        async def work(connection: AsyncConnection) -> str | None:
            one = tables.command.c
            statement = select(one.answer).where(one.presence == presence, one.id == command.command_id)
            return (await connection.execute(statement)).scalar()

        return await self._database.transact(work)

    async def answered(self, presence: PresenceId, command: Command, answer: str, at: datetime) -> None:
        """Keep what a command was answered."""

        async def work(connection: AsyncConnection) -> None:
            row = {
                "presence": presence, "id": command.command_id, "name": command.name, "answer": answer, "at": at,
            }  # fmt: skip
            await connection.execute(upsert(tables.command).values(row).on_conflict_do_nothing())

        await self._database.transact(work)


async def _view(connection: AsyncConnection, lane: LaneKey, at: datetime) -> LaneView:
    one, own = tables.lane.c, tables.delivery.c
    statement = select(one.live_run, one.quiet_until).where(one.id == lane.id)
    row = (await connection.execute(statement)).one_or_none()
    waiting = select(func.count()).where(own.lane == lane.id, own.state.in_(("queued", "steer")))
    started = None
    speakers: frozenset[str] = frozenset()
    if row is not None and row.live_run is not None:
        begun = select(tables.run.c.started_at).where(tables.run.c.id == row.live_run)
        started = (await connection.execute(begun)).scalar_one()
        heard = select(own.actor).where(own.run == row.live_run, own.state.in_(("live", "heard", "steer")))
        speakers = frozenset((await connection.execute(heard)).scalars())
    return LaneView(
        live=None if row is None or row.live_run is None else RunId(row.live_run),
        started_at=started,
        speakers=speakers,
        waiting=(await connection.execute(waiting)).scalar_one(),
        quiet=row is not None and row.quiet_until is not None and row.quiet_until > at,
        tokens=await allowances.tokens(connection, lane.id, at),
    )
