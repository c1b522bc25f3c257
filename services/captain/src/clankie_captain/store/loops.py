"""The loops of a room: its lanes by grant. Source: LOOP-3, LOOP-9, OPS-5."""

from typing import Final

from sqlalchemy import Connection, and_, bindparam, func, select

from clankie_captain.core.admission import Floor
from clankie_captain.core.turns import Beside
from clankie_captain.store import tables
from clankie_settings.ids import LaneId, RunId

_lane, _run, _delivery = tables.lane.c, tables.run.c, tables.delivery.c

_LOOPS: Final = (_lane.id > bindparam("first"), _lane.id < bindparam("beyond"), _lane.authority == "social")
_ALL: Final = select(_lane.id).where(*_LOOPS).order_by(_lane.id)
_LIVE: Final = (
    select(_run.id, _run.started_at, _delivery.actor)
    .select_from(tables.lane)
    .join(tables.run, _run.id == _lane.live_run)
    .outerjoin(tables.delivery, and_(_delivery.run == _run.id, _delivery.state == "live"))
    .where(*_LOOPS)
    .order_by(_run.started_at)
)
_ANSWERS: Final = select(_delivery.actor).where(_delivery.run == bindparam("run"), _delivery.state == "live")
_QUEUED: Final = (_delivery.lane == bindparam("lane"), _delivery.state == "queued")
_OTHERS: Final = select(func.min(_delivery.seq)).where(*_QUEUED, _delivery.actor != bindparam("actor"))
# By lane, state and place: what came before somebody began to wait is not read, however much it is.
_PAST: Final = select(func.count()).where(
    _delivery.lane == bindparam("lane"),
    _delivery.seq > _OTHERS.scalar_subquery(),
    _delivery.run == bindparam("run"),
    _delivery.state.in_(("steer", "heard")),
)
# What the captain has to tell this sender waits too, and is no word of theirs.
_OWN: Final = select(_delivery.seq).where(*_QUEUED, _delivery.actor == bindparam("actor"), _delivery.awaited)
_FLOOR: Final = select(_PAST.scalar_subquery().label("past"), _OWN.exists().label("behind"))


def floor(connection: Connection, lane: LaneId, run: RunId | None, actor: str) -> Floor | None:
    """What a sender has made of a loop's live run, where it answers them. Source: LOOP-2, LOOP-9."""
    if run is None or connection.execute(_ANSWERS, {"run": run}).scalar() != actor:
        return None
    row = connection.execute(_FLOOR, {"lane": lane, "run": run, "actor": actor}).one()
    return Floor(row.past, bool(row.behind))


def lanes(connection: Connection, home: LaneId) -> tuple[LaneId, ...]:
    """The loops for which a room's social lane stands."""
    return tuple(LaneId(each) for each in connection.execute(_ALL, _of(home)).scalars())


def live(connection: Connection, home: LaneId) -> tuple[Beside, ...]:
    """Their live runs, oldest first."""
    found = connection.execute(_LIVE, _of(home))
    return tuple(Beside(RunId(row.id), row.actor, row.started_at) for row in found)


def _of(home: LaneId) -> dict[str, str]:
    # The tilde stands in no id but between a room and a grant, and only the delete sign comes behind it.
    return {"first": f"{home}~", "beyond": f"{home}\x7f"}
