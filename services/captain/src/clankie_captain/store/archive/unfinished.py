"""What a backup left open, when its captain went on after it: the room has those answers already. Source: OPS-10."""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, create_engine, delete, func, or_, select, update

from clankie_captain.core.lane import OPERATOR
from clankie_captain.core.retention import snowflake
from clankie_captain.core.settlement import failure
from clankie_captain.store import events, tables
from clankie_captain.store.rows import mine
from clankie_captain.store.schema import migrate, prove
from clankie_settings.ids import DeliveryId, PresenceId, TurnId
from clankie_settings.wire.failure import FailureCode

ACTIONS_AHEAD: Final = 1_000_000
"""By how much the numbers of actions go on: a bridge that lived through the restore has seen some of the old ones."""


def bring_up_to_date(database: Path) -> None:
    """Give a database this captain's schema, and numbers of actions that nobody has seen.

    Raises:
        StoreVersionError: It is newer than this captain.
        StoreShapeError: Another build made its tables.
    """

    def work(connection: Connection) -> None:
        migrate(connection)
        prove(connection)
        one = tables.presence.c
        connection.execute(update(tables.presence).values(next_action=one.next_action + ACTIONS_AHEAD))

    _once(database, work)


def let_go(database: Path, at: datetime) -> int:
    """End without a word what was open or owed; how many deliveries that was.

    Rooms count as read up to ``at``, so that what was said since the backup is not answered once more.
    """
    ended: list[int] = []
    _once(database, lambda connection: ended.append(_let_go(connection, at)))
    return ended[0]


def _once(database: Path, work: Callable[[Connection], object]) -> None:
    engine = create_engine(f"sqlite:///{database}")
    try:
        with engine.begin() as connection:
            work(connection)
        with closing(engine.raw_connection()) as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        engine.dispose()


def _let_go(connection: Connection, at: datetime) -> int:
    one = tables.delivery.c
    open_or_owed = or_(one.state != "done", one.owed & (one.presence != OPERATOR))
    rows = connection.execute(select(tables.delivery).where(open_or_owed)).all()
    for row in rows:
        own = update(tables.delivery).where(*mine(PresenceId(row.presence), DeliveryId(row.id)))
        if row.state == "done":
            connection.execute(own.values(owed=False))
            continue
        result = failure(DeliveryId(row.id), TurnId(row.turn), FailureCode.EXPIRED)
        settled = {"state": "done", "owed": False, "settled_at": at}
        connection.execute(own.values(result=result.model_dump_json(exclude_none=True), **settled))
        events.append(connection, row.lane, events.settled(row.lane, [result]), at)
    live = tables.lane.c.live_run.is_not(None)
    connection.execute(update(tables.lane).where(live).values(live_run=None, epoch=tables.lane.c.epoch + 1))
    open_run = tables.run.c.outcome.is_(None)
    connection.execute(update(tables.run).where(open_run).values(outcome=FailureCode.EXPIRED, settled_at=at))
    pending = tables.action.c.state == "pending"
    connection.execute(update(tables.action).where(pending).values(state="refused", code=FailureCode.EXPIRED))
    connection.execute(delete(tables.finished_call))
    _read_up_to(connection, at)
    return len(rows)


def _read_up_to(connection: Connection, at: datetime) -> None:
    now, room = snowflake(at), tables.room.c
    discord = room.key.startswith("discord:") & (func.length(room.last_message_id) >= len(now) - 1)
    connection.execute(update(tables.room).where(discord).values(last_message_id=now, last_at=at))
    connection.execute(update(tables.presence).values(alive_at=at))
    connection.execute(update(tables.lease).values(listening_at=at, ttl_s=0))
