"""What a conversation's tail shows, kept as entries of its lane, so that an entry's place is the event's id.

Source: OPS-2.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, insert, select, update

from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import Event
from clankie_captain.store import tables
from clankie_captain.store.engine import Database
from clankie_settings.ids import LaneId
from clankie_settings.wire.trigger import Trigger

SHOWN: Final = ("accepted", "steered", "said", "settled")
"""Kinds of entries that are events of a conversation."""

_TAILED: Final = "conversations/"


class EventStore:
    """The stored events of conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def since(self, lane: LaneId, after: int, most: int = 100) -> tuple[Event, ...]:
        """The lane's events after one of them, oldest first."""

        def work(connection: Connection) -> tuple[Event, ...]:
            one = tables.entry.c
            statement = (
                select(one.seq, one.kind, one.payload)
                .where(one.lane == lane, one.seq > after, one.kind.in_(SHOWN))
                .order_by(one.seq)
                .limit(most)
            )
            found = connection.execute(statement)
            return tuple(Event(row.seq, row.kind, _shown(row.kind, row.payload)) for row in found)

        return await self._database.transact(work)

    async def beginning(self, lane: LaneId) -> int:
        """Where a tail begins that names no event: before the oldest input that is not settled, or at the end."""

        def work(connection: Connection) -> int:
            return _before_oldest_open(connection, lane)

        return await self._database.transact(work)


def accepted(lane: LaneId, trigger: Trigger, *, steered: bool) -> list[tuple[str, str]]:
    """The entries, as kind and payload, that an accepted delivery leaves in its lane."""
    if not lane.startswith(_TAILED):
        return []
    receipt = {"run_receipt": trigger.delivery_id}
    said = {**receipt, "text": trigger.body or "", "delivery": trigger.delivery}
    lines = [("accepted", json.dumps(said, ensure_ascii=False))]
    return [*lines, ("steered", json.dumps(receipt))] if steered else lines


def settled(lane: str, results: Sequence[Settled]) -> list[tuple[str, str]]:
    """The entries, as kind and payload, that settled deliveries leave in their lane."""
    if not lane.startswith(_TAILED):
        return []
    return [("settled", json.dumps(_settled(each))) for each in results]


def _shown(kind: str, payload: str) -> str:
    """An entry's payload as an event: what he said is told by the receipt of the message that it answers."""
    if kind != "said":
        return payload
    said = json.loads(payload)
    return json.dumps({"run_receipt": said["delivery_id"], "text": said["text"]}, ensure_ascii=False)


def _settled(result: Settled) -> dict[str, str]:
    line = {"run_receipt": result.delivery_id, "state": result.state}
    for name in ("answered_by", "code"):
        value = getattr(result, name, None)
        if value is not None:
            line[name] = str(value)
    return line


def append(connection: Connection, lane: str, lines: Sequence[tuple[str, str]], at: datetime) -> int | None:
    """Add entries that belong to no run; the place of the first."""
    if not lines:
        return None
    one = tables.lane.c
    change = update(tables.lane).where(one.id == lane).values(next_entry=one.next_entry + len(lines))
    after = connection.execute(change.returning(one.next_entry)).scalar_one()
    values = [
        {"lane": lane, "seq": after - len(lines) + place, "run": "", "kind": kind, "payload": payload, "at": at}
        for place, (kind, payload) in enumerate(lines)
    ]
    connection.execute(insert(tables.entry), values)
    return after - len(lines)


def _before_oldest_open(connection: Connection, lane: LaneId) -> int:
    own = tables.delivery.c
    opened = select(func.min(own.entry)).where(own.lane == lane, own.state != "done")
    oldest = connection.execute(opened).scalar()
    return _latest(connection, lane) if oldest is None else oldest - 1


def _latest(connection: Connection, lane: LaneId) -> int:
    statement = select(tables.lane.c.next_entry).where(tables.lane.c.id == lane)
    return (connection.execute(statement).scalar() or 1) - 1
