"""Pictures decoded by a worker of their own, so that no bytes of strangers are decoded in the captain. Source: IMG-3.

A worker decodes one picture and ends (``docs/adr/0009-a-worker-for-each-picture.md``). The captain only moves bytes to
it and back, and holds the leash: wall time, and the process group.
"""

import asyncio
import os
import signal
import sys
import tempfile
from asyncio import StreamReader, StreamWriter, subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

import structlog

from clankie_captain.core.pictures import Decoded, Part, Undecodable, sniff
from clankie_captain.media import parcels
from clankie_captain.media.parcels import Errand, ParcelError
from clankie_settings import bounds
from clankie_settings.wire.attachment import MediaType

_log = structlog.get_logger()

GRACE: Final = timedelta(seconds=1)
"""How long a worker may take to end what it started, before its group is killed."""

PIECE: Final = 256 * 1024
"""Bytes that are handed to a worker at a time."""


class WorkerError(OSError):
    """A worker did not come up: nothing that the bytes did."""


_SHOWN: Final = frozenset({"png", "jpeg", "gif", "webp", "video"})
_COMMAND: Final = (sys.executable, "-I", "-B", "-m", "clankie_captain.media.worker")


class WorkerDecoder:
    """Decodes whatever ``core.pictures.sniff`` knows as png, jpeg, gif, webp or a film, each in a worker of its own.

    Args:
        ffmpeg: The program that takes films apart; without one, films are ``unavailable``.
        within: Wall time of one worker.
        gathering: How long frames of something that moves are gathered.
        at_once: Workers at a time; other pictures wait.
        command: What a worker is.
    """

    def __init__(
        self,
        ffmpeg: Path | None,
        within: timedelta = bounds.DECODE_TIME,
        gathering: timedelta = bounds.FRAMES_TIME,
        at_once: int = bounds.DECODERS,
        command: tuple[str, ...] = _COMMAND,
    ) -> None:
        if ffmpeg is None:
            _log.warning("films.unavailable", remedy="install ffmpeg; until then he sees the preview of films alone")
        self._ffmpeg = ffmpeg
        self._within = within
        self._gathering = gathering.total_seconds()
        self._workers = asyncio.Semaphore(at_once)
        self._command = command

    async def decode(self, data: bytes, most: int) -> Decoded | Undecodable:
        """Decode stills, animations and films alike; at most ``most`` parts, and never more than four of one source.

        Never raises for what the bytes hold, for a worker that dies, or for one that cannot be started.

        Source: IMG-3, IMG-4, IMG-5.
        """
        form = sniff(data)
        if form is None or form not in _SHOWN:
            return Undecodable("unsupported")
        if len(data) > bounds.ATTACHMENT_BYTES:
            return Undecodable("too_large")
        film = form == "video"
        if film and self._ffmpeg is None:
            return Undecodable("unavailable")
        most = max(1, min(most, bounds.PICTURE_FRAMES))
        async with self._workers:
            try:
                with tempfile.TemporaryDirectory(prefix="clankie-") if film else nullcontext() as folder:
                    program = str(self._ffmpeg) if film else None
                    errand = Errand(form, most, len(data), self._gathering, folder, program)
                    return await self._served(errand, data)
            except OSError:
                # No process, no folder, no memory: not the picture's fault.
                return Undecodable("unavailable")

    async def _served(self, errand: Errand, data: bytes) -> Decoded | Undecodable:
        try:
            async with asyncio.timeout(self._within.total_seconds()), self._worker() as worker:
                return await _exchanged(worker, errand, data)
        except TimeoutError:
            return Undecodable("timed_out")
        except (ParcelError, EOFError, ConnectionError):
            # It died, or says what no worker of ours says: bytes that do this are not shown.
            return Undecodable("broken")

    @asynccontextmanager
    async def _worker(self) -> AsyncGenerator[subprocess.Process]:
        """A worker that is up, and the end of its whole group."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Nothing of the captain's is anything to it: no key, no token, no folder.
            env={"LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "2"},
            cwd="/",
            start_new_session=True,
        )
        try:
            yield process
        finally:
            await _ended(process)


async def _exchanged(worker: subprocess.Process, errand: Errand, data: bytes) -> Decoded | Undecodable:
    """Hand an errand over and take what came of it.

    Raises:
        EOFError: The worker ended in the middle.
        ConnectionError: It ended before it had everything.
        ParcelError: It says what was not agreed.
        OSError: It never came up.
    """
    to_it, from_it = cast("StreamWriter", worker.stdin), cast("StreamReader", worker.stdout)
    if await from_it.read(len(parcels.READY)) != parcels.READY:
        raise WorkerError
    to_it.write(parcels.errand_head(errand))
    for at in range(0, len(data), PIECE):
        to_it.write(memoryview(data)[at : at + PIECE])
        await to_it.drain()
    to_it.close()
    length = int.from_bytes(await from_it.readexactly(parcels.LENGTH_BYTES), "big")
    if length > parcels.HEAD_BYTES:
        raise ParcelError("too long")
    said = parcels.announced(await from_it.readexactly(length), errand.most)
    if said.fault is not None:
        return Undecodable(said.fault)
    return Decoded(tuple([await _part(from_it, *each) for each in said.shots]))


async def _part(source: StreamReader, media_type: str, width: int, height: int, size: int) -> Part:
    data = await source.readexactly(size)
    if f"image/{sniff(data)}" != media_type:
        raise ParcelError("not what it was announced as")
    return Part(data, cast("MediaType", media_type), width, height)


async def _ended(process: subprocess.Process) -> None:
    """End a worker and everything that it started; what it still says is thrown away."""
    to_it = cast("StreamWriter", process.stdin).transport
    if not to_it.is_closing():
        to_it.abort()
    try:
        if process.returncode is None:
            _tell(process, signal.SIGTERM)
            async with asyncio.timeout(GRACE.total_seconds()):
                await _gone(process)
    except TimeoutError:
        pass
    finally:
        _tell(process, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE.total_seconds()):
            await _gone(process)


def _tell(process: subprocess.Process, what: signal.Signals) -> None:
    # Its number is its group's; a worker that is gone and reaped has left nobody behind.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, what)


async def _gone(process: subprocess.Process) -> None:
    # Only who has read to the end of the pipe learns of the process's end.
    while await cast("StreamReader", process.stdout).read(PIECE):
        pass
    await process.wait()
