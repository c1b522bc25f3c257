"""Pictures decoded by a worker of their own, so that no bytes of strangers are decoded in the captain. Source: IMG-3.

A worker decodes one picture and ends (``docs/adr/0009-a-worker-for-each-picture.md``). The captain only moves bytes to
it and back, and holds the leash: wall time, and the process group.
"""

import asyncio
import sys
import tempfile
from asyncio import StreamReader, StreamWriter, subprocess
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

import structlog

from clankie_captain.core.pictures import Decoded, Part, Undecodable, sniff
from clankie_captain.media import parcels
from clankie_captain.media.leash import PIECE, leashed
from clankie_captain.media.parcels import Errand, ParcelError
from clankie_settings import bounds
from clankie_settings.wire.attachment import MediaType

_log = structlog.get_logger()


_SHOWN: Final = frozenset({"png", "jpeg", "gif", "webp", "video"})
_COMMAND: Final = (sys.executable, "-I", "-B", "-m", "clankie_captain.media.worker")


class _WorkerError(OSError):
    """A worker did not come up: nothing that the bytes did."""


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
            async with asyncio.timeout(self._within.total_seconds()), leashed(self._command) as worker:
                return await _exchanged(worker, errand, data)
        except TimeoutError:
            return Undecodable("timed_out")
        except (ParcelError, EOFError, ConnectionError):
            # It died, or says what no worker of ours says: bytes that do this are not shown.
            return Undecodable("broken")


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
        raise _WorkerError
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
