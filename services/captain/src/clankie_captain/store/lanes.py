"""Lanes: accept, take, record, cut; one transaction each. Source: LANE-2, DUR-1."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, case, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.exhibits import picture_key
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.pictures import PICTURES
from clankie_captain.core.run import Draft, Entry
from clankie_captain.core.steering import Steered, takeable
from clankie_captain.core.turns import Acceptance, Heard, LiveRun, Pending, Turn
from clankie_captain.errors import FencedError
from clankie_captain.store import arrivals, calls, forks, gauges, tables
from clankie_captain.store.arrivals import Arrival, Terms
from clankie_captain.store.engine import Database
from clankie_captain.store.log import log_heard
from clankie_captain.store.pictures import carries_picture
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import DeliveryId, PresenceId, RunId, TurnId
from clankie_settings.wire.trigger import Trigger

_lane, _delivery, _entry = tables.lane.c, tables.delivery.c, tables.entry.c

_OWNED: Final = (
    _lane.id == bindparam("of_lane"),
    _lane.live_run == bindparam("of_run"),
    _lane.epoch == bindparam("of_epoch"),
)
"""The conditions under which a run is its lane's live one."""

_PROVE: Final = select(_lane.history_from, _lane.next_entry).where(*_OWNED)
_RESERVE: Final = (
    update(tables.lane)
    .where(*_OWNED)
    .values(next_entry=_lane.next_entry + bindparam("entries"))
    .returning(_lane.next_entry)
)
_PENDING: Final = select(
    _delivery.presence,
    _delivery.id,
    _delivery.trigger,
    _delivery.heard,
    _delivery.ready,
    _delivery.pictures,
    _delivery.accepted_at,
    _delivery.awaited,
)
_OWNER: Final = _PENDING.where(_delivery.presence == bindparam("presence"), _delivery.id == bindparam("id"))
_HEARD: Final = (
    select(_delivery.presence, _delivery.id, _delivery.trigger, _delivery.awaited)
    .where(_delivery.run == bindparam("run"), _delivery.state.in_(("live", "heard")))
    .order_by(_delivery.seq)
)
_STEERED: Final = _PENDING.where(_delivery.run == bindparam("run"), _delivery.state == "steer").order_by(_delivery.seq)
_HISTORY: Final = (
    select(_entry.seq, _entry.run, _entry.kind, _entry.payload)
    .where(_entry.lane == bindparam("lane"), _entry.seq >= bindparam("first"), _entry.kind.in_(("request", "response")))
    .order_by(_entry.seq)
)
_NOTED: Final = select(_entry.seq, _entry.run, _entry.kind, _entry.payload).join(
    tables.gauge,
    and_(
        tables.gauge.c.lane == bindparam("lane"),
        _entry.lane == tables.gauge.c.lane,
        _entry.seq == tables.gauge.c.notes,
    ),
)
_ADD_ENTRIES: Final = insert(tables.entry)
_MARK_HEARD: Final = (
    update(tables.delivery)
    .where(_delivery.presence == bindparam("of_presence"), _delivery.id == bindparam("of_delivery"))
    .values(heard=True, state=case((_delivery.state == "steer", "heard"), else_=_delivery.state))
)
_CLAIM: Final = (
    update(tables.delivery)
    .where(_delivery.presence == bindparam("of_presence"), _delivery.id == bindparam("of_delivery"))
    .values(taken=bindparam("of_epoch"))
)
_CARRY: Final = upsert(tables.lane_message).on_conflict_do_nothing()


class LaneStore:
    """The rows of all lanes."""

    def __init__(self, database: Database, terms: Terms | None = None) -> None:
        self._database = database
        self._terms = terms or Terms()

    async def accept(
        self, trigger: Trigger, lane: LaneKey, turn: TurnId, run: RunId, at: datetime, *, awaited: bool = True
    ) -> Acceptance:
        """Accept a delivery once: find it, or store it and decide its way into the lane.

        ``turn`` and ``run`` are fresh ids, used where the delivery is new and where it starts a run. ``awaited`` says
        that its presence waits for the result; else its words go to the room as an action.

        Raises:
            DeliveryConflictError: The id was accepted with other content.

        Source: WIRE-5, DUR-1.
        """

        def work(connection: Connection) -> Acceptance:
            return arrivals.accept(connection, Arrival(trigger, lane, turn, run, at, awaited), self._terms)

        return await self._database.transact(work)

    async def known(self, trigger: Trigger) -> Turn | None:
        """The turn of a delivery that was accepted before, or None where it is new.

        Raises:
            DeliveryConflictError: The id was accepted with other content.
        """

        def work(connection: Connection) -> Turn | None:
            found = arrivals.find(connection, trigger)
            return None if found is None else found.turn

        return await self._database.transact(work)

    async def owner(self, run: LiveRun) -> Pending:
        """The delivery that owns a run, with what of its backlog the lane carries.

        Raises:
            FencedError: The run is not its lane's live one.
        """

        def work(connection: Connection) -> Pending:
            _prove(connection, run)
            row = connection.execute(_OWNER, {"presence": run.presence, "id": run.owner}).one()
            return _pending(connection, run.lane, row)

        return await self._database.transact(work)

    async def take(self, run: LiveRun, now: datetime) -> tuple[Pending, ...]:
        """The steered deliveries that the run's next request carries, in the order of acceptance.

        They become heard with the request that holds them; from now on they can neither be edited nor taken back, as
        long as the run is its lane's live one.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LANE-3, LANE-16, ING-7.
        """

        def work(connection: Connection) -> tuple[Pending, ...]:
            _prove(connection, run)
            waiting = connection.execute(_STEERED, {"run": run.run}).all()
            steered = [Steered(DeliveryId(row.id), row.ready, row.accepted_at) for row in waiting]
            chosen = set(takeable(steered, now))
            taken = [row for row in waiting if row.id in chosen]
            if taken:
                mine = [{"of_presence": row.presence, "of_delivery": row.id, "of_epoch": run.epoch} for row in taken]
                connection.execute(_CLAIM, mine)
            return tuple([_pending(connection, run.lane, row) for row in taken])

        return await self._database.transact(work)

    async def speakers(self, run: LiveRun) -> tuple[Trigger, ...]:
        """The deliveries whose words a run has heard, its owner's first of all, in the order of acceptance.

        Behind them come those that a lane had heard when it forked a child that is among them.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: GRANT-5.
        """

        def work(connection: Connection) -> tuple[Trigger, ...]:
            _prove(connection, run)
            rows = connection.execute(_HEARD, {"run": run.run}).all()
            own = [Trigger.model_validate_json(row.trigger) for row in rows]
            # A child, and what is told of it, may do what all may whose words its lane had heard.
            before = [forks.speakers(connection, row.presence, row.id) for row in rows if not row.awaited]
            return (*own, *(each for several in before for each in several))

        return await self._database.transact(work)

    async def record(self, run: LiveRun, drafts: Sequence[Draft], heard: Sequence[Heard], at: datetime) -> None:
        """Append entries to the lane's history; with them, ``heard`` deliveries become heard.

        A request answers the calls that the history ends in, so their kept results are forgotten with it.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LANE-11, LANE-13.
        """

        def work(connection: Connection) -> None:
            logged = log_heard(connection, heard)
            first = _reserve(connection, run, len(drafts) + len(logged))
            payloads = [*(("heard", payload) for _, payload in logged), *((each.kind, each.payload) for each in drafts)]
            if payloads:
                values = [
                    {"lane": run.lane.id, "seq": first + n, "run": run.run, "kind": kind, "payload": payload, "at": at}
                    for n, (kind, payload) in enumerate(payloads)
                ]
                connection.execute(_ADD_ENTRIES, values)
            for each, _ in logged:
                _mark_heard(connection, run, each)
            if any(each.kind == "request" for each in drafts):
                calls.carried(connection, run.lane.id)

        await self._database.transact(work)

    async def history(self, run: LiveRun) -> tuple[Entry, ...]:
        """What the model is shown of the lane so far, oldest first.

        Raises:
            FencedError: The run is not its lane's live one.
        """

        def work(connection: Connection) -> tuple[Entry, ...]:
            lane = _prove(connection, run)
            noted = connection.execute(_NOTED, {"lane": run.lane.id}).all()
            found = connection.execute(_HISTORY, {"lane": run.lane.id, "first": lane.history_from}).all()
            return tuple(Entry(row.seq, RunId(row.run), row.kind, row.payload) for row in [*noted, *found])

        return await self._database.transact(work)

    async def cut(self, run: LiveRun, kept: int) -> None:
        """Leave everything but the newest ``kept`` entries out of the lane's history from now on.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: CTX-8.
        """

        def work(connection: Connection) -> None:
            lane = _prove(connection, run)
            one = tables.entry.c
            statement = (
                select(one.seq)
                .where(one.lane == run.lane.id, one.kind.in_(("request", "response")))
                .order_by(one.seq.desc())
                .limit(1)
                .offset(kept - 1)
            )
            oldest = connection.execute(statement).scalar() if kept else lane.next_entry
            # They stand for what is older than anything that stays.
            gauges.drop_notes(connection, run.lane.id)
            if oldest is not None and oldest > lane.history_from:
                change = update(tables.lane).where(tables.lane.c.id == run.lane.id)
                connection.execute(change.values(history_from=oldest))

        await self._database.transact(work)


def _prove(connection: Connection, run: LiveRun) -> AnyRow:
    row = connection.execute(_PROVE, _own(run)).one_or_none()
    if row is None:
        raise FencedError(run.lane.id, run.run)
    return row


def _own(run: LiveRun) -> dict[str, Any]:
    return {"of_lane": run.lane.id, "of_run": run.run, "of_epoch": run.epoch}


def _reserve(connection: Connection, run: LiveRun, count: int) -> int:
    after = connection.execute(_RESERVE, {**_own(run), "entries": count}).scalar()
    if after is None:
        raise FencedError(run.lane.id, run.run)
    return after - count


def _mark_heard(connection: Connection, run: LiveRun, heard: Heard) -> None:
    connection.execute(_MARK_HEARD, {"of_presence": heard.presence, "of_delivery": heard.delivery})
    if heard.backlog:
        connection.execute(_CARRY, [{"lane": run.lane.id, "message_id": each} for each in heard.backlog])


def _pending(connection: Connection, lane: LaneKey, row: AnyRow) -> Pending:
    trigger = Trigger.model_validate_json(row.trigger)
    pictures = None if row.pictures is None else PICTURES.validate_json(row.pictures)
    known = _known(connection, lane, trigger)
    came = None if row.awaited else forks.origin(connection, row.presence, row.id)
    return Pending(PresenceId(row.presence), DeliveryId(row.id), trigger, known, row.heard, pictures, came)


def _known(connection: Connection, lane: LaneKey, trigger: Trigger) -> frozenset[str]:
    quoted = [trigger.reply_to.message_id] if trigger.reply_to else []
    asked = [*quoted, *(each.message_id for each in trigger.context)]
    if not asked:
        return frozenset()
    carried, own = tables.lane_message.c, tables.delivery.c
    # A delivery of the lane speaks for itself, now or when its turn comes; only one that never ran is unknown.
    speaks = or_(own.state != "done", own.heard)
    own_words = select(own.message_id).where(own.lane == lane.id, own.message_id.in_(asked), speaks)
    theirs = select(carried.message_id).where(carried.lane == lane.id, carried.message_id.in_(asked))
    known = set(connection.execute(theirs.union(own_words)).scalars())
    visual = trigger.context_visual
    if visual is not None and visual.attachment is not None and carries_picture(connection, lane.id, trigger):
        known.add(picture_key(visual.attachment.id))
    return frozenset(known)
