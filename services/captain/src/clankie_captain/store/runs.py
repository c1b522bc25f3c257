"""Runs: settle and recover; one transaction each. Source: LANE-2 to LANE-6, DUR-2."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, select, update

from clankie_captain.core import crash_points
from clankie_captain.core.admission import steer_by
from clankie_captain.core.compaction import EMPTY, Fill
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.placement import Queued, burst
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import Broken, Usage
from clankie_captain.core.settlement import RunOn, Settlement, settlement
from clankie_captain.core.turns import Ended, LiveRun, Settling
from clankie_captain.errors import FencedError
from clankie_captain.store import allowances, events, forks, gauges, one_shots, posts, rows, speech, tables
from clankie_captain.store.arrivals import start
from clankie_captain.store.engine import Database
from clankie_captain.store.log import log_broken, log_said
from clankie_captain.store.rows import AnyRow
from clankie_settings.crashing import Crash, NoCrash
from clankie_settings.ids import DeliveryId, PresenceId, RunId
from clankie_settings.wire.result import Replied
from clankie_settings.wire.trigger import Trigger

_lane, _delivery, _action = tables.lane.c, tables.delivery.c, tables.action.c

# Put together once, for each run settles by them; what they set besides their conditions comes with the parameters.
_CLOSE: Final = (
    update(tables.lane)
    .where(
        _lane.id == bindparam("of_lane"), _lane.live_run == bindparam("of_run"), _lane.epoch == bindparam("of_epoch")
    )
    .values(live_run=None)
    .returning(_lane.next_entry)
)
_TURNS: Final = (
    select(_delivery.presence, _delivery.id, _delivery.turn, _delivery.addressed, _delivery.state, _delivery.awaited)
    .where(_delivery.run == bindparam("of_run"), _delivery.state.in_(tuple(rows.HEARING)))
    .order_by(_delivery.seq)
)
_LAST_ACTION: Final = select(func.max(_action.seq)).where(
    _action.run == bindparam("of_run"), _action.presence == bindparam("of_presence")
)
_CHANGE_DELIVERY: Final = update(tables.delivery).where(
    _delivery.presence == bindparam("of_presence"), _delivery.id == bindparam("of_delivery")
)
_CHANGE_LANE: Final = update(tables.lane).where(_lane.id == bindparam("of_lane"))
_CHANGE_RUN: Final = update(tables.run).where(tables.run.c.id == bindparam("of_run"))
_ADD_ENTRIES: Final = insert(tables.entry)
_QUEUED: Final = (
    select(_delivery.presence, _delivery.id, _delivery.trigger)
    .where(_delivery.lane == bindparam("of_lane"), _delivery.state == "queued")
    .order_by(_delivery.seq)
)
_OLDEST_QUEUED: Final = _QUEUED.limit(1)


class RunStore:
    """The rows of all runs."""

    def __init__(self, database: Database, crash: Crash | None = None) -> None:
        self._database = database
        self._crash = crash or NoCrash()

    async def settle(
        self, run: LiveRun, ending: Reply | Broken, usage: Usage, follower: RunId, at: datetime, fill: Fill = EMPTY
    ) -> Settling:
        """End a run once, with a result for each of its turns, and start the next queued turn under ``follower``.

        Where the lane is too full after it, ``follower`` compacts it instead (CTX-7).

        What was steered is read in this very transaction: nothing can slip between the last look and the end.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LANE-6, LANE-7.
        """

        def work(connection: Connection) -> Settling:
            lane = _close(connection, run)
            turns = _turns(connection, run)
            # By turn: two presences of a room may have given their deliveries one id.
            owners = {row.turn: PresenceId(row.presence) for row in turns}
            last = _last_action(connection, run)
            decided = settlement(run.run, ending, rows.run_turns(turns), last)
            if isinstance(decided, RunOn):
                _reopen(connection, run)
                return decided
            final, aloud = speech.say(connection, run, decided, owners, at)
            _apply(connection, run, final, owners, at)
            _log(connection, run, decided, ending, lane.next_entry, at)
            _close_run(connection, run, decided, usage, at)
            posted = aloud | posts.report(connection, run, final, owners, at)
            full = gauges.after_run(connection, run.lane, fill)
            follows = (gauges.claim if full else follow)(connection, run.lane, follower, at)
            told = forks.settled(connection, run, decided.results, at)
            self._crash.reach(crash_points.SETTLING)
            return Ended(tuple((owners[each.turn_id], each) for each in final.results), follows, posted, told)

        settling = await self._database.transact(work)
        self._crash.reach(crash_points.SETTLED)
        return settling

    async def take_over(self, at: datetime) -> tuple[LiveRun, ...]:
        """Take over, with a new epoch and as their next attempt, the runs that a captain that died left live.

        Lanes that it was compacting are only given back.

        Source: DUR-2, LANE-2.
        """

        def work(connection: Connection) -> tuple[LiveRun, ...]:
            gauges.release(connection, at)
            live = select(tables.lane).where(tables.lane.c.live_run.is_not(None)).order_by(tables.lane.c.touched_at)
            return tuple([_take_over(connection, row, at) for row in connection.execute(live).all()])

        return await self._database.transact(work)

    async def leave(self) -> int:
        """Let the runs that are live go on later as the attempt that they were: the captain stops; how many.

        Source: DUR-5.
        """

        def work(connection: Connection) -> int:
            live = select(tables.lane.c.live_run).where(tables.lane.c.live_run.is_not(None))
            one = tables.run.c
            again = update(tables.run).where(one.id.in_(live)).values(attempt=one.attempt - 1)
            return connection.execute(again).rowcount

        return await self._database.transact(work)

    async def start_waiting(self, fresh: Sequence[RunId], at: datetime) -> tuple[LiveRun, ...]:
        """Start lanes whose turns only wait, at most one for each fresh run id.

        Source: LANE-6.
        """

        def work(connection: Connection) -> tuple[LiveRun, ...]:
            one, own = tables.lane.c, tables.delivery.c
            waiting = select(own.lane).where(own.state == "queued").distinct()
            durable = one.live_run.is_(None), one.kind != "one_shot", one.id.in_(waiting)
            idle = select(tables.lane).where(*durable).limit(len(fresh))
            found = [rows.lane_key(row) for row in connection.execute(idle).all()]
            # A room's one-shots come one at a time: those that wait for another's end are no idle lanes.
            lanes = [*found, *one_shots.waiting(connection), *forks.next_waiting(connection)]
            started = [follow(connection, lane, run, at) for run, lane in zip(fresh, lanes, strict=False)]
            return tuple(each for each in started if each is not None)

        return await self._database.transact(work)


def _close(connection: Connection, run: LiveRun) -> AnyRow:
    own = {"of_lane": run.lane.id, "of_run": run.run, "of_epoch": run.epoch}
    row = connection.execute(_CLOSE, own).one_or_none()
    if row is None:
        raise FencedError(run.lane.id, run.run)
    return row


def _reopen(connection: Connection, run: LiveRun) -> None:
    connection.execute(_CHANGE_LANE, {"of_lane": run.lane.id, "live_run": run.run})
    # The answer that nobody was shown leaves the history, so that the next one answers everything (LANE-9).
    one = tables.entry.c
    last = select(func.max(one.seq)).where(one.lane == run.lane.id, one.kind.in_(("request", "response")))
    dropped = (
        update(tables.entry)
        .where(one.lane == run.lane.id, one.seq == last.scalar_subquery(), one.kind == "response", one.run == run.run)
        .values(kind="unposted")
    )
    connection.execute(dropped)


def _turns(connection: Connection, run: LiveRun) -> Sequence[AnyRow]:
    return connection.execute(_TURNS, {"of_run": run.run}).all()


def _last_action(connection: Connection, run: LiveRun) -> int | None:
    return connection.execute(_LAST_ACTION, {"of_run": run.run, "of_presence": run.presence}).scalar()


def _apply(
    connection: Connection,
    run: LiveRun,
    decided: Settlement,
    owners: dict[str, PresenceId],
    at: datetime,
) -> None:
    for each in decided.results:
        mine = {"of_presence": owners[each.turn_id], "of_delivery": each.delivery_id}
        stored = each.model_dump_json(exclude_none=True)
        done = {"state": "done", "result": stored, "owed": each.owed, "settled_at": at}
        connection.execute(_CHANGE_DELIVERY, {**mine, **done})
    if decided.requeued:
        again = update(tables.delivery).where(_delivery.run == run.run, _delivery.state == "steer")
        connection.execute(again.values(state="queued", run=None))


def _log(
    connection: Connection, run: LiveRun, decided: Settlement, ending: Reply | Broken, next_entry: int, at: datetime
) -> None:
    said = [log_said(each) for each in decided.results if isinstance(each, Replied)]
    broken = [log_broken(ending)] if isinstance(ending, Broken) else []
    lines = [
        {"lane": run.lane.id, "seq": next_entry + place, "run": run.run, "kind": kind, "payload": payload, "at": at}
        for place, (kind, payload) in enumerate([*said, *broken, *events.settled(run.lane.id, decided.results)])
    ]
    if lines:
        connection.execute(_ADD_ENTRIES, lines)
        connection.execute(_CHANGE_LANE, {"of_lane": run.lane.id, "next_entry": next_entry + len(lines)})


def _close_run(connection: Connection, run: LiveRun, decided: Settlement, usage: Usage, at: datetime) -> None:
    outcome = next(each for each in decided.results if each.delivery_id == run.owner)
    code = getattr(outcome, "code", None)
    values = {"outcome": code or outcome.state, "usage": usage.to_json(), "settled_at": at}
    connection.execute(_CHANGE_RUN, {"of_run": run.run, **values})
    allowances.spend(connection, run.lane.home, usage, at)


def follow(connection: Connection, lane: LaneKey, run: RunId, at: datetime) -> LiveRun | None:
    """Start an idle lane's oldest queued turn as ``run``, or the next lane of its kind; None where none waits.

    Where only the sender steers, what the same sender has queued joins the run.

    Source: LOOP-2, GRANT-2.
    """
    own = _next_lane(connection, lane)
    if own is None:
        return None
    together = steer_by(own) == "sender"
    found = connection.execute(_QUEUED if together else _OLDEST_QUEUED, {"of_lane": own.id}).all()
    if not found:
        return None
    triggers = [Trigger.model_validate_json(row.trigger) for row in found]
    joined = burst([_queued(each) for each in triggers])
    for place, each in enumerate(joined):
        mine = {"of_presence": each.presence, "of_delivery": each.delivery}
        connection.execute(_CHANGE_DELIVERY, {**mine, "state": "steer" if place else "live", "run": run})
    return start(connection, own, run, found[0], at, autonomous=triggers[0].kind == "catch_up")


def _next_lane(connection: Connection, lane: LaneKey) -> LaneKey | None:
    """Whose turn it is where a lane has come free: its own, or that of the next lane of its kind."""
    if lane.forked_from is not None:
        return next(iter(forks.next_waiting(connection)), None)
    return one_shots.next_beside(connection, lane.id) if lane.kind == "one_shot" else lane


def _queued(trigger: Trigger) -> Queued:
    presence, delivery = PresenceId(trigger.presence_id), DeliveryId(trigger.delivery_id)
    return Queued(
        presence, delivery, trigger.actor.actor_id, tuple(sorted(trigger.actor.role_ids)), trigger.delivery != "queue"
    )


def _take_over(connection: Connection, lane: AnyRow, at: datetime) -> LiveRun:
    one = tables.lane.c
    raised = {"epoch": one.epoch + 1, "touched_at": at}
    change = update(tables.lane).where(one.id == lane.id).values(raised).returning(one.epoch)
    epoch = connection.execute(change).scalar_one()
    mine = tables.run.c.id == lane.live_run
    again = update(tables.run).where(mine).values(epoch=epoch, attempt=tables.run.c.attempt + 1)
    row = connection.execute(again.returning(tables.run)).one()
    return rows.live_run(rows.lane_key(lane), row)
