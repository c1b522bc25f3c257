"""Lanes: accept, take, record, cut; one transaction each. Source: LANE-2, DUR-1."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.run import Draft, Entry
from clankie_captain.core.steering import Steered, takeable
from clankie_captain.core.turns import Acceptance, Heard, LiveRun, Pending, Turn
from clankie_captain.errors import FencedError
from clankie_captain.store import arrivals, tables
from clankie_captain.store.arrivals import Arrival, Terms
from clankie_captain.store.engine import Database
from clankie_captain.store.log import log_heard
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import DeliveryId, PresenceId, RunId, TurnId
from clankie_settings.wire.trigger import Trigger


class LaneStore:
    """The rows of all lanes."""

    def __init__(self, database: Database, terms: Terms | None = None) -> None:
        self._database = database
        self._terms = terms or Terms()

    async def accept(self, trigger: Trigger, lane: LaneKey, turn: TurnId, run: RunId, at: datetime) -> Acceptance:
        """Accept a delivery once: find it, or store it and decide its way into the lane.

        ``turn`` and ``run`` are fresh ids, used where the delivery is new and where it starts a run.

        Raises:
            DeliveryConflictError: The id was accepted with other content.

        Source: WIRE-5, DUR-1.
        """

        def work(connection: Connection) -> Acceptance:
            return arrivals.accept(connection, Arrival(trigger, lane, turn, run, at), self._terms)

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
            one = tables.delivery.c
            statement = select(one.presence, one.id, one.trigger, one.heard).where(
                one.presence == run.presence, one.id == run.owner
            )
            row = connection.execute(statement).one()
            return _pending(connection, run.lane, row)

        return await self._database.transact(work)

    async def take(self, run: LiveRun, now: datetime) -> tuple[Pending, ...]:
        """The steered deliveries that the run's next request carries, in the order of acceptance.

        Nothing is marked: they become heard with the request that holds them.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LANE-3, LANE-16.
        """

        def work(connection: Connection) -> tuple[Pending, ...]:
            _prove(connection, run)
            one = tables.delivery.c
            statement = (
                select(one.presence, one.id, one.trigger, one.heard, one.ready, one.accepted_at)
                .where(one.run == run.run, one.state == "steer")
                .order_by(one.seq)
            )
            waiting = connection.execute(statement).all()
            steered = [Steered(DeliveryId(row.id), row.ready, row.accepted_at) for row in waiting]
            taken = set(takeable(steered, now))
            return tuple([_pending(connection, run.lane, row) for row in waiting if row.id in taken])

        return await self._database.transact(work)

    async def record(self, run: LiveRun, drafts: Sequence[Draft], heard: Sequence[Heard]) -> None:
        """Append entries to the lane's history; with them, ``heard`` deliveries become heard.

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
                    {"lane": run.lane.id, "seq": first + n, "run": run.run, "kind": kind, "payload": payload}
                    for n, (kind, payload) in enumerate(payloads)
                ]
                connection.execute(insert(tables.entry), values)
            for each, _ in logged:
                _mark_heard(connection, run, each)

        await self._database.transact(work)

    async def history(self, run: LiveRun) -> tuple[Entry, ...]:
        """What the model is shown of the lane so far, oldest first.

        Raises:
            FencedError: The run is not its lane's live one.
        """

        def work(connection: Connection) -> tuple[Entry, ...]:
            lane = _prove(connection, run)
            one = tables.entry.c
            statement = (
                select(one.seq, one.run, one.kind, one.payload)
                .where(one.lane == run.lane.id, one.seq >= lane.history_from, one.kind.in_(("request", "response")))
                .order_by(one.seq)
            )
            found = connection.execute(statement).all()
            return tuple(Entry(row.seq, RunId(row.run), row.kind, row.payload) for row in found)

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
            if oldest is not None and oldest > lane.history_from:
                change = update(tables.lane).where(tables.lane.c.id == run.lane.id)
                connection.execute(change.values(history_from=oldest))

        await self._database.transact(work)


def _prove(connection: Connection, run: LiveRun) -> AnyRow:
    one = tables.lane.c
    statement = select(one.history_from, one.next_entry).where(*_owned(run))
    row = connection.execute(statement).one_or_none()
    if row is None:
        raise FencedError(run.lane.id, run.run)
    return row


def _owned(run: LiveRun) -> tuple[Any, ...]:
    one = tables.lane.c
    return one.id == run.lane.id, one.live_run == run.run, one.epoch == run.epoch


def _reserve(connection: Connection, run: LiveRun, count: int) -> int:
    one = tables.lane.c
    change = update(tables.lane).where(*_owned(run)).values(next_entry=one.next_entry + count).returning(one.next_entry)
    after = connection.execute(change).scalar()
    if after is None:
        raise FencedError(run.lane.id, run.run)
    return after - count


def _mark_heard(connection: Connection, run: LiveRun, heard: Heard) -> None:
    one = tables.delivery.c
    mine = and_(one.presence == heard.presence, one.id == heard.delivery)
    steered = update(tables.delivery).where(mine, one.state == "steer").values(state="heard")
    connection.execute(steered)
    connection.execute(update(tables.delivery).where(mine).values(heard=True))
    for message in heard.backlog:
        known = upsert(tables.lane_message).values(lane=run.lane.id, message_id=message).on_conflict_do_nothing()
        connection.execute(known)


def _pending(connection: Connection, lane: LaneKey, row: AnyRow) -> Pending:
    trigger = Trigger.model_validate_json(row.trigger)
    return Pending(PresenceId(row.presence), DeliveryId(row.id), trigger, _known(connection, lane, trigger), row.heard)


def _known(connection: Connection, lane: LaneKey, trigger: Trigger) -> frozenset[str]:
    quoted = [trigger.reply_to.message_id] if trigger.reply_to else []
    asked = [*quoted, *(each.message_id for each in trigger.context)]
    if not asked:
        return frozenset()
    carried, own = tables.lane_message.c, tables.delivery.c
    # A delivery of the lane speaks for itself, now or when its turn comes; only one that never ran is unknown.
    speaks = or_(own.state != "done", own.heard)
    statement = (
        select(carried.message_id)
        .where(carried.lane == lane.id, carried.message_id.in_(asked))
        .union(select(own.message_id).where(own.lane == lane.id, own.message_id.in_(asked), speaks))
    )
    return frozenset(connection.execute(statement).scalars())
