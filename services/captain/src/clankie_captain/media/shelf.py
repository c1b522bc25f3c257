"""Pictures as they were shown, each kept once under the hash of its bytes. Source: IMG-7."""

import asyncio
import hashlib
import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from clankie_captain.core.pictures import Part, Stored
from clankie_settings import bounds

FOLDER: Final = "pictures"
"""The shelf's own folder under the attachment root; nothing else writes there."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_NEW: Final = ".new-"

T = TypeVar("T")


class Shelf:
    """A folder of files that are named by their content.

    A file is written under another name, forced to disk, and then renamed, so that its name never lies about it. What
    is there already is not written again. No link is followed. Where the files together grow beyond ``most`` bytes,
    those go that were longest unused; whoever asks for one that is gone is told so.
    """

    def __init__(self, root: Path, most: int = bounds.SHELF_BYTES) -> None:
        self._folder = root / FOLDER
        self._most = most
        self._one = asyncio.Lock()
        self._size: int | None = None

    async def put(self, part: Part) -> Stored:
        """Keep a part.

        Raises:
            OSError: The disk or the folder does not take it.
        """
        stored = Stored(_digest(part.data), part.media_type, part.width, part.height, len(part.data))
        async with self._one:
            await asyncio.to_thread(self._inside, lambda folder: self._put(folder, stored.digest, part.data))
        return stored

    async def get(self, digest: str) -> bytes | None:
        """The bytes under a hash; None where they are gone, or are not what their name says."""
        if not _DIGEST.fullmatch(digest):
            return None
        return await asyncio.to_thread(self.read, digest)

    def read(self, digest: str) -> bytes | None:
        """The same, on the caller's thread."""
        try:
            data = self._inside(lambda folder: _read(folder, digest))
        except OSError:
            return None
        return data if _digest(data) == digest else None

    def _inside(self, step: Callable[[int], T]) -> T:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            return step(folder)
        finally:
            os.close(folder)

    def _put(self, folder: int, digest: str, data: bytes) -> None:
        with suppress(OSError):
            if _digest(_read(folder, digest)) == digest:
                return
        if self._size is None:
            self._size = _tidied(folder)
        if self._size + len(data) > self._most:
            self._size = _thinned(folder, self._most * 9 // 10 - len(data))
        _write(folder, digest, data)
        self._size += len(data)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(folder: int, digest: str) -> bytes:
    # Without waiting: somebody may have laid a pipe there.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(digest, flags, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError
        os.utime(file.fileno())
        return file.read()


def _write(folder: int, digest: str, data: bytes) -> None:
    name = f"{_NEW}{os.getpid()}-{digest}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(name, digest, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    os.fsync(folder)


def _tidied(folder: int) -> int:
    """What the files take, in bytes, after what an interrupted captain left half-written is gone."""
    size = 0
    with os.scandir(folder) as found:
        for each in found:
            if each.name.startswith(_NEW):
                os.unlink(each.name, dir_fd=folder)
            else:
                size += each.stat(follow_symlinks=False).st_size
    return size


def _thinned(folder: int, most: int) -> int:
    """What the files take, in bytes, after so many went that they take at most ``most``: those unused for longest."""
    with os.scandir(folder) as found:
        stats = [(each.name, each.stat(follow_symlinks=False)) for each in found if _DIGEST.fullmatch(each.name)]
    size = sum(one.st_size for _, one in stats)
    for name, one in sorted(stats, key=lambda each: each[1].st_mtime_ns):
        if size <= most:
            break
        os.unlink(name, dir_fd=folder)
        size -= one.st_size
    return size
