"""How full lanes are, which notes stand for their past, and the claim on a lane that is compacted. Source: CTX-7."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.compaction import Fill, Gauge, due, put_off, read
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.turns import LiveRun
from clankie_captain.store import tables
from clankie_settings.ids import DeliveryId, PresenceId, RunId

_lane, _run, _gauge = tables.lane.c, tables.run.c, tables.gauge.c

_READ: Final = select(_gauge.tokens, _gauge.resume_at, _gauge.notes).where(_gauge.lane == bindparam("of_lane"))
_NEW: Final = upsert(tables.gauge)
_SET: Final = _NEW.on_conflict_do_update(
    index_elements=["lane"], set_={"tokens": _NEW.excluded.tokens, "resume_at": _NEW.excluded.resume_at}
)
_SET_ALL: Final = _NEW.on_conflict_do_update(
    index_elements=["lane"],
    set_={"tokens": _NEW.excluded.tokens, "resume_at": _NEW.excluded.resume_at, "notes": _NEW.excluded.notes},
)
_DROP_NOTES: Final = update(tables.gauge).where(_gauge.lane == bindparam("of_lane")).values(notes=None)
_FORGET: Final = delete(tables.gauge).where(_gauge.lane == bindparam("of_lane"))
_WAITS: Final = (
    select(tables.delivery.c.id)
    .where(tables.delivery.c.lane == bindparam("of_lane"), tables.delivery.c.state == "queued")
    .limit(1)
)
_CLAIM: Final = (
    update(tables.lane)
    .where(_lane.id == bindparam("of_lane"), _lane.live_run.is_(None))
    .values(epoch=_lane.epoch + 1)
    .returning(_lane.epoch)
)
_KIND: Final = select(_run.kind).where(_run.id == bindparam("run"))
_CLAIMED: Final = (
    select(_lane.id, _lane.live_run)
    .join(tables.run, _run.id == _lane.live_run)
    .where(_lane.live_run.is_not(None), _run.kind == "compaction")
)
_RELEASE: Final = update(tables.lane).where(_lane.id == bindparam("of_lane")).values(live_run=None)
_END: Final = update(tables.run).where(_run.id == bindparam("of_run"))


def gauge(connection: Connection, lane: str) -> Gauge:
    """How full a lane is known to be."""
    row = connection.execute(_READ, {"of_lane": lane}).one_or_none()
    return Gauge() if row is None else Gauge(row.tokens, row.resume_at)


def notes(connection: Connection, lane: str) -> int | None:
    """The place of the notes that a lane's history begins with."""
    row = connection.execute(_READ, {"of_lane": lane}).one_or_none()
    return None if row is None else row.notes


def note(connection: Connection, lane: str, changed: Gauge) -> None:
    """Remember how full a lane is."""
    row = {"lane": lane, "tokens": changed.tokens, "resume_at": changed.resume_at, "notes": None}
    connection.execute(_SET, row)


def renew(connection: Connection, lane: str, changed: Gauge, place: int) -> None:
    """Remember that a lane's history begins with the notes at this place."""
    row = {"lane": lane, "tokens": changed.tokens, "resume_at": changed.resume_at, "notes": place}
    connection.execute(_SET_ALL, row)


def drop_notes(connection: Connection, lane: str) -> None:
    """Let a lane's history begin without notes."""
    connection.execute(_DROP_NOTES, {"of_lane": lane})


def forget(connection: Connection, lane: str) -> None:
    """Know nothing of a lane's history: it begins anew."""
    connection.execute(_FORGET, {"of_lane": lane})


def after_run(connection: Connection, lane: LaneKey, fill: Fill) -> bool:
    """Remember what a run told, and say whether its lane is to be compacted now; nobody returns to a one-shot."""
    if fill.limit is None or lane.kind == "one_shot":
        return False
    before = gauge(connection, lane.id)
    now = read(before, fill)
    if now != before:
        note(connection, lane.id, now)
    if not due(now, fill.limit, waiting=False):
        return False
    waiting = connection.execute(_WAITS, {"of_lane": lane.id}).one_or_none() is not None
    return due(now, fill.limit, waiting=waiting)


def claim(connection: Connection, lane: LaneKey, run: RunId, at: datetime) -> LiveRun:
    """Make ``run``, which compacts, the live one of an idle lane."""
    epoch = connection.execute(_CLAIM, {"of_lane": lane.id, "live_run": run}).scalar_one()
    values = {
        "id": run, "lane": lane.id, "epoch": epoch, "owner_presence": "", "owner_delivery": "", "attempt": 1,
        "autonomous": False, "cancelled": False, "kind": "compaction", "started_at": at,
    }  # fmt: skip
    connection.execute(tables.run.insert(), values)
    return LiveRun(lane, run, epoch, 1, PresenceId(""), DeliveryId(""), at, kind="compaction")


def is_compaction(connection: Connection, run: str | None) -> bool:
    """Whether a lane's live run compacts."""
    return run is not None and connection.execute(_KIND, {"run": run}).scalar() == "compaction"


def release(connection: Connection, at: datetime) -> None:
    """Give back the lanes that a captain that died was compacting: what waits there must not wait for it again."""
    for row in connection.execute(_CLAIMED).all():
        connection.execute(_RELEASE, {"of_lane": row.id})
        connection.execute(_END, {"of_run": row.live_run, "outcome": "interrupted", "settled_at": at})
        note(connection, row.id, put_off(gauge(connection, row.id)))
