"""Rows to records and back."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.settlement import Hearing, RunTurn, Settled
from clankie_captain.core.turns import LiveRun, Turn
from clankie_captain.store import tables
from clankie_settings.ids import DeliveryId, LaneId, PresenceId, RunId, TurnId
from clankie_settings.wire.result import RESULT

AnyRow = Row[*tuple[Any, ...]]
"""A row of any shape."""

HEARING: dict[str, Hearing] = {"live": "owner", "heard": "heard", "steer": "unheard"}
"""A delivery's part in its run, by its state."""


def mine(presence: PresenceId, delivery: DeliveryId) -> tuple[ColumnElement[bool], ...]:
    """The conditions that pick one delivery."""
    one = tables.delivery.c
    return one.presence == presence, one.id == delivery


def turn(row: AnyRow) -> Turn:
    """A delivery row as a turn; the result says what is owed now, not what was when it settled."""
    return Turn(
        presence=PresenceId(row.presence),
        delivery=DeliveryId(row.id),
        turn=TurnId(row.turn),
        lane=LaneId(row.lane),
        state=row.state,
        result=result(row.result, owed=row.owed),
    )


def result(stored: str | None, *, owed: bool) -> Settled | None:
    """A stored result with the present ``owed``."""
    return None if stored is None else RESULT.validate_json(stored).model_copy(update={"owed": owed})


def run_turns(rows: Sequence[AnyRow]) -> tuple[RunTurn, ...]:
    """The delivery rows of a run, in order of acceptance."""
    return tuple(
        RunTurn(DeliveryId(row.id), TurnId(row.turn), row.addressed, HEARING[row.state], row.awaited) for row in rows
    )


def lane_key(row: AnyRow) -> LaneKey:
    """A lane row as its key."""
    return LaneKey(LaneId(row.id), row.kind, row.authority)


def live_run(lane: LaneKey, row: AnyRow) -> LiveRun:
    """A run row as a live run of ``lane``."""
    return LiveRun(
        lane=lane,
        run=RunId(row.id),
        epoch=row.epoch,
        attempt=row.attempt,
        presence=PresenceId(row.owner_presence),
        owner=DeliveryId(row.owner_delivery),
        started_at=row.started_at,
        cancelled=row.cancelled,
    )
