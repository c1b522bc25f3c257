"""Actions get their numbers: a sequence per presence, given out in the transaction that stores them."""

from datetime import datetime

from sqlalchemy import Connection, insert
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.turns import Numbered
from clankie_captain.store import tables
from clankie_settings.ids import PresenceId, RunId
from clankie_settings.wire.action import StoredAction


def store(
    connection: Connection,
    presence: PresenceId,
    action: StoredAction,
    at: datetime,
    *,
    run: RunId | None = None,
    call: str | None = None,
) -> Numbered:
    """Store an action inside a transaction, behind all that the presence was given before.

    ``run`` and ``call`` are the run and the tool call that want it.
    """
    seq = _next(connection, presence, at)
    payload = action.model_dump_json(exclude_none=True)
    row = {
        "presence": presence, "seq": seq, "id": action.action_id, "delivery": action.delivery_id, "run": run,
        "call": call, "name": action.name, "payload": payload, "state": "pending", "created_at": at,
    }  # fmt: skip
    connection.execute(insert(tables.action).values(row))
    return Numbered(seq, action.name, payload)


def _next(connection: Connection, presence: PresenceId, at: datetime) -> int:
    one = tables.presence.c
    statement = (
        upsert(tables.presence)
        .values(id=presence, next_action=2, alive_at=at)
        .on_conflict_do_update(index_elements=["id"], set_={"next_action": one.next_action + 1})
        .returning(one.next_action)
    )
    return connection.execute(statement).scalar_one() - 1
