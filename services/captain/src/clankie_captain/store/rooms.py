"""The leases of rooms that voices hold; one transaction each. Source: VOX-2."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.voice import Holding, RoomAsking, granted
from clankie_captain.ports.voice import Lapsed, RoomHeld, RoomRefused
from clankie_captain.store import speech, tables
from clankie_captain.store.engine import Database
from clankie_captain.store.presences import touch_presence
from clankie_settings.ids import PresenceId

_lease = tables.room_lease.c
_ALL: Final = select(tables.room_lease).order_by(_lease.room)
_END: Final = delete(tables.room_lease).where(_lease.room == bindparam("of_room"))
_ASKED: Final = upsert(tables.room_lease)
_KEEP: Final = _ASKED.on_conflict_do_update(
    index_elements=["room"], set_={name: _ASKED.excluded[name] for name in ("presence", "renewed_at", "ttl_s")}
)


class RoomLeaseStore:
    """The rows of all leases of rooms; there are as many as voices stand in rooms."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, room: str, asking: RoomAsking, at: datetime) -> RoomHeld | RoomRefused:
        """Give, renew or take back a room; whatever ends by it or before it, gives its words back to text.

        Source: VOX-2.
        """

        def work(connection: Connection) -> RoomHeld | RoomRefused:
            touch_presence(connection, asking.presence, at)
            left, lapsed = _lapse(connection, at)
            held = left.get(room)
            now = granted(held, asking, at)
            if now is None:
                return RoomRefused(lapsed.posts, lapsed.ends)
            posts = lapsed.posts
            if now.lives(at):
                left[room] = now
                values = {
                    "room": room,
                    "presence": now.presence,
                    "renewed_at": at,
                    "ttl_s": int(now.ttl.total_seconds()),
                }
                connection.execute(_KEEP, values)
            elif left.pop(room, None) is not None:
                posts |= _end(connection, room, asking.presence)
            return RoomHeld(held is not None, posts, _first_end(left))

        return await self._database.transact(work)

    async def lapse(self, at: datetime) -> Lapsed:
        """End the leases that have run out; what was to be spoken under them goes back to text.

        Source: VOX-2.
        """

        def work(connection: Connection) -> Lapsed:
            return _lapse(connection, at)[1]

        return await self._database.transact(work)


def _lapse(connection: Connection, at: datetime) -> tuple[dict[str, Holding], Lapsed]:
    """End what has run out; what is left, and what came of it."""
    left = {row.room: speech.holding(row) for row in connection.execute(_ALL).all()}
    over = [room for room, held in left.items() if not held.lives(at)]
    posts: frozenset[PresenceId] = frozenset()
    for room in over:
        posts |= _end(connection, room, left.pop(room).presence)
    return left, Lapsed(over, posts, _first_end(left))


def _end(connection: Connection, room: str, voice: PresenceId) -> frozenset[PresenceId]:
    connection.execute(_END, {"of_room": room})
    return speech.give_all_back(connection, voice, room)


def _first_end(left: dict[str, Holding]) -> datetime | None:
    return min((each.ends_at for each in left.values()), default=None)
