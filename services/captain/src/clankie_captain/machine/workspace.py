"""The folder that machine tools work in: nothing outside it, whatever a path says. Source: GRANT-2, GRANT-4."""

import codecs
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clankie_captain.core.machine import Held
from clankie_captain.core.quoting import fenced
from clankie_captain.errors import ConfigurationError
from clankie_captain.machine.weighing import weighed
from clankie_captain.threads import Threads
from clankie_settings import bounds
from clankie_settings.clock import Ids

INSIDE: Final = "/workspace"
"""Where commands see the folder; paths may begin with it."""

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: a named pipe would hold the thread until somebody writes to it.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class UnreadError(Exception):
    """A file is not read or written; the text says why, and holds nothing of the file."""


@dataclass(frozen=True, slots=True)
class _Piece:
    data: bytes
    offset: int
    size: int


class Workspace:
    """Reads and writes text files under one folder; each step of a path is opened from the one before, never by a link.

    Args:
        root: The folder.
        ids: Marks of fences, and names of files that are not whole yet.
        owner: The user and group whom what is written belongs to, where that is not the captain's own.
    """

    def __init__(self, root: Path, ids: Ids, owner: tuple[int, int] | None = None) -> None:
        self._root = root
        self._ids = ids
        self._owner = owner
        # Its disk may be another than the captain's own, and hang while all else works.
        self._threads = Threads(bounds.WORKSPACE_THREADS, "workspace")

    async def weighed(self, most: int) -> Held:
        """What lies in it, counted up to ``most`` files and folders."""
        return await self._threads.run(lambda: weighed(self._root, most))

    async def read(self, path: str, offset: int = 0) -> str:
        """The text of a file from a byte on, fenced, and where it goes on.

        Raises:
            UnreadError: There is no such file, it lies outside, it is no text, or ends before.
        """
        steps = _steps(path)
        piece = await self._threads.run(lambda: _read(self._root, steps, offset))
        text, end = _text(piece)
        fence = fenced("file", {"path": path}, text, lambda: self._ids.new("k").removeprefix("k_")[:12])
        if end >= piece.size:
            return fence
        return f"{fence}\nThis is a part of {piece.size} bytes; it goes on at offset {end}."

    async def write(self, path: str, text: str) -> None:
        """Write a file, with the folders above it: all of it or nothing; a link in its place is replaced.

        Raises:
            UnreadError: It is no path in the workspace, or there is no room.
        """
        steps, fresh = _steps(path), f".{self._ids.new('new')}"
        data = text.encode("utf-8", "replace")
        if len(data) > bounds.WRITE_FILE_BYTES:
            raise UnreadError(f"it is too large: at most {bounds.WRITE_FILE_BYTES // 1024} KiB are written at once")
        await self._threads.run(lambda: self._write(steps, data, fresh))

    def _write(self, steps: Sequence[str], data: bytes, fresh: str) -> None:
        try:
            with _folder(self._root, steps[:-1], self._made) as here:
                self._put(here, steps[-1], data, fresh)
        except IsADirectoryError:
            raise UnreadError("there is a folder of that name") from None
        except OSError as error:
            why = f" ({error.strerror})" if error.strerror else ""
            raise UnreadError(f"it cannot be written there{why}") from None

    def _put(self, here: int, name: str, data: bytes, fresh: str) -> None:
        try:
            with os.fdopen(os.open(fresh, _NEW, _mode(here, name), dir_fd=here), "wb") as file:
                file.write(data)
                file.flush()
                self._given(file.fileno())
                os.fchmod(file.fileno(), _mode(here, name))
                os.fsync(file.fileno())
            os.rename(fresh, name, src_dir_fd=here, dst_dir_fd=here)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=here)
            raise

    def _made(self, name: str, here: int) -> None:
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=here)
            below = os.open(name, _DIRECTORY, dir_fd=here)
            try:
                self._given(below)
            finally:
                os.close(below)

    def _given(self, file: int) -> None:
        if self._owner is not None:
            os.fchown(file, *self._owner)


def prepared(folder: Path, state: Path, attachments: Path, own: Sequence[Path]) -> Path:
    """The workspace, made where it is not there yet.

    Raises:
        ConfigurationError: It would hold, or lie among, what no tool may read.
    """
    root, home, shared = folder.expanduser().resolve(), state.resolve(), attachments.resolve()
    if any(each.is_relative_to(root) for each in (home, *(each.resolve() for each in own))):
        raise ConfigurationError("CLANKIE_WORKSPACE: what is the captain's own lies in it; name a folder of its own")
    if home in root.parents and root.relative_to(home).parts[0] != "workspace":
        raise ConfigurationError("CLANKIE_WORKSPACE: lies among the captain's own files; name a folder of its own")
    if root == shared or root in shared.parents or shared in root.parents:
        raise ConfigurationError("CLANKIE_WORKSPACE: meets the attachment root; name a folder of its own")
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"CLANKIE_WORKSPACE: the folder cannot be made ({error.strerror})") from error
    return root


def _steps(path: str) -> tuple[str, ...]:
    inside = path.removeprefix(f"{INSIDE}/")
    steps = tuple(each for each in inside.split("/") if each not in ("", "."))
    if inside.startswith("/") or ".." in steps or "\0" in path or not steps:
        raise UnreadError("give a path inside the workspace, such as notes/today.md")
    return steps


def _text(piece: _Piece) -> tuple[str, int]:
    """The text of a piece, and the byte behind it: a letter that is cut in two is left to the next."""
    if b"\0" in piece.data:
        raise UnreadError("it is binary, not text")
    # Somebody who counts bytes may begin in the middle of a letter.
    data = piece.data.lstrip(bytes(range(0x80, 0xC0))) if piece.offset else piece.data
    decoder, end = codecs.getincrementaldecoder("utf-8")(), piece.offset + len(piece.data)
    try:
        text = decoder.decode(data, final=end >= piece.size)
    except UnicodeDecodeError:
        raise UnreadError("it is binary, or text in another encoding than UTF-8") from None
    return text, end - len(decoder.getstate()[0])


def _read(root: Path, steps: Sequence[str], offset: int) -> _Piece:
    try:
        with _folder(root, steps[:-1]) as here:
            found = os.open(steps[-1], _FILE, dir_fd=here)
        with os.fdopen(found, "rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
                # Another name of it may lie anywhere, where it was never meant for the workspace.
                raise PermissionError
            if offset and offset >= state.st_size:
                raise UnreadError(f"it ends before: it has {state.st_size} bytes")
            file.seek(offset)
            return _Piece(file.read(bounds.READ_FILE_BYTES), offset, state.st_size)
    except FileNotFoundError:
        raise UnreadError("there is no such file in the workspace") from None
    except OSError:
        # Links among them: what they lead to is nobody's business.
        raise UnreadError("it cannot be read there; only plain files inside the workspace are") from None


@contextmanager
def _folder(root: Path, steps: Sequence[str], make: Callable[[str, int], None] | None = None) -> Generator[int]:
    """The folder at the end of these steps, opened, with ``make`` made where it is not there."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps:
            if make is not None:
                make(step, here)
            below = os.open(step, _DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def _mode(here: int, name: str) -> int:
    """The mode of what a file takes the place of: a program stays one."""
    try:
        state = os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError
    return state.st_mode & 0o777 if stat.S_ISREG(state.st_mode) else 0o644
