"""One run from its first request to its settlement."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog

from clankie_captain.core import crash_points, stall
from clankie_captain.core.compaction import Ceilings, Fill
from clankie_captain.core.context import instructions
from clankie_captain.core.reply import Missing, Reply, read_reply
from clankie_captain.core.run import Answered, Broken, Finish, Order
from clankie_captain.core.settlement import may_run
from clankie_captain.core.turns import Ended, LiveRun, Settling
from clankie_captain.core.voice import is_spoken
from clankie_captain.errors import FencedError
from clankie_captain.lanes.line import Line, LineParts
from clankie_captain.lanes.signals import Nudge
from clankie_captain.lanes.watchdog import CancelledRunError, StalledError, Watchdog
from clankie_captain.ports import Loop, Runs, SettledRun, TurnLog
from clankie_settings.ids import RunId
from clankie_settings.wire.failure import FailureCode

SETTLE_BACKOFF: Final = (timedelta(milliseconds=100), timedelta(seconds=5))
"""First and longest pause between tries to settle where the store fails (a full disk)."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RunnerParts:
    """What every run needs."""

    runs: Runs
    line: LineParts
    loop: Loop
    turn_log: TurnLog
    limits: stall.Limits
    persona: str | None
    ceilings: Ceilings = field(default_factory=Ceilings)


class Runner:
    """Runs one run and settles it, whatever happens; only the captain's own stop leaves it to be recovered."""

    def __init__(self, parts: RunnerParts, live: LiveRun, begin: Callable[[LiveRun], None]) -> None:
        self._parts = parts
        self._live = live
        self._watchdog = Watchdog(parts.line.clock, parts.limits)
        self._line = Line(parts.line, live, self._watchdog, begin)
        self._begun = parts.line.clock.elapsed()
        # Taken now: a clock that is set while it runs must not show as waiting.
        self._waited = max(parts.line.clock.now() - live.started_at, timedelta())
        self._limit: int | None = None
        # As they are now: what a server tells anew counts from the next run on. Source: LANE-13.
        self._served = parts.line.hands.servers.tools()

    def cancel(self) -> None:
        """End the run as cancelled; one that has its answer already may still settle with it."""
        self._watchdog.cancel()

    async def run(self) -> Ended | None:
        """The settled end, or None where another owner has taken the lane."""
        try:
            while True:
                ending = await self._ending()
                self._parts.line.crash.reach(crash_points.ANSWERED)
                settled = await self._settle(ending)
                if isinstance(settled, Ended):
                    break
        except FencedError:
            _log.warning("run.fenced", lane=self._live.lane.id, run=self._live.run)
            return None
        finally:
            self._line.hang_up()
        for lane in (self._live.lane, self._live.lane.forked_from):
            if lane is not None:
                self._parts.line.signals.send(lane.id, Nudge())
        for presence in settled.posts:
            self._parts.line.signals.send(presence, Nudge())
        await self._write_down(settled)
        return settled

    async def _ending(self) -> Reply | Broken:
        if self._live.cancelled:
            return Broken(FailureCode.CAPTAIN_CANCELLED)
        if not may_run(self._live.attempt):
            return Broken(FailureCode.CAPTAIN_INTERRUPTED)
        try:
            finish = await self._watchdog.guard(asyncio.ensure_future(self._stretch()))
        except FencedError:
            raise
        except (StalledError, CancelledRunError) as end:
            # Whatever the task still says must not reach the lane any more.
            self._line.hang_up()
            stalled = isinstance(end, StalledError)
            code = FailureCode.CAPTAIN_TURN_STALLED if stalled else FailureCode.CAPTAIN_CANCELLED
            broken = Broken(code, type(end).__name__, self._line.half)
            if stalled:
                self._report(broken)
            return broken
        except Exception as error:  # noqa: BLE001 - one lane's fault must end in a result, not in a mute lane
            _log.error("run.fault", lane=self._live.lane.id, run=self._live.run, cause=type(error).__name__)
            return Broken(FailureCode.CAPTAIN_INTERNAL_ERROR, type(error).__name__)
        ending = read_reply(finish.text, self._line.tools, finish.artifacts) if isinstance(finish, Answered) else finish
        if isinstance(ending, Broken):
            self._report(ending)
        elif isinstance(ending, Missing):
            self._report(Broken(FailureCode.CAPTAIN_RESPONSE_MISSING, "Missing"))
        return ending

    def _report(self, broken: Broken) -> None:
        _log.warning("run.broken", lane=self._live.lane.id, run=self._live.run, code=broken.code, cause=broken.cause)

    async def _stretch(self) -> Finish:
        lanes = self._parts.line.lanes
        await self._parts.line.gallery.wait(self._live)
        history = await lanes.history(self._live)
        owner = await lanes.owner(self._live)
        self._limit = self._parts.ceilings.of(owner.trigger.room)
        grants = self._parts.line.grants
        # What waited may have lost its grant since it was admitted; words that were heard are in the history already.
        if not owner.heard and (code := await grants.withdrawn(self._live, owner)) is not None:
            return Broken(code, "Withdrawn")
        self._line.tools = await grants.offered(self._live, owner.trigger, [tool.name for tool in self._served])
        order = Order(
            lane=self._live.lane.id,
            run=self._live.run,
            instructions=instructions(self._live.lane, self._parts.persona),
            history=history,
            words=() if owner.heard else (self._line.opening(owner),),
            tools=self._line.tools,
            served=self._served,
        )
        return await self._parts.loop.think(order, self._line)

    async def _settle(self, ending: Reply | Broken) -> Settling:
        pause = SETTLE_BACKOFF[0]
        while True:
            follower = RunId(self._parts.line.ids.new("run"))
            try:
                now = self._parts.line.clock.now()
                fill = Fill(self._line.tally.context_end, self._limit)
                return await self._parts.runs.settle(self._live, ending, self._line.tally.usage, follower, now, fill)
            except FencedError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the store's trouble is, the result must not be lost
                if pause == SETTLE_BACKOFF[0]:
                    _log.error("run.unsettled", run=self._live.run, cause=type(error).__name__)
                await self._parts.line.clock.sleep(pause)
                pause = min(2 * pause, SETTLE_BACKOFF[1])

    async def _write_down(self, ended: Ended) -> None:
        clock, tally = self._parts.line.clock, self._line.tally
        mine = next(each for _, each in ended.results if each.delivery_id == self._live.owner)
        took = clock.elapsed() - self._begun
        await self._parts.turn_log.settled(
            SettledRun(
                run=self._live,
                outcome="replied" if is_spoken(mine) else getattr(mine, "code", mine.state),
                absorbed=sum(each.state == "absorbed" and not is_spoken(each) for _, each in ended.results),
                usage=tally.usage,
                context_start=tally.context_start,
                context_end=tally.context_end,
                events=tally.events,
                waited=self._waited,
                took=took,
                at=clock.now(),
                pictures=tally.pictures,
            )
        )
