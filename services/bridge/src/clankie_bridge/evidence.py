"""Evidence on disk: one content-free JSON line for what was done with a message. Source: ING-5, IMG-10."""

import asyncio
import json
from collections import deque
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from clankie_bridge.ports import Happened, Log
from clankie_settings import jsonl
from clankie_settings.clock import Clock

LINES_WAITING: Final = 20_000
"""Lines that may wait for the disk; beyond them the newest are counted instead."""

FILE_BYTES: Final = 16 * 1024 * 1024
"""Size at which the file is moved aside, in bytes; one older file is kept."""


LINES_AT_ONCE: Final = 1_000
"""Lines that one write takes."""

REMEDY: Final = "make room on the disk of the state folder, or make it writable; the lines wait"

AGAIN_AFTER: Final = timedelta(seconds=1)
"""Pause before lines are tried again that the disk did not take."""


class EvidenceFile:
    """Appends lines to ``<state>/bridge/evidence.jsonl`` from a thread, so that no disk ever holds up a message."""

    def __init__(self, path: Path, clock: Clock, log: Log, file_bytes: int = FILE_BYTES) -> None:
        self._path = path
        self._clock = clock
        self._log = log
        self._file_bytes = file_bytes
        self._lines: deque[dict[str, str | int]] = deque()
        self._lost = 0
        self._some = asyncio.Event()
        self._failing = False

    def record(self, event: Happened, message_id: str, room_id: str, code: str | None = None) -> None:
        """Note what was done with a message."""
        if len(self._lines) >= LINES_WAITING:
            self._lost += 1
            return
        at = self._clock.now().isoformat(timespec="milliseconds")
        line: dict[str, str | int] = {"at": at, "event": event, "message_id": message_id, "room_id": room_id}
        if code is not None:
            line["code"] = code
        self._lines.append(line)
        self._some.set()

    async def run(self) -> None:
        """Write for as long as the bridge lives."""
        while True:
            await self._some.wait()
            if self._failing:
                await self._clock.sleep(AGAIN_AFTER)
            await self.flush()

    async def flush(self) -> None:
        """Write what waits; what the disk does not take goes on waiting."""
        self._some.clear()
        while self._lines or self._lost:
            try:
                await self._written([*islice(self._lines, LINES_AT_ONCE)], self._lost)
            except OSError as error:
                if not self._failing:
                    self._log.error("evidence_unwritable", reason=error.strerror, remedy=REMEDY)
                self._failing = True
                self._some.set()
                return
            self._failing = False

    async def _written(self, lines: list[dict[str, str | int]], lost: int) -> None:
        told = [{"at": self._clock.now().isoformat(timespec="milliseconds"), "lost": lost}] if lost else []
        writing = asyncio.ensure_future(asyncio.to_thread(self._write, [*lines, *told]))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # A thread cannot be stopped: end only when its lines are there, or the last ones would overtake them.
            with suppress(OSError):
                await writing
                self._taken(len(lines), lost)
            raise
        self._taken(len(lines), lost)

    def _taken(self, lines: int, lost: int) -> None:
        for _ in range(lines):
            self._lines.popleft()
        self._lost -= lost

    def _write(self, lines: list[dict[str, str | int]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        size = jsonl.append(self._path, [json.dumps(line, separators=(",", ":")) for line in lines])
        if size >= self._file_bytes:
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
