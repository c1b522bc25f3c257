"""``turn-settled.jsonl``: one line for each run that settled. Source: OPS-6."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import structlog

from clankie_captain.ports import SettledRun, TurnLog

_log = structlog.get_logger()


class TurnFile:
    """The file, appended to one line at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()

    async def settled(self, record: SettledRun) -> None:
        """Write one line. Never raises: a log that cannot be written costs the line, not the turn."""
        line = json.dumps(_content_free(record)) + "\n"
        async with self._turn:
            try:
                await asyncio.to_thread(self._append, line)
            except OSError as error:
                _log.warning("turn_log.unwritable", errno=error.errno)

    def _append(self, line: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line)


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
        "events": record.events,
        "waited_ms": round(record.waited.total_seconds() * 1000),
        "took_ms": round(record.took.total_seconds() * 1000),
    }
