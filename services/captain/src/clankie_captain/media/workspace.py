"""The folder whose files machine tools may read: nothing outside it, whatever a path says. Source: GRANT-2, GRANT-4."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Final

from clankie_captain.core.quoting import quoted
from clankie_captain.errors import ConfigurationError
from clankie_settings import bounds
from clankie_settings.clock import Ids

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: a named pipe would hold the thread until somebody writes to it.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UnreadError(Exception):
    """A file is not read; the text says why, and holds nothing of the file."""


class Workspace:
    """Reads text files under one folder; each step of a path is opened from the one before, and no link followed."""

    def __init__(self, root: Path, ids: Ids) -> None:
        self._root = root
        self._ids = ids

    async def read(self, path: str) -> str:
        """The text of a file, fenced.

        Raises:
            UnreadError: There is no such file, it lies outside, it is no text, or too large.
        """
        text = await asyncio.to_thread(_text, self._root, _steps(path))
        while True:
            try:
                return quoted(text, path, self._ids.new("k").removeprefix("k_")[:12])
            except ValueError:
                continue


def prepared(folder: Path, state: Path, attachments: Path, databases: tuple[Path, ...]) -> Path:
    """The workspace, made where it is not there yet.

    Raises:
        ConfigurationError: It would hold, or lie among, what no tool may read.
    """
    root, home, shared = folder.expanduser().resolve(), state.resolve(), attachments.resolve()
    if root == home or root in home.parents or any(root in each.resolve().parents for each in databases):
        raise ConfigurationError("CLANKIE_WORKSPACE: the state folder lies in it; name a folder of its own")
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
    steps = tuple(each for each in path.split("/") if each not in ("", "."))
    if path.startswith("/") or ".." in steps or "\0" in path or not steps:
        raise UnreadError("give a path inside the workspace, such as notes/today.md")
    return steps


def _text(root: Path, steps: tuple[str, ...]) -> str:
    try:
        data = _read(root, steps)
    except FileNotFoundError:
        raise UnreadError("there is no such file in the workspace") from None
    except OSError:
        # Links among them: what they lead to is nobody's business.
        raise UnreadError("it cannot be read there; only plain files inside the workspace are") from None
    if len(data) > bounds.READ_FILE_BYTES:
        raise UnreadError(f"it is too large: at most {bounds.READ_FILE_BYTES // 1024} KiB are read")
    if b"\0" in data:
        raise UnreadError("it is binary, not text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadError("it is binary, or text in another encoding than UTF-8") from None


def _read(root: Path, steps: tuple[str, ...]) -> bytes:
    *folders, name = steps
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            below = os.open(folder, _DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        found = os.open(name, _FILE, dir_fd=here)
    finally:
        os.close(here)
    with os.fdopen(found, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
            # Another name of it may lie anywhere, where it was never meant for the workspace.
            raise PermissionError
        return file.read(bounds.READ_FILE_BYTES + 1)
