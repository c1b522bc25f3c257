"""Whether a run still owns its lane, asked inside the transaction that relies on it. Source: LANE-2."""

from typing import Final

from sqlalchemy import Connection, bindparam, select

from clankie_captain.core.turns import LiveRun
from clankie_captain.errors import FencedError
from clankie_captain.store import tables

_lane = tables.lane.c

_OWNS: Final = select(_lane.id).where(
    _lane.id == bindparam("of_lane"), _lane.live_run == bindparam("of_run"), _lane.epoch == bindparam("of_epoch")
)


def prove(connection: Connection, run: LiveRun) -> None:
    """Go on only for the lane's live run.

    Raises:
        FencedError: It is another one.
    """
    own = {"of_lane": run.lane.id, "of_run": run.run, "of_epoch": run.epoch}
    if connection.execute(_OWNS, own).one_or_none() is None:
        raise FencedError(run.lane.id, run.run)
