"""After a start: what an earlier captain left live runs again, through the same door. Source: DUR-2, LANE-6."""

from typing import Final

import structlog

from clankie_captain.lanes.registry import Registry
from clankie_captain.ports import Runs
from clankie_settings.clock import Clock, Ids
from clankie_settings.ids import RunId

BATCH: Final = 100
"""Waiting lanes that one transaction starts."""

_log = structlog.get_logger()


async def recover(runs: Runs, registry: Registry, clock: Clock, ids: Ids) -> int:
    """Take over every run that is live in the store and start every lane that only waits; how many there were."""
    found = list(await runs.take_over(clock.now()))
    while True:
        fresh = tuple(RunId(ids.new("run")) for _ in range(BATCH))
        started = await runs.start_waiting(fresh, clock.now())
        found.extend(started)
        if len(started) < BATCH:
            break
    for live in found:
        registry.start(live)
    if found:
        _log.info("captain.recovered", runs=len(found))
    return len(found)
