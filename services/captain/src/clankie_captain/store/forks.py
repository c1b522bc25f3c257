"""Background threads: forked, begun, ended and told of, each inside the transaction that it belongs to. Source: LOOP-6.

A child is the delivery of its task, in a lane of its own; its row says where it comes from. So it waits, runs, is taken
over and settles as every delivery does.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, literal, select
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core import children
from clankie_captain.core.children import Fork, Forked, ForkOutcome, OpenChild, Unforked, report_id
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.origin import Errand, Homecoming, Origin
from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import LiveRun
from clankie_captain.store import calls, rows, tables
from clankie_captain.store.arrivals import Arrival, Terms, accept, start
from clankie_captain.store.fences import prove
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import ChildId, PresenceId, RunId, TurnId
from clankie_settings.wire.result import Replied
from clankie_settings.wire.trigger import Trigger, content_hash

_child, _delivery, _entry, _lane = tables.child.c, tables.delivery.c, tables.entry.c, tables.lane.c

_WITH_TASK: Final = tables.child.join(
    tables.delivery, (_delivery.presence == _child.presence) & (_delivery.id == _child.id)
)
_OPEN: Final = (
    select(_child.id.label("child"), _child.room, _delivery.state.label("stands"), tables.lane)
    .select_from(_WITH_TASK.join(tables.lane, _lane.id == _child.lane))
    .where(_delivery.state.in_(("queued", "live")))
    .order_by(_child.created_at, _child.id)
)
_FIND: Final = select(tables.child).where(_child.presence == bindparam("presence"), _child.id == bindparam("id"))
_TRIGGER: Final = select(_delivery.trigger, _delivery.result).where(
    _delivery.presence == bindparam("presence"), _delivery.id == bindparam("id")
)
_HEARD: Final = (
    select(_delivery.presence, _delivery.id)
    .where(_delivery.run == bindparam("run"), _delivery.state.in_(("live", "heard")))
    .order_by(_delivery.seq)
)
_PARENT: Final = select(_lane.next_entry, _lane.history_from).where(_lane.id == bindparam("lane"))


def fork(connection: Connection, run: LiveRun, wanted: Fork, at: datetime) -> ForkOutcome:
    """Begin a child of a live run's lane, or let it wait for its turn; the run's call has its result with it.

    Raises:
        FencedError: The run is not its lane's live one.
    """
    prove(connection, run)
    open_children = [_seen(row) for row in connection.execute(_OPEN)]
    mine = {"presence": run.presence, "id": run.owner}
    owner = Trigger.model_validate_json(connection.execute(_TRIGGER, mine).one().trigger)
    fresh = OpenChild(wanted.child, children.place(owner.room), running=False)
    begins = wanted.child in children.startable([*open_children, fresh])
    if not begins and children.full(open_children):
        return Unforked(children.FULL)
    lane = children.child_lane(run.lane, wanted.child)
    _copy(connection, run, lane, at)
    _keep_calls(connection, run, lane, wanted, at)
    row = {
        "presence": run.presence, "id": wanted.child, "lane": lane.id, "forked_from": run.lane.id,
        "room": fresh.room, "forked_by": run.run, "owner": run.owner, "fingerprint": wanted.fingerprint,
        "heard": json.dumps(_heard(connection, run)), "created_at": at,
    }  # fmt: skip
    connection.execute(insert(tables.child).values(row))
    task = _store(connection, lane, wanted, children.task(owner, wanted.child, wanted.task, at), at, begins=begins)
    return Forked(start(connection, lane, wanted.run, task, at) if begins else None)


def next_waiting(connection: Connection) -> tuple[LaneKey, ...]:
    """The lanes of children that may begin now, in the order in which they were forked."""
    found = connection.execute(_OPEN).all()
    lanes = {row.child: rows.lane_key(row) for row in found}
    return tuple(lanes[each] for each in children.startable([_seen(row) for row in found]))


def settled(connection: Connection, run: LiveRun, results: Sequence[Settled], at: datetime) -> LiveRun | None:
    """Tell the lane of the end of its child, where this run was one; the run that the telling starts."""
    if run.lane.forked_from is None:
        return None
    ended = next(each for each in results if each.delivery_id == run.owner)
    return tell(connection, run.presence, ChildId(run.owner), run.lane.forked_from, ended, at)


def tell(
    connection: Connection, presence: PresenceId, child: ChildId, parent: LaneKey, ended: Settled, at: datetime
) -> LiveRun | None:
    """Queue in a lane what came of its child, once; the run that it starts, where nothing runs there."""
    errand = Trigger.model_validate_json(
        connection.execute(_TRIGGER, {"presence": presence, "id": child}).one().trigger
    )
    told = children.report(errand, ended, at)
    # What it was never asked for has no reader any more.
    calls.carried(connection, children.child_lane(parent, child).id)
    # No limit of the owner's is asked again: the work was taken on within them.
    arrival = Arrival(
        told, parent, TurnId(f"turn-{told.delivery_id}"), RunId(f"run-{told.delivery_id}"), at, awaited=False
    )
    return accept(connection, arrival, Terms()).started


def origin(connection: Connection, presence: str, delivery: str) -> Origin | None:
    """Where a delivery that nobody waits for comes from; None where it belongs to no child."""
    row = _of(connection, presence, delivery)
    if row is None:
        return None
    if row.id == delivery:
        return Errand(row.fingerprint)
    task = connection.execute(_TRIGGER, {"presence": presence, "id": row.id}).one()
    ended = rows.result(task.result, owed=False)
    pictures = ended.artifacts if isinstance(ended, Replied) else ()
    return Homecoming(Trigger.model_validate_json(task.trigger).body or "", children.ending(ended), pictures)


def speakers(connection: Connection, presence: str, delivery: str) -> tuple[Trigger, ...]:
    """The deliveries that the lane had heard when it forked the child that this one belongs to; none: no child's."""
    row = _of(connection, presence, delivery)
    if row is None:
        return ()
    found = (
        connection.execute(_TRIGGER, {"presence": each[0], "id": each[1]}).one_or_none()
        for each in json.loads(row.heard)
    )
    return tuple(Trigger.model_validate_json(each.trigger) for each in found if each is not None)


def _of(connection: Connection, presence: str, delivery: str) -> AnyRow | None:
    own = delivery.removeprefix(report_id(ChildId("")))
    return connection.execute(_FIND, {"presence": presence, "id": own}).one_or_none()


def _seen(row: AnyRow) -> OpenChild:
    return OpenChild(ChildId(row.child), row.room, row.stands == "live")


def _heard(connection: Connection, run: LiveRun) -> list[tuple[str, str]]:
    own = [(row.presence, row.id) for row in connection.execute(_HEARD, {"run": run.run})]
    # What its own words stand for was heard as well: the task or the report of an earlier child.
    row = _of(connection, run.presence, run.owner)
    return own if row is None else [*own, *((each[0], each[1]) for each in json.loads(row.heard))]


def _copy(connection: Connection, run: LiveRun, lane: LaneKey, at: datetime) -> None:
    """Let a child's lane begin with what the model is shown of its parent now, byte for byte. Source: LANE-13."""
    parent = connection.execute(_PARENT, {"lane": run.lane.id}).one()
    fresh = {
        "id": lane.id, "kind": lane.kind, "authority": lane.authority, "owner": None, "epoch": 0, "live_run": None,
        "next_seq": 2, "next_entry": parent.next_entry, "history_from": parent.history_from, "quiet_until": None,
        "touched_at": at,
    }  # fmt: skip
    connection.execute(insert(tables.lane).values(fresh))
    gauge = tables.gauge.c
    noted = connection.execute(select(tables.gauge).where(gauge.lane == run.lane.id)).one_or_none()
    notes = None if noted is None else noted.notes
    if noted is not None:
        values = {"lane": lane.id, "tokens": noted.tokens, "resume_at": noted.resume_at, "notes": notes}
        connection.execute(insert(tables.gauge).values(values))
    # With what was heard, so that whose words stand here is known when somebody is to be forgotten.
    shown = (_entry.seq >= parent.history_from) & _entry.kind.in_(("request", "response", "heard"))
    which = shown if notes is None else shown | (_entry.seq == notes)
    columns = [literal(lane.id), _entry.seq, _entry.run, _entry.kind, _entry.payload, _entry.at]
    past = select(*columns).where(_entry.lane == run.lane.id, which)
    connection.execute(insert(tables.entry).from_select(["lane", "seq", "run", "kind", "payload", "at"], past))


def _keep_calls(connection: Connection, run: LiveRun, lane: LaneKey, wanted: Fork, at: datetime) -> None:
    """Whoever is killed now is told afterwards that the work goes on, and asks for it no second time. Source: DUR-2."""
    kept = wanted.calls
    values = [
        {"lane": run.lane.id, "call": kept.call, "payload": kept.told, "at": at},
        *({"lane": lane.id, "call": call, "payload": payload, "at": at} for call, payload in kept.child),
    ]
    connection.execute(upsert(tables.finished_call).on_conflict_do_nothing(), values)


def _store(connection: Connection, lane: LaneKey, wanted: Fork, task: Trigger, at: datetime, *, begins: bool) -> AnyRow:
    values: dict[str, Any] = {
        "presence": task.presence_id, "id": task.delivery_id, "turn": TurnId(f"turn-{task.delivery_id}"),
        "lane": lane.id, "seq": 1, "actor": task.actor.actor_id, "message_id": task.message_id, "addressed": False,
        "content_hash": content_hash(task), "trigger": task.model_dump_json(exclude_none=True), "heard": False,
        "ready": True, "accepted_at": at, "parts_posted": 0, "awaited": False, "owed": False,
        "state": "live" if begins else "queued", "run": wanted.run if begins else None,
    }  # fmt: skip
    return connection.execute(insert(tables.delivery).values(values).returning(tables.delivery)).one()
