"""Compactions: what they start from, and how they end; one transaction each. Source: CTX-7, C26."""

import json
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, insert, select, update

from clankie_captain.core.compaction import Compacted, Compaction, Shorter, Unchanged, put_off, relieved
from clankie_captain.core.run import Usage
from clankie_captain.core.turns import LiveRun
from clankie_captain.errors import FencedError
from clankie_captain.store import allowances, gauges, tables
from clankie_captain.store.engine import Database
from clankie_captain.store.runs import follow
from clankie_settings.ids import RunId

_lane, _run = tables.lane.c, tables.run.c

_CLOSE: Final = (
    update(tables.lane)
    .where(
        _lane.id == bindparam("of_lane"), _lane.live_run == bindparam("of_run"), _lane.epoch == bindparam("of_epoch")
    )
    .values(live_run=None)
    .returning(_lane.next_entry, _lane.history_from)
)
_CANCELLED: Final = select(_run.cancelled).where(_run.id == bindparam("of_run"))
_SHORTEN: Final = update(tables.lane).where(_lane.id == bindparam("of_lane"))
_END: Final = update(tables.run).where(_run.id == bindparam("of_run"))


class CompactionStore:
    """The rows that compactions work on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tokens(self, run: LiveRun) -> int:
        """How full the run's lane was when it was claimed, in tokens."""

        def work(connection: Connection) -> int:
            return gauges.gauge(connection, run.lane.id).tokens

        return await self._database.transact(work)

    async def finish(self, run: LiveRun, ending: Compaction, usage: Usage, follower: RunId, at: datetime) -> Compacted:
        """End a compaction once: let the history begin with its notes or leave it, and start what waits.

        What somebody ended or made pointless meanwhile changes nothing.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: CTX-7, C26.
        """

        def work(connection: Connection) -> Compacted:
            own = {"of_lane": run.lane.id, "of_run": run.run, "of_epoch": run.epoch}
            lane = connection.execute(_CLOSE, own).one_or_none()
            if lane is None:
                raise FencedError(run.lane.id, run.run)
            cancelled = connection.execute(_CANCELLED, own).scalar_one()
            decided = Unchanged("cancelled") if cancelled else ending
            _apply(connection, run, decided, lane.next_entry, lane.history_from, at)
            outcome = "compacted" if isinstance(decided, Shorter) else decided.outcome
            told = {"outcome": outcome, "usage": usage.to_json(), "settled_at": at}
            connection.execute(_END, {"of_run": run.run, **told})
            allowances.spend(connection, run.lane.home, usage, at)
            return Compacted(outcome, follow(connection, run.lane, follower, at))

        return await self._database.transact(work)


def _apply(
    connection: Connection, run: LiveRun, ending: Compaction, next_entry: int, history_from: int, at: datetime
) -> None:
    lines = [("compaction", _told(ending))]
    begins = history_from
    if isinstance(ending, Shorter):
        lines.append(("notes", ending.payload))
        begins = max(history_from, ending.kept_from)
        gauges.renew(connection, run.lane.id, relieved(), next_entry + 1)
    else:
        gauges.note(connection, run.lane.id, put_off(gauges.gauge(connection, run.lane.id)))
    rows = [
        {"lane": run.lane.id, "seq": next_entry + place, "run": run.run, "kind": kind, "payload": payload, "at": at}
        for place, (kind, payload) in enumerate(lines)
    ]
    connection.execute(insert(tables.entry), rows)
    changed = {"next_entry": next_entry + len(rows), "history_from": begins}
    connection.execute(_SHORTEN, {"of_lane": run.lane.id, **changed})


def _told(ending: Compaction) -> str:
    if isinstance(ending, Shorter):
        return json.dumps({"outcome": "compacted", "kept_from": ending.kept_from})
    told: dict[str, str] = {"outcome": ending.outcome}
    if ending.broken is not None:
        # Not the provider's words: they may hold anybody's, and nobody would find them here to forget them.
        told |= {"code": ending.broken.code, "cause": ending.broken.cause}
    return json.dumps(told)
