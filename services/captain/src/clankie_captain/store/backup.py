"""A backup of a captain that runs, as a stream of bytes. Source: OPS-10."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from clankie_captain.errors import StoreError
from clankie_captain.store.upkeep import Upkeep

CHUNK: Final = 256 * 1024
"""Bytes that are handed on at a time."""

CHUNKS_WAITING: Final = 4
"""Chunks that wait for whoever takes the backup; beyond them the writer waits."""

STALLED: Final = timedelta(seconds=60)
"""How long either side may make no progress; the database's log grows meanwhile."""

_BROKEN: Final = "the backup could not be written to its end; is there something unreadable in the state folder?"


class Backups:
    """Backups of everything durable; turns go on meanwhile, and are not in it."""

    def __init__(self, upkeep: Upkeep, state: Path, attachments: Path) -> None:
        self._upkeep = upkeep
        self._state = state
        self._attachments = attachments

    async def stream(self) -> AsyncGenerator[bytes]:
        """The bytes of a backup as of now.

        Raises:
            StoreError: It cannot be made; what came so far is none.
        """
        chunks: asyncio.Queue[bytes | StoreError | None] = asyncio.Queue(CHUNKS_WAITING)
        # Apart from whoever reads: a reader that stops reading must not hold the database still for ever.
        writing = asyncio.create_task(self._write(chunks))
        try:
            while (chunk := await chunks.get()) is not None:
                if isinstance(chunk, StoreError):
                    raise chunk
                yield chunk
        finally:
            writing.cancel()
            await asyncio.wait([writing])

    async def _write(self, chunks: asyncio.Queue[bytes | StoreError | None]) -> None:
        end: StoreError | None
        try:
            end = await self._written(chunks)
        except StoreError as error:
            end = error
        except (OSError, TimeoutError):
            end = StoreError(_BROKEN)
        if end is not None:
            # Nobody may mistake what came so far for a backup, even where the reader has stopped reading.
            while not chunks.empty():
                chunks.get_nowait()
        await chunks.put(end)

    async def _written(self, chunks: asyncio.Queue[bytes | StoreError | None]) -> StoreError | None:
        async with self._upkeep.still() as database:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "clankie_captain.store.archive", "write", "--still",
                "--state", str(self._state), "--database", str(database), "--attachments", str(self._attachments),
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
                limit=CHUNK,
            )  # fmt: skip
            try:
                await _pass_on(process, chunks)
                code = await process.wait()
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        process.kill()
                    await process.wait()
        return None if code == 0 else StoreError(_BROKEN)


async def _pass_on(process: asyncio.subprocess.Process, chunks: asyncio.Queue[bytes | StoreError | None]) -> None:
    assert process.stdout is not None
    within = STALLED.total_seconds()
    while True:
        async with asyncio.timeout(within):
            chunk = await process.stdout.read(CHUNK)
        if not chunk:
            return
        async with asyncio.timeout(within):
            await chunks.put(chunk)
