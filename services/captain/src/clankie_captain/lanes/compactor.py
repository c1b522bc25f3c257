"""One compaction from its claim on the lane to its end. Source: CTX-7, C26."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import structlog

from clankie_captain.core import stall
from clankie_captain.core.compaction import (
    Compacted,
    Compaction,
    CompactionOutcome,
    Digest,
    Shorter,
    Unchanged,
    portion,
)
from clankie_captain.core.run import Broken, Usage
from clankie_captain.core.turns import Ended, LiveRun
from clankie_captain.errors import FencedError
from clankie_captain.lanes.runner import SETTLE_BACKOFF
from clankie_captain.lanes.signals import Nudge, Signals
from clankie_captain.lanes.watchdog import CancelledRunError, StalledError, Watchdog
from clankie_captain.ports import CompactionLog, Compactions, Lanes, Loop
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids
from clankie_settings.ids import RunId
from clankie_settings.wire.failure import FailureCode

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class CompactorParts:
    """What every compaction needs."""

    lanes: Lanes
    compactions: Compactions
    loop: Loop
    log: CompactionLog
    signals: Signals
    limits: stall.Limits
    clock: Clock
    ids: Ids


class Compactor:
    """Has older talk put into notes, and gives the lane back whatever comes of it.

    What arrives meanwhile waits in the lane's rows; only a person's ``/stop`` or ``/new`` ends it early, or its bound.
    """

    def __init__(self, parts: CompactorParts, live: LiveRun) -> None:
        self._parts = parts
        self._live = live
        self._watchdog = Watchdog(parts.clock, parts.limits)
        self._begun = parts.clock.elapsed()
        self._usage = Usage()

    def cancel(self) -> None:
        """End it; the history stays as it is."""
        self._watchdog.cancel()

    def event(self) -> None:
        """The writer gave a sign of life."""
        self._watchdog.event()

    def received(self) -> None:
        """Bytes came from the provider without an event."""
        self._watchdog.received()

    def spent(self, usage: Usage) -> None:
        """The writer was answered and cost this."""
        self._usage = self._usage.plus(usage)

    async def run(self) -> Ended | None:
        """What follows in the lane, or None where another owner has taken it."""
        try:
            ending = await self._ending()
            ended = await self._finish(ending)
        except FencedError:
            _log.warning("compaction.fenced", lane=self._live.lane.id, run=self._live.run)
            return None
        self._report(ended.outcome, ending)
        self._parts.signals.send(self._live.lane.id, Nudge())
        return Ended((), ended.follows)

    async def _ending(self) -> Compaction:
        bound = asyncio.ensure_future(self._bounded())
        try:
            return await self._watchdog.guard(asyncio.ensure_future(self._shorter()))
        except FencedError:
            raise
        except StalledError:
            return Unchanged("stalled", Broken(FailureCode.CAPTAIN_TURN_STALLED, StalledError.__name__))
        except CancelledRunError:
            return Unchanged("stalled" if bound.done() else "cancelled")
        except Exception as error:  # noqa: BLE001 - whatever it is, the lane must come free
            return Unchanged("failed", Broken(FailureCode.CAPTAIN_INTERNAL_ERROR, type(error).__name__))
        finally:
            bound.cancel()

    async def _bounded(self) -> None:
        # People wait, and notes are short: a writer that is merely alive does not hold the lane for ever.
        await self._parts.clock.sleep(bounds.COMPACT_WITHIN)
        self._watchdog.cancel()

    async def _shorter(self) -> Compaction:
        parts, live = self._parts, self._live
        history = await parts.lanes.history(live)
        chosen = portion(history, await parts.compactions.tokens(live))
        if chosen is None:
            return Unchanged("pointless")
        delimiter = parts.ids.new("k").removeprefix("k_")[:12]
        digest = Digest(live.lane.id, live.run, chosen.entries, chosen.chars, chosen.tokens, delimiter)
        written = await parts.loop.put_together(digest, self)
        if isinstance(written, Broken):
            return Unchanged("failed", written)
        return Shorter(chosen.kept_from, written)

    async def _finish(self, ending: Compaction) -> Compacted:
        pause: timedelta = SETTLE_BACKOFF[0]
        while True:
            follower = RunId(self._parts.ids.new("run"))
            try:
                now = self._parts.clock.now()
                return await self._parts.compactions.finish(self._live, ending, self._usage, follower, now)
            except FencedError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the store's trouble is, what waits must not be lost
                _log.error("compaction.unsettled", run=self._live.run, cause=type(error).__name__)
                await self._parts.clock.sleep(pause)
                pause = min(2 * pause, SETTLE_BACKOFF[1])

    def _report(self, outcome: CompactionOutcome, ending: Compaction) -> None:
        took = self._parts.clock.elapsed() - self._begun
        broken = ending.broken if isinstance(ending, Unchanged) else None
        say = _log.info if outcome in ("compacted", "pointless", "cancelled") else _log.warning
        say(
            "lane.compaction",
            lane=self._live.lane.id,
            run=self._live.run,
            outcome=outcome,
            code=None if broken is None else broken.code,
            cause=None if broken is None else broken.cause,
            took_ms=round(took.total_seconds() * 1000),
            input_tokens=self._usage.input_tokens,
            output_tokens=self._usage.output_tokens,
        )
        self._parts.log.compacted(outcome, self._usage)
