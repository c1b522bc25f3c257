"""Evidence on disk: one content-free JSON line for what was done with a message. Source: ING-5, IMG-10."""

import asyncio
import json
from collections import deque
from pathlib import Path
from typing import Final

from clankie_bridge.ports import Happened, Log
from clankie_settings.clock import Clock

LINES_WAITING: Final = 20_000
"""Lines that may wait for the disk; beyond them the newest are counted instead."""

FILE_BYTES: Final = 16 * 1024 * 1024
"""Size at which the file is moved aside, in bytes; one older file is kept."""


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
            await self.flush()

    async def flush(self) -> None:
        """Write what waits."""
        self._some.clear()
        lines = list(self._lines)
        self._lines.clear()
        if self._lost:
            lines.append({"at": self._clock.now().isoformat(timespec="milliseconds"), "lost": self._lost})
            self._lost = 0
        if not lines:
            return
        try:
            await self._written(lines)
        except OSError as error:
            self._lost += len(lines)
            if not self._failing:
                self._log.error("evidence_unwritable", reason=error.strerror, remedy="make the state folder writable")
            self._failing = True
        else:
            self._failing = False

    async def _written(self, lines: list[dict[str, str | int]]) -> None:
        writing = asyncio.ensure_future(asyncio.to_thread(self._write, lines))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # A thread cannot be stopped: end only when its lines are there, or the last ones would overtake them.
            await writing
            raise

    def _write(self, lines: list[dict[str, str | int]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
            size = file.tell()
        if size >= self._file_bytes:
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
