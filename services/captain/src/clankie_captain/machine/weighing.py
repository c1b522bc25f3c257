"""Weighs a folder that commands fill, whatever they do so that it seems lighter. Source: GRANT-4."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from clankie_captain.core.machine import Held

TRIES: Final = 8
"""How often weighing begins anew where folders are moved or closed meanwhile."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

Key = tuple[int, int]
"""Device and inode."""


def weighed(root: Path, most: int) -> Held:
    """What lies in a folder, counted up to ``most`` files and folders; nothing is seen where that cannot be done.

    Whoever owns a folder and has closed it to himself finds it open again afterwards.
    """
    for _ in range(TRIES):
        with suppress(OSError):
            return _Scale(most).weighed(root)
    return Held(0, 0, seen=False)


class _Scale:
    """One way through all folders, with no more than a few of them open, however deep they lie."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._entries = 0
        self._twins = set[Key]()

    def weighed(self, root: Path) -> Held:
        """What lies in a folder.

        Raises:
            OSError: Something cannot be looked into, or was moved away around us.
        """
        here = _opened(str(root), None)
        if here is None:
            raise FileNotFoundError
        above: list[tuple[Key, list[str]]] = []
        try:
            left = self._listed(here)
            while self._entries <= self._most and (left or above):
                if not left:
                    key, left = above.pop()
                    here = _left(here, key)
                elif (below := _opened(left.pop(), here)) is not None:
                    above.append((_key(here), left))
                    os.close(here)
                    here = below
                    left = self._listed(here)
        finally:
            os.close(here)
        return Held(self._size, self._entries)

    def _listed(self, here: int) -> list[str]:
        """Counts what lies in an open folder; the folders in it."""
        folders: list[str] = []
        with os.scandir(here) as inside:
            for each in inside:
                self._entries += 1
                if self._entries > self._most:
                    break
                with suppress(FileNotFoundError):
                    state = each.stat(follow_symlinks=False)
                    self._size += 0 if self._known(state) else state.st_blocks * 512
                    if stat.S_ISDIR(state.st_mode):
                        folders.append(each.name)
        return folders

    def _known(self, state: os.stat_result) -> bool:
        """Whether it is another name of a file that was counted."""
        if stat.S_ISDIR(state.st_mode) or state.st_nlink == 1:
            return False
        key, known = (state.st_dev, state.st_ino), len(self._twins)
        self._twins.add(key)
        return len(self._twins) == known


def _opened(name: str, above: int | None) -> int | None:
    """A folder; None where it is gone, or nobody who runs commands can change anything in it.

    Raises:
        OSError: It cannot be looked into.
    """
    try:
        # Needs no right on the folder itself, and follows no link that has taken its place.
        place = os.open(name, _FOLDER | os.O_PATH | os.O_NOFOLLOW, dir_fd=above)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        state = os.fstat(place)
        if state.st_mode & 0o500 != 0o500:
            with suppress(PermissionError):
                os.chmod(f"/proc/self/fd/{place}", stat.S_IMODE(state.st_mode) | 0o700)  # noqa: PTH101 -- no path of it
        try:
            return os.open(".", _FOLDER, dir_fd=place)
        except PermissionError:
            # Such as lost+found. Our own was closed again this moment, by somebody who goes on doing so.
            if state.st_uid == os.geteuid() or os.access(f"/proc/self/fd/{place}", os.X_OK, effective_ids=True):
                raise
            return None
    finally:
        os.close(place)


def _left(here: int, key: Key) -> int:
    """The folder above, where that is still the one by which we came."""
    above = os.open("..", _FOLDER, dir_fd=here)
    if _key(above) != key:
        os.close(above)
        raise OSError(errno.ESTALE, "it was moved")
    os.close(here)
    return above


def _key(folder: int) -> Key:
    state = os.fstat(folder)
    return state.st_dev, state.st_ino
