"""One-shots of a room, each its own lane: one at a time, the others wait in order. Source: GRANT-2, LANE-12, LOOP-9."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from clankie_captain.core.admission import Floor
from clankie_captain.core.lane import LaneKey, one_shots, one_shots_beside
from clankie_captain.core.turns import Beside
from clankie_captain.store import tables
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import LaneId, RunId
from clankie_settings.wire.trigger import Room, Trigger

_lane, _delivery = tables.lane.c, tables.delivery.c

_OPEN: Final = (
    select(_delivery.lane, _delivery.actor, _delivery.run, _delivery.state, _delivery.seq, _delivery.awaited)
    .where(
        _delivery.state.in_(("queued", "steer", "heard", "live")),
        _delivery.lane >= bindparam("first"),
        _delivery.lane < bindparam("beyond"),
    )
    .order_by(_delivery.seq)
)
_LIVE: Final = (
    select(tables.run.c.id, _delivery.actor, tables.run.c.started_at)
    .join(tables.run, tables.run.c.id == _delivery.run)
    .where(_delivery.state == "live", _delivery.lane >= bindparam("first"), _delivery.lane < bindparam("beyond"))
    .order_by(tables.run.c.started_at)
)
_WAITING: Final = (
    select(_lane.id)
    .join(tables.delivery, _delivery.lane == _lane.id)
    .where(_delivery.state == "queued", _lane.kind == "one_shot", _lane.live_run.is_(None))
    # Children of a lane are one-shots that begin by an order of their own.
    .where(~_lane.id.contains("~child/"))
    .order_by(_delivery.seq)
)


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a system actor's message sits among the one-shots of its room.

    ``live`` is the run that is live there, and ``floor`` is there where it answers this very actor. ``waiting`` counts
    the turns that no run has heard; ``last`` is the highest place of all that are open.
    """

    lane: LaneKey
    live: RunId | None
    floor: Floor | None
    waiting: int
    last: int


def seat(connection: Connection, trigger: Trigger, fresh: LaneKey) -> Seat:
    """The lane of a system actor's message: the one-shot that is theirs already, live or waiting, else ``fresh``.

    A message that asks for a turn of its own gets a one-shot of its own.
    """
    found = connection.execute(_OPEN, _beside(one_shots(trigger.room))).all()
    live = next((row for row in found if row.state == "live"), None)
    own = None if trigger.delivery == "queue" else _own(found, trigger.actor.actor_id)
    return Seat(
        lane=fresh if own is None else LaneKey(LaneId(own), fresh.kind, fresh.authority),
        live=None if live is None else RunId(live.run),
        floor=_floor(found, live, trigger.actor.actor_id) if live is not None and live.lane == own else None,
        waiting=sum(row.state in ("queued", "steer") for row in found),
        last=max((row.seq for row in found), default=0),
    )


def _own(found: Sequence[AnyRow], actor: str) -> str | None:
    mine = [row for row in found if row.actor == actor]
    live = next((row.lane for row in mine if row.state == "live"), None)
    return live or next((row.lane for row in reversed(mine) if row.state == "queued"), None)


def _floor(found: Sequence[AnyRow], live: AnyRow, actor: str) -> Floor:
    queued = [row for row in found if row.state == "queued"]
    others = next((row.seq for row in queued if row.actor != actor), None)
    past = [row for row in found if row.run == live.run and row.state in ("steer", "heard")]
    return Floor(
        past=0 if others is None else sum(row.seq > others for row in past),
        behind=any(row.lane == live.lane and row.actor == actor and row.awaited for row in queued),
    )


def live(connection: Connection, room: Room) -> tuple[Beside, ...]:
    """The live runs of a room's one-shots, oldest first."""
    found = connection.execute(_LIVE, _beside(one_shots(room)))
    return tuple(Beside(RunId(row.id), row.actor, row.started_at) for row in found)


def next_beside(connection: Connection, lane: LaneId) -> LaneKey | None:
    """The one-shot whose turn it is in the room of this one; None where one is live, or none waits."""
    found = connection.execute(_OPEN, _beside(one_shots_beside(lane))).all()
    if any(row.state == "live" for row in found):
        return None
    waiting = next((row.lane for row in found if row.state == "queued"), None)
    return None if waiting is None else LaneKey(LaneId(waiting), "one_shot", "system")


def waiting(connection: Connection) -> tuple[LaneKey, ...]:
    """One-shots that wait, at most one of each room, and none where one is live."""
    rooms = dict.fromkeys(one_shots_beside(row.id) for row in connection.execute(_WAITING))
    found = (next_beside(connection, LaneId(each)) for each in rooms)
    return tuple(each for each in found if each is not None)


def _beside(first: str) -> dict[str, str]:
    # Whatever begins with it lies before the same with its last character's follower.
    return {"first": first, "beyond": f"{first[:-1]}{chr(ord(first[-1]) + 1)}"}
