"""Presences and the rooms they stand in."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.store import tables
from clankie_captain.store.engine import Database
from clankie_settings.ids import PresenceId
from clankie_settings.wire.receipt import KnownRoom, KnownRooms
from clankie_settings.wire.result import RESULT
from clankie_settings.wire.trigger import Room, Trigger

_HEARD_OF: Final = upsert(tables.presence)
_TOUCH: Final = _HEARD_OF.on_conflict_do_update(index_elements=["id"], set_={"alive_at": _HEARD_OF.excluded.alive_at})
_STOOD_IN: Final = upsert(tables.room)
_NOTE_ROOM: Final = _STOOD_IN.on_conflict_do_update(
    index_elements=["presence", "key"],
    set_={name: _STOOD_IN.excluded[name] for name in ("room", "last_delivery", "last_message_id", "last_at")},
)


class PresenceStore:
    """What the captain remembers for presences, which keep nothing themselves."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def alive(self, presence: PresenceId, at: datetime) -> None:
        """Remember that the presence was heard of."""

        def work(connection: Connection) -> None:
            touch_presence(connection, presence, at)

        await self._database.transact(work)

    async def rooms(self, presence: PresenceId) -> KnownRooms:
        """The rooms that the presence stood in, newest first, and when it was last heard of."""

        def work(connection: Connection) -> KnownRooms:
            alive = select(tables.presence.c.alive_at).where(tables.presence.c.id == presence)
            last = connection.execute(alive).scalar()
            one, own = tables.room.c, tables.delivery.c
            statement = (
                select(one.room, one.last_message_id, one.last_at, own.state, own.result)
                .join(tables.delivery, (own.presence == one.presence) & (own.id == one.last_delivery))
                .where(one.presence == presence)
                .order_by(one.last_at.desc())
            )
            found = connection.execute(statement).all()
            return KnownRooms(rooms=tuple(_known(row) for row in found), last_alive_at=last)

        return await self._database.transact(work)

    async def seen(self) -> tuple[tuple[PresenceId, datetime], ...]:
        """All presences and when each was last heard of."""

        def work(connection: Connection) -> tuple[tuple[PresenceId, datetime], ...]:
            one = tables.presence.c
            found = connection.execute(select(one.id, one.alive_at).order_by(one.id))
            return tuple((PresenceId(row.id), row.alive_at) for row in found)

        return await self._database.transact(work)


def touch_presence(connection: Connection, presence: PresenceId, at: datetime) -> None:
    """Note inside a transaction that the presence was heard of."""
    connection.execute(_TOUCH, {"id": presence, "next_action": 1, "alive_at": at})


def note_room(connection: Connection, trigger: Trigger, at: datetime) -> None:
    """Note inside a transaction which delivery came last from its room."""
    room = trigger.room
    row = {
        "presence": trigger.presence_id,
        "key": f"{room.platform}:{room.guild_id or 'dm'}:{room.channel_id}",
        "room": room.model_dump_json(exclude_none=True),
        "last_delivery": trigger.delivery_id,
        "last_message_id": trigger.message_id,
        "last_at": at,
    }
    connection.execute(_NOTE_ROOM, row)


def _known(row: Any) -> KnownRoom:
    settled = RESULT.validate_json(row.result).state if row.result else None
    return KnownRoom(
        room=Room.model_validate_json(row.room),
        last_message_id=row.last_message_id,
        last_at=row.last_at,
        last_state=settled or ("queued" if row.state == "queued" else "running"),
    )
