"""``turn-settled.jsonl``: one line for each run that settled. Source: OPS-6."""

import asyncio
import json
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Final

import structlog

from clankie_captain.ports import SettledRun, TurnLog
from clankie_settings import jsonl

HELD: Final = 1_000
"""Lines that wait for a disk that is full; the oldest go beyond them."""

_log = structlog.get_logger()


class TurnFile:
    """The file, appended to whole lines at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()
        self._held: deque[str] = deque(maxlen=HELD)
        self._failing = False

    async def settled(self, record: SettledRun) -> None:
        """Write one line, behind those that could not be written before.

        Never raises: a log that cannot be written never costs a turn.
        """
        async with self._turn:
            self._held.append(json.dumps(_content_free(record)))
            try:
                await asyncio.to_thread(jsonl.append, self._path, tuple(self._held))
            except OSError as error:
                if not self._failing:
                    _log.warning("turn_log.unwritable", errno=error.errno)
                self._failing = True
            else:
                self._held.clear()
                self._failing = False


class TurnLogs:
    """Several places where settled runs are written down, as one."""

    def __init__(self, *logs: TurnLog) -> None:
        self._logs = logs

    async def settled(self, record: SettledRun) -> None:
        """Tell each of them."""
        for log in self._logs:
            await log.settled(record)


def _content_free(record: SettledRun) -> dict[str, object]:
    return {
        "event": "captain.turn.settled",
        "at": record.at.isoformat(),
        "lane": record.run.lane.id,
        "run": record.run.run,
        "attempt": record.run.attempt,
        "presence": record.run.presence,
        "delivery": record.run.owner,
        "outcome": record.outcome,
        "absorbed": record.absorbed,
        **asdict(record.usage),
        "context_start_tokens": record.context_start,
        "context_end_tokens": record.context_end,
        "pictures_shown": record.pictures.shown,
        "pictures_omitted": record.pictures.omitted,
        "pictures_unresolved": record.pictures.unresolved,
        "events": record.events,
        "waited_ms": round(record.waited.total_seconds() * 1000),
        "took_ms": round(record.took.total_seconds() * 1000),
    }
