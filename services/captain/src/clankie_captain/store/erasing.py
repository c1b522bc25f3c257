"""Rows of a lane without what it is to forget; each function is a part of somebody's transaction. Source: OPS-12."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Table, bindparam, delete, exists, func, or_, select, update

from clankie_captain.core import forgetting
from clankie_captain.core.forgetting import NOBODY, Erasure
from clankie_captain.core.lane import OPERATOR
from clankie_captain.errors import LaneBusyError
from clankie_captain.store import forks, tables
from clankie_captain.store.album import digests
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import LaneId
from clankie_settings.wire.action import Speak
from clankie_settings.wire.trigger import Trigger, content_hash

_lane, _delivery, _entry = tables.lane.c, tables.delivery.c, tables.entry.c

# A reply that is spoken is another presence's than the delivery that it answers.
_UNSPOKEN: Final = (
    select(tables.action.c.id)
    .join(tables.run, tables.run.c.id == tables.action.c.run)
    .where(
        tables.action.c.name == Speak.name,
        tables.action.c.state == "pending",
        tables.run.c.lane == bindparam("of_lane"),
    )
    .limit(1)
)
_UNPOSTED: Final = (
    select(tables.action.c.id)
    .join(tables.presence, tables.presence.c.id == tables.action.c.presence)
    .join(
        tables.delivery, (_delivery.presence == tables.action.c.presence) & (_delivery.id == tables.action.c.delivery)
    )
    .where(tables.action.c.state == "pending", _delivery.lane == bindparam("of_lane"))
    .limit(1)
)

_SELF: Final = '"is_self":true'
_RECEIVED: Final = (
    select(tables.receipt.c.message_id)
    .join(
        tables.delivery, (_delivery.presence == tables.receipt.c.presence) & (_delivery.id == tables.receipt.c.delivery)
    )
    .where(tables.receipt.c.message_id.is_not(None))
)
_ACTED: Final = select(tables.action.c.message_id).where(tables.action.c.message_id.is_not(None))


class Found:
    """What a lane holds of a person, put together row by row.

    Where his replies go as well, ``own`` are the ids of posts of his, of all lanes, whose words are to go; those of
    this lane are added to it. They are told by the person's words and, once those are gone, by the placeholder that
    stands where his own were, so that a forgetting that was interrupted finds them again.
    """

    def __init__(self, person: str, own: set[str], *, replies: bool) -> None:
        self._person = person
        self._own = own
        self._replies = replies
        self._named = f'"{person}"'
        self.carried: set[str] = set()
        self.messages: set[str] = set()
        self._deliveries: set[str] = set()
        self._runs: set[str] = set()

    def look_at_entries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were heard."""
        statement = select(_entry.run, _entry.payload).where(*_range(tables.entry, lane, start, stop))
        told = statement.where(_entry.kind == "heard", self._tells(_entry.payload))
        for row in connection.execute(told).all():
            self._look(connection, row.payload, row.run)
        return 0

    def look_at_deliveries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were accepted."""
        statement = select(_delivery.trigger, _delivery.run).where(*_range(tables.delivery, lane, start, stop))
        for row in connection.execute(statement.where(self._tells(_delivery.trigger))).all():
            self._look(connection, row.trigger, row.run)
        if self._replies:
            quiet = func.instr(_delivery.result, forgetting.REPLY) > 0
            answered = _RECEIVED.where(*_range(tables.delivery, lane, start, stop), quiet)
            self._own.update(connection.execute(answered).scalars())
            self._look_at_work(connection, lane, start, stop)
        return 0

    def _look_at_work(self, connection: Connection, lane: str, start: int, stop: int) -> None:
        """Tasks of children, and what came of them: his own words, of what all had said whom their lane had heard.

        One of those who was forgotten meanwhile may be this very person, whose words another lane has lost already.
        """
        own = select(tables.delivery).where(*_range(tables.delivery, lane, start, stop), _delivery.awaited.is_(False))
        for row in connection.execute(own).all():
            trigger = Trigger.model_validate_json(row.trigger)
            behind = {each.actor.actor_id for each in forks.speakers(connection, row.presence, row.id)}
            if behind & {self._person, NOBODY} and trigger.body not in (forgetting.REPLY, forgetting.WORDS):
                self.carried.add(trigger.message_id)
                self._answers(connection, row.run)

    def erasure(self) -> Erasure:
        """What the lane is to forget."""
        runs = frozenset(self._runs) if self._replies else frozenset[str]()
        messages, deliveries = frozenset(self.messages), frozenset(self._deliveries)
        return Erasure(self._person, messages, deliveries, runs, frozenset(self.carried))

    def _tells(self, payload: Any) -> Any:
        named = func.instr(payload, self._named) > 0
        return or_(named, func.instr(payload, _SELF) > 0) if self._own else named

    def _look(self, connection: Connection, payload: str, run: str | None) -> None:
        trigger = Trigger.model_validate_json(payload)
        theirs = forgetting.written_by(self._person, trigger)
        self.messages |= theirs
        if trigger.actor.actor_id == self._person:
            self._deliveries.add(trigger.delivery_id)
        if theirs:
            self._answers(connection, run)
        self.carried |= forgetting.carried(self._own, trigger)

    def _answers(self, connection: Connection, run: str | None) -> None:
        """A run in which he answers to the person."""
        if run is None or run in self._runs:
            return
        self._runs.add(run)
        if self._replies:
            self._own.update(connection.execute(_RECEIVED.where(_delivery.run == run)).scalars())
            self._own.update(connection.execute(_ACTED.where(tables.action.c.run == run)).scalars())


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Rows of a lane without what it is to forget."""

    lane: str
    erasure: Erasure
    pictures: set[str]

    def entries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """Everything but the triggers."""
        prove_idle(connection, lane)
        drop_calls(connection, lane, self.pictures)
        return self._rewrite(connection, start, stop, _entry.kind != "heard")

    def heard(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were heard."""
        return self._rewrite(connection, start, stop, _entry.kind == "heard")

    def deliveries(self, connection: Connection, lane: str, start: int, stop: int) -> int:
        """The triggers that were accepted, and the results of the runs."""
        erasure, count = self.erasure, 0
        for row in connection.execute(select(tables.delivery).where(*_range(tables.delivery, lane, start, stop))).all():
            trigger = Trigger.model_validate_json(row.trigger)
            changed = forgetting.without(erasure.person, trigger, erasure.own)
            values = {} if changed == trigger else _described(row, trigger, changed)
            answer = None
            if row.run in erasure.runs:
                answer = forgetting.result(row.result) if row.result else None
                self.pictures.update(_quiet_actions(connection, _of(row)), digests(row.result or ""))
            if answer is not None:
                values["result"] = answer
            if values:
                connection.execute(_mine(row).values(values))
                count += 1
            if trigger.actor.actor_id == erasure.person and trigger.room.guild_id is None:
                _unname(connection, row.presence, changed)
        return count

    def actions(self, connection: Connection, run: str) -> None:
        """The words that a run posted besides its reply."""
        one = tables.action.c
        self.pictures.update(_quiet_actions(connection, one.run == run))

    def _rewrite(self, connection: Connection, start: int, stop: int, kinds: Any) -> int:
        statement = select(_entry.seq, _entry.run, _entry.kind, _entry.payload)
        count = 0
        for row in connection.execute(statement.where(*_range(tables.entry, self.lane, start, stop), kinds)).all():
            changed = forgetting.entry(row.kind, row.run, row.payload, self.erasure)
            if changed is not None:
                mine = update(tables.entry).where(_entry.lane == self.lane, _entry.seq == row.seq)
                connection.execute(mine.values(payload=changed))
                self.pictures.update(digests(row.payload) - digests(changed))
                count += 1
        return count


def prove_idle(connection: Connection, lane: str) -> None:
    """Let a lane be changed that neither works nor owes anything.

    Raises:
        LaneBusyError: It does.
    """
    live = connection.execute(select(_lane.live_run).where(_lane.id == lane)).scalar()
    # Nobody posts what the operator reads for themselves.
    waits = or_(_delivery.state != "done", _delivery.owed & (_delivery.presence != OPERATOR))
    owes = connection.execute(select(exists().where(_delivery.lane == lane, waits))).scalar()
    unsaid = any(connection.execute(each, {"of_lane": lane}).first() is not None for each in (_UNPOSTED, _UNSPOKEN))
    if live is not None or owes or unsaid:
        raise LaneBusyError(LaneId(lane))


def drop_entries(connection: Connection, lane: str, start: int, stop: int, pictures: set[str]) -> int:
    """Drop what is written in a lane, noting the pictures that it told of; how many entries went."""
    prove_idle(connection, lane)
    told = select(_entry.payload).where(*_range(tables.entry, lane, start, stop))
    pictures.update(*map(digests, connection.execute(told).scalars()))
    return connection.execute(delete(tables.entry).where(*_range(tables.entry, lane, start, stop))).rowcount


def drop_calls(connection: Connection, lane: str, pictures: set[str]) -> None:
    """Drop what tools told that no request carries yet, noting the files that it told of."""
    calls = tables.finished_call
    pictures.update(*map(digests, connection.execute(select(calls.c.payload).where(calls.c.lane == lane)).scalars()))
    connection.execute(delete(calls).where(calls.c.lane == lane))


def quieted(connection: Connection) -> frozenset[str]:
    """The ids of posts of his, other than replies, whose words went before."""
    gone = func.instr(tables.action.c.payload, forgetting.REPLY) > 0
    return frozenset(connection.execute(_ACTED.where(gone)).scalars())


def bare_deliveries(connection: Connection, lane: str, start: int, stop: int, pictures: set[str]) -> int:
    """Leave of deliveries what is needed to know them again, noting the files of replies; how many there were."""
    rows = connection.execute(select(tables.delivery).where(*_range(tables.delivery, lane, start, stop))).all()
    for row in rows:
        trigger = Trigger.model_validate_json(row.trigger)
        bare = forgetting.bare(trigger)
        answer = forgetting.result(row.result) if row.result else None
        connection.execute(_mine(row).values({**_described(row, trigger, bare), "result": answer or row.result}))
        pictures.update(_quiet_actions(connection, _of(row)), digests(row.result or ""))
        _unname(connection, row.presence, bare)
    return len(rows)


def _quiet_actions(connection: Connection, which: Any) -> frozenset[str]:
    """Take his words out of actions; the names of the files that went with them."""
    one = tables.action.c
    told: set[str] = set()
    for row in connection.execute(select(one.id, one.payload).where(which)).all():
        changed = forgetting.action(row.payload)
        if changed is not None:
            connection.execute(update(tables.action).where(one.id == row.id).values(payload=changed))
            told |= digests(row.payload)
    return frozenset(told)


def _unname(connection: Connection, presence: str, trigger: Trigger) -> None:
    """Take the names out of what is remembered of a room."""
    one, room = tables.room.c, trigger.room
    key = f"{room.platform}:{room.guild_id or 'dm'}:{room.channel_id}"
    mine = update(tables.room).where(one.presence == presence, one.key == key)
    connection.execute(mine.values(room=room.model_dump_json(exclude_none=True)))


def _described(row: AnyRow, before: Trigger, after: Trigger) -> dict[str, Any]:
    """The columns of a delivery that its trigger tells; its hash stays only while its words do."""
    values: dict[str, Any] = {"trigger": after.model_dump_json(exclude_none=True), "pictures": None}
    if before.actor != after.actor:
        # With the hash whoever knows a short message could prove that it was said.
        values |= {"actor": NOBODY, "content_hash": content_hash(after)}
    return values


def _of(row: AnyRow) -> Any:
    """The actions of a delivery, and what a voice said in answer to it."""
    one = tables.action.c
    return ((one.delivery == row.id) & (one.presence == row.presence)) | (
        (one.run == row.run) & (one.name == Speak.name)
    )


def _mine(row: AnyRow) -> Any:
    return update(tables.delivery).where(_delivery.presence == row.presence, _delivery.id == row.id)


def _range(table: Table, lane: str, start: int, stop: int) -> tuple[Any, ...]:
    return table.c.lane == lane, table.c.seq >= start, table.c.seq < stop
