"""What came of tool calls whose results no request carries yet, so that no captain runs them again. Source: DUR-2."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.run import CallEnd, CallResult, UpdateOutcome, room_refused
from clankie_captain.core.turns import LiveRun, Underway
from clankie_captain.store import tables
from clankie_captain.store.engine import Database
from clankie_captain.store.fences import prove
from clankie_settings.ids import ActionId

_one, _action = tables.finished_call.c, tables.action.c

_KEPT: Final = select(_one.payload).where(_one.lane == bindparam("of_lane"), _one.call == bindparam("of_call"))
_SENT: Final = (
    select(_action.id, _action.state, _action.code)
    .join(tables.run, tables.run.c.id == _action.run)
    .where(tables.run.c.lane == bindparam("of_lane"), _action.call == bindparam("of_call"))
)
_CARRIED: Final = delete(tables.finished_call).where(_one.lane == bindparam("of_lane"))


class CallStore:
    """The rows of finished calls. An id of a call is given once in a lane."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def finish(self, run: LiveRun, call: str, result: CallResult, at: datetime) -> None:
        """Keep the result of a call of a live run; the first one of a call stays.

        Raises:
            FencedError: The run is not its lane's live one.
        """

        def work(connection: Connection) -> None:
            prove(connection, run)
            row = {"lane": run.lane.id, "call": call, "payload": result.payload, "at": at}
            connection.execute(upsert(tables.finished_call).values(row).on_conflict_do_nothing())

        await self._database.transact(work)

    async def finished(self, run: LiveRun, call: str) -> CallEnd | Underway | None:
        """What is known of a call of the run's lane, whichever run made it; None where it ended without a trace.

        Raises:
            FencedError: The run is not its lane's live one.
        """

        def work(connection: Connection) -> CallEnd | Underway | None:
            prove(connection, run)
            asked = {"of_lane": run.lane.id, "of_call": call}
            kept = connection.execute(_KEPT, asked).scalar()
            if kept is not None:
                return CallResult(kept)
            sent = connection.execute(_SENT, asked).first()
            if sent is None:
                return None
            if sent.state == "pending":
                return Underway(ActionId(sent.id))
            return (
                UpdateOutcome("posted") if sent.state == "done" else UpdateOutcome("refused", room_refused(sent.code))
            )

        return await self._database.transact(work)


def carried(connection: Connection, lane: str) -> None:
    """Forget inside a transaction the results of a lane's calls: a request that answers them is stored with it."""
    connection.execute(_CARRIED, {"of_lane": lane})
