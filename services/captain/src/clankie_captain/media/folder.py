"""A bounded folder of whole files, under the attachment root; only its owner writes there. Source: IMG-7, ART-2."""

import asyncio
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

_NEW: Final = ".new-"

T = TypeVar("T")


class Folder:
    """Files that are there whole or not at all.

    A file is written under another name, forced to disk, and then renamed, so that its name never lies about it. What
    is there already is not written again. No link is followed. Where the files together grow beyond ``most`` bytes,
    those go that were longest unused.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._path = path
        self._most = most
        self._one = asyncio.Lock()
        self._size: int | None = None

    async def put(self, name: str, data: bytes) -> None:
        """Keep a file.

        Raises:
            OSError: The disk or the folder does not take it.
        """
        async with self._one:
            await asyncio.to_thread(self._inside, lambda folder: self._put(folder, name, data))

    async def get(self, name: str) -> bytes | None:
        """What a file holds; None where there is none."""
        return await asyncio.to_thread(self.read, name)

    def read(self, name: str) -> bytes | None:
        """The same, on the caller's thread."""
        try:
            return self._inside(lambda folder: _read(folder, name))
        except OSError:
            return None

    def _inside(self, step: Callable[[int], T]) -> T:
        self._path.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            return step(folder)
        finally:
            os.close(folder)

    def _put(self, folder: int, name: str, data: bytes) -> None:
        with suppress(OSError):
            if _read(folder, name) == data:
                return
        if self._size is None:
            self._size = _tidied(folder)
        if self._size + len(data) > self._most:
            self._size = _thinned(folder, self._most * 9 // 10 - len(data))
        _write(folder, name, data)
        self._size += len(data)


def _read(folder: int, name: str) -> bytes:
    # Without waiting: somebody may have laid a pipe there.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError
        os.utime(file.fileno())
        return file.read()


def _write(folder: int, name: str, data: bytes) -> None:
    unfinished = f"{_NEW}{os.getpid()}-{name}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(unfinished, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
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
        whole = [each for each in found if each.is_file(follow_symlinks=False) and not each.name.startswith(_NEW)]
        stats = [(each.name, each.stat(follow_symlinks=False)) for each in whole]
    size = sum(one.st_size for _, one in stats)
    for name, one in sorted(stats, key=lambda each: each[1].st_mtime_ns):
        if size <= most:
            break
        os.unlink(name, dir_fd=folder)
        size -= one.st_size
    return size
