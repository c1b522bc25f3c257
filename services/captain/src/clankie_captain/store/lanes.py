"""Lanes: admit, take, record, settle, recover; one transaction each. Source: LANE-2, DUR-1."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from clankie_captain.core.admission import LaneState, Queue, Refuse, Start, Steer, admission, steer_by
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.run import Draft, Entry
from clankie_captain.core.settlement import failure
from clankie_captain.core.steering import Steered, takeable
from clankie_captain.core.turns import Acceptance, Heard, LiveRun, Pending
from clankie_captain.errors import DeliveryConflictError, FencedError
from clankie_captain.store import rows, tables
from clankie_captain.store.engine import Database
from clankie_captain.store.log import log_heard
from clankie_captain.store.presences import note_room, touch_presence
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import DeliveryId, PresenceId, RunId, TurnId
from clankie_settings.wire.trigger import Trigger, content_hash

_WAITING = ("queued", "steer")


class LaneStore:
    """The rows of all lanes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, trigger: Trigger, lane: LaneKey, turn: TurnId, run: RunId, at: datetime) -> Acceptance:
        """Accept a delivery once: find it, or store it and decide its way into the lane.

        ``turn`` and ``run`` are fresh ids, used where the delivery is new and where it starts a run.

        Raises:
            DeliveryConflictError: The id was accepted with other content.

        Source: WIRE-5, DUR-1.
        """

        async def work(connection: AsyncConnection) -> Acceptance:
            found = await _find(connection, trigger)
            if found is not None:
                return found
            return await _admit(connection, trigger, lane, turn, run, at)

        return await self._database.transact(work)

    async def owner(self, run: LiveRun) -> Pending:
        """The delivery that owns a run, with what of its backlog the lane carries.

        Raises:
            FencedError: The run is not its lane's live one.
        """

        async def work(connection: AsyncConnection) -> Pending:
            await _prove(connection, run)
            one = tables.delivery.c
            statement = select(one.presence, one.id, one.trigger, one.heard).where(
                one.presence == run.presence, one.id == run.owner
            )
            row = (await connection.execute(statement)).one()
            return await _pending(connection, run.lane, row)

        return await self._database.transact(work)

    async def take(self, run: LiveRun, now: datetime) -> tuple[Pending, ...]:
        """The steered deliveries that the run's next request carries, in the order of acceptance.

        Nothing is marked: they become heard with the request that holds them.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LANE-3, LANE-16.
        """

        async def work(connection: AsyncConnection) -> tuple[Pending, ...]:
            await _prove(connection, run)
            one = tables.delivery.c
            statement = (
                select(one.presence, one.id, one.trigger, one.heard, one.ready, one.accepted_at)
                .where(one.run == run.run, one.state == "steer")
                .order_by(one.seq)
            )
            waiting = (await connection.execute(statement)).all()
            steered = [Steered(DeliveryId(row.id), row.ready, row.accepted_at) for row in waiting]
            taken = set(takeable(steered, now))
            return tuple([await _pending(connection, run.lane, row) for row in waiting if row.id in taken])

        return await self._database.transact(work)

    async def record(self, run: LiveRun, drafts: Sequence[Draft], heard: Sequence[Heard]) -> None:
        """Append entries to the lane's history; with them, ``heard`` deliveries become heard.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LANE-11, LANE-13.
        """

        async def work(connection: AsyncConnection) -> None:
            first = await _reserve(connection, run, len(drafts) + len(heard))
            payloads = [*(await log_heard(connection, heard)), *((each.kind, each.payload) for each in drafts)]
            if payloads:
                values = [
                    {"lane": run.lane.id, "seq": first + n, "run": run.run, "kind": kind, "payload": payload}
                    for n, (kind, payload) in enumerate(payloads)
                ]
                await connection.execute(insert(tables.entry), values)
            for each in heard:
                await _mark_heard(connection, run, each)

        await self._database.transact(work)

    async def history(self, run: LiveRun) -> tuple[Entry, ...]:
        """What the model is shown of the lane so far, oldest first.

        Raises:
            FencedError: The run is not its lane's live one.
        """

        async def work(connection: AsyncConnection) -> tuple[Entry, ...]:
            lane = await _prove(connection, run)
            one = tables.entry.c
            statement = (
                select(one.seq, one.run, one.kind, one.payload)
                .where(one.lane == run.lane.id, one.seq >= lane.history_from, one.kind.in_(("request", "response")))
                .order_by(one.seq)
            )
            found = (await connection.execute(statement)).all()
            return tuple(Entry(row.seq, RunId(row.run), row.kind, row.payload) for row in found)

        return await self._database.transact(work)

    async def cut(self, run: LiveRun, kept: int) -> None:
        """Leave everything but the newest ``kept`` entries out of the lane's history from now on.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: CTX-8.
        """

        async def work(connection: AsyncConnection) -> None:
            lane = await _prove(connection, run)
            one = tables.entry.c
            statement = (
                select(one.seq)
                .where(one.lane == run.lane.id, one.kind.in_(("request", "response")))
                .order_by(one.seq.desc())
                .limit(1)
                .offset(kept - 1)
            )
            oldest = (await connection.execute(statement)).scalar() if kept else lane.next_entry
            if oldest is not None and oldest > lane.history_from:
                change = update(tables.lane).where(tables.lane.c.id == run.lane.id)
                await connection.execute(change.values(history_from=oldest))

        await self._database.transact(work)


async def _find(connection: AsyncConnection, trigger: Trigger) -> Acceptance | None:
    one = tables.delivery
    statement = select(one).where(one.c.presence == trigger.presence_id, one.c.id == trigger.delivery_id)
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        return None
    if row.content_hash != content_hash(trigger):
        raise DeliveryConflictError(DeliveryId(trigger.delivery_id))
    return Acceptance(rows.turn(row), new=False)


async def _admit(
    connection: AsyncConnection, trigger: Trigger, lane: LaneKey, turn: TurnId, run: RunId, at: datetime
) -> Acceptance:
    await touch_presence(connection, PresenceId(trigger.presence_id), at)
    await note_room(connection, trigger, at)
    state = await _lane(connection, lane, at)
    decision = admission(
        LaneState(state.live_run, await _waiting(connection, lane)), trigger.delivery, steer_by(lane.kind)
    )
    kept: dict[str, Any] = {"state": "queued", "run": None, "result": None, "settled_at": None, "owed": False}
    match decision:
        case Start():
            kept.update(state="live", run=run)
        case Steer(live):
            kept.update(state="steer", run=live)
        case Queue():
            pass
        case Refuse(code):
            refused = failure(DeliveryId(trigger.delivery_id), turn, code, notice=trigger.addressed)
            kept.update(state="done", result=refused.model_dump_json(), settled_at=at, owed=refused.owed)
    row = await _insert(connection, trigger, lane, turn, state.next_seq, at, kept)
    started = None
    if isinstance(decision, Start):
        started = await start(connection, lane, run, row, at)
    return Acceptance(rows.turn(row), new=True, started=started)


async def _lane(connection: AsyncConnection, lane: LaneKey, at: datetime) -> AnyRow:
    # Bumping the sequence first takes the lane's row: the order of sequence is the order of admission.
    fresh = {
        "id": lane.id, "kind": lane.kind, "authority": lane.authority, "owner": None, "epoch": 0, "live_run": None,
        "next_seq": 1, "next_entry": 1, "history_from": 1, "touched_at": at,
    }  # fmt: skip
    one = tables.lane.c
    statement = (
        upsert(tables.lane)
        .values(fresh)
        .on_conflict_do_update(index_elements=["id"], set_={"next_seq": one.next_seq + 1, "touched_at": at})
        .returning(one.next_seq, one.live_run)
    )
    return (await connection.execute(statement)).one()


async def _waiting(connection: AsyncConnection, lane: LaneKey) -> int:
    one = tables.delivery.c
    statement = select(func.count()).where(one.lane == lane.id, one.state.in_(_WAITING))
    return (await connection.execute(statement)).scalar_one()


async def _insert(
    connection: AsyncConnection,
    trigger: Trigger,
    lane: LaneKey,
    turn: TurnId,
    seq: int,
    at: datetime,
    kept: dict[str, Any],
) -> AnyRow:
    values = {
        "presence": trigger.presence_id, "id": trigger.delivery_id, "turn": turn, "lane": lane.id, "seq": seq,
        "actor": trigger.actor.actor_id, "message_id": trigger.message_id, "addressed": trigger.addressed,
        "content_hash": content_hash(trigger), "trigger": trigger.model_dump_json(exclude_none=True),
        "heard": False, "ready": True, "accepted_at": at, "parts_posted": 0, **kept,
    }  # fmt: skip
    statement = insert(tables.delivery).values(values).returning(tables.delivery)
    return (await connection.execute(statement)).one()


async def start(connection: AsyncConnection, lane: LaneKey, run: RunId, owner: AnyRow, at: datetime) -> LiveRun:
    """Make ``run`` the lane's live one, owned by the delivery of ``owner``; its epoch is the lane's next."""
    change = (
        update(tables.lane)
        .where(tables.lane.c.id == lane.id, tables.lane.c.live_run.is_(None))
        .values(live_run=run, epoch=tables.lane.c.epoch + 1)
        .returning(tables.lane.c.epoch)
    )
    epoch = (await connection.execute(change)).scalar_one()
    values = {
        "id": run, "lane": lane.id, "epoch": epoch, "owner_presence": owner.presence, "owner_delivery": owner.id,
        "attempt": 1, "started_at": at,
    }  # fmt: skip
    await connection.execute(insert(tables.run).values(values))
    return LiveRun(lane, run, epoch, 1, PresenceId(owner.presence), DeliveryId(owner.id), at)


async def _prove(connection: AsyncConnection, run: LiveRun) -> AnyRow:
    one = tables.lane.c
    statement = select(one.history_from, one.next_entry).where(*_owned(run))
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        raise FencedError(run.lane.id, run.run)
    return row


def _owned(run: LiveRun) -> tuple[Any, ...]:
    one = tables.lane.c
    return one.id == run.lane.id, one.live_run == run.run, one.epoch == run.epoch


async def _reserve(connection: AsyncConnection, run: LiveRun, count: int) -> int:
    one = tables.lane.c
    change = update(tables.lane).where(*_owned(run)).values(next_entry=one.next_entry + count).returning(one.next_entry)
    after = (await connection.execute(change)).scalar()
    if after is None:
        raise FencedError(run.lane.id, run.run)
    return after - count


async def _mark_heard(connection: AsyncConnection, run: LiveRun, heard: Heard) -> None:
    one = tables.delivery.c
    mine = and_(one.presence == heard.presence, one.id == heard.delivery)
    steered = update(tables.delivery).where(mine, one.state == "steer").values(state="heard")
    await connection.execute(steered)
    await connection.execute(update(tables.delivery).where(mine).values(heard=True))
    for message in heard.backlog:
        known = upsert(tables.lane_message).values(lane=run.lane.id, message_id=message).on_conflict_do_nothing()
        await connection.execute(known)


async def _pending(connection: AsyncConnection, lane: LaneKey, row: AnyRow) -> Pending:
    trigger = Trigger.model_validate_json(row.trigger)
    return Pending(
        PresenceId(row.presence), DeliveryId(row.id), trigger, await _known(connection, lane, trigger), row.heard
    )


async def _known(connection: AsyncConnection, lane: LaneKey, trigger: Trigger) -> frozenset[str]:
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
    return frozenset((await connection.execute(statement)).scalars())
