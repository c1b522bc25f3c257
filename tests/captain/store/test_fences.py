"""A run that no longer owns its lane can neither take nor write, by whichever method it tries."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from clankie_captain.core.reply import Said
from clankie_captain.core.run import Broken
from clankie_captain.core.turns import Heard, LiveRun
from clankie_captain.errors import FencedError
from clankie_settings.ids import DeliveryId, RunId
from clankie_settings.wire.action import TextUpdate
from clankie_settings.wire.failure import FailureCode
from tests.captain.core.speech import NOON
from tests.captain.store.shelf import ANSWER, ASKED, DISCORD, OTHER_ROOM, Shelf

pytestmark = pytest.mark.requirement("LANE-2")

Attempt = Callable[[Shelf, LiveRun], Awaitable[object]]

ATTEMPTS: dict[str, Attempt] = {
    "owner": lambda shelf, run: shelf.lanes.owner(run),
    "take": lambda shelf, run: shelf.lanes.take(run, NOON),
    "record": lambda shelf, run: shelf.lanes.record(run, [ANSWER], [], NOON),
    "record heard": lambda shelf, run: shelf.lanes.record(
        run, [ASKED], [Heard(DISCORD, DeliveryId("400"), (), "")], NOON
    ),
    "record nothing": lambda shelf, run: shelf.lanes.record(run, [], [], NOON),
    "history": lambda shelf, run: shelf.lanes.history(run),
    "cut": lambda shelf, run: shelf.lanes.cut(run, 0),
    "settle": lambda shelf, run: shelf.settle(run, Said("too late")),
    "settle a failure": lambda shelf, run: shelf.settle(run, Broken(FailureCode.CAPTAIN_TURN_STALLED)),
    "act": lambda shelf, run: shelf.actions.add(
        run, TextUpdate(action_id="act_1", delivery_id="400", text="too late"), NOON, 3
    ),
}


async def taken_over(shelf: Shelf) -> LiveRun:
    """A run whose lane another captain took over: the same run, of an earlier epoch."""
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.runs.take_over(NOON)
    return run


async def settled(shelf: Shelf) -> LiveRun:
    """A run that has ended, and another that has begun in its lane."""
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run)
    await shelf.started("402")
    return run


async def ended_idle(shelf: Shelf) -> LiveRun:
    """A run that has ended in a lane that is idle since."""
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run)
    return run


async def never_live(shelf: Shelf) -> LiveRun:
    """A run that no lane knows, with the epoch of the one that is live."""
    return replace(await shelf.started("400"), run=RunId("run_other"))


async def of_another_lane(shelf: Shelf) -> LiveRun:
    """The live run of one lane, claimed for another that has one too."""
    run = await shelf.started("400")
    return replace(run, lane=(await shelf.started("403", OTHER_ROOM)).lane)


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
@pytest.mark.parametrize("stale", [taken_over, settled, ended_idle, never_live, of_another_lane])
async def test_a_run_that_does_not_own_its_lane_is_refused_and_changes_nothing(
    shelf: Shelf, stale: Callable[[Shelf], Awaitable[LiveRun]], attempt: Attempt
) -> None:
    run = await stale(shelf)
    before = await everything(shelf)
    with pytest.raises(FencedError) as refused:
        await attempt(shelf, run)
    assert (refused.value.lane, refused.value.run) == (run.lane.id, run.run)
    assert await everything(shelf) == before


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
async def test_the_run_that_took_over_is_let_through(shelf: Shelf, attempt: Attempt) -> None:
    await shelf.started("400")
    (run,) = await shelf.runs.take_over(NOON)
    await attempt(shelf, run)


async def everything(shelf: Shelf) -> list[list[tuple[object, ...]]]:
    tables = [row.name for row in await shelf.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [[tuple(row) for row in await shelf.rows(f"SELECT * FROM {name}")] for name in sorted(tables)]
