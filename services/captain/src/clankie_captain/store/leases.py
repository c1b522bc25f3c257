"""The lease of each presence. Source: C74."""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.lease import Asking, Held, granted
from clankie_captain.store import tables
from clankie_captain.store.engine import Database
from clankie_captain.store.presences import touch_presence
from clankie_settings.ids import PresenceId

_LEASE: Final = upsert(tables.lease)
_KEEP: Final = _LEASE.on_conflict_do_update(
    index_elements=["presence"],
    set_={each.name: _LEASE.excluded[each.name] for each in tables.lease.columns if each.name != "presence"},
)


class LeaseStore:
    """Who may act as a presence.

    Every request asks, so the holders are also kept in memory: this captain is the only one on its store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._holders: dict[PresenceId, str | None] = {}

    async def ask(self, presence: PresenceId, asking: Asking, at: datetime) -> Held | None:
        """Give, renew or take back a lease; None where another process holds it.

        Source: C74.
        """

        def work(connection: Connection) -> Held | None:
            touch_presence(connection, presence, at)
            numbered = select(tables.presence.c.next_action).where(tables.presence.c.id == presence)
            last_action = connection.execute(numbered).scalar_one() - 1
            held = granted(_held(connection, presence), asking, at, last_action)
            if held is not None:
                connection.execute(_KEEP, _row(presence, held))
            return held

        held = await self._database.transact(work)
        if held is not None:
            self._holders[presence] = held.holder
        return held

    async def holder(self, presence: PresenceId) -> str | None:
        """The process that has the lease, or had it last."""
        if presence not in self._holders:

            def work(connection: Connection) -> Held | None:
                return _held(connection, presence)

            held = await self._database.transact(work)
            self._holders.setdefault(presence, held.holder if held is not None else None)
        return self._holders[presence]


def _held(connection: Connection, presence: PresenceId) -> Held | None:
    row = connection.execute(select(tables.lease).where(tables.lease.c.presence == presence)).one_or_none()
    if row is None:
        return None
    return Held(
        holder=row.holder,
        fence=row.fence,
        renewed_at=row.renewed_at,
        ttl=timedelta(seconds=row.ttl_s),
        listening_at=row.listening_at,
        missed_since=row.missed_since,
        last_action=row.last_action,
    )


def _row(presence: PresenceId, held: Held) -> dict[str, Any]:
    return {
        "presence": presence,
        "holder": held.holder,
        "fence": held.fence,
        "renewed_at": held.renewed_at,
        "ttl_s": int(held.ttl.total_seconds()),
        "listening_at": held.listening_at,
        "missed_since": held.missed_since,
        "last_action": held.last_action,
    }
