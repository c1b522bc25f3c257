"""Reads a reply's files from the attachment root; neither reference nor folder is trusted. Source: ART-3."""

import asyncio
import hashlib
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Final

from clankie_bridge.core.artifacts import LARGEST, Cause, Picture, Place, picture, place
from clankie_settings.wire.attachment import Artifact

READ_WITHIN: Final = timedelta(seconds=10)
"""How long the disk may take for one file; words do not wait for longer. Source: ART-3."""

_READERS: Final = 2
_STEP: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Unfit(Exception):  # noqa: N818 -- a value on its way out of a thread
    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.code)
        self.cause = cause


class AttachmentRoot:
    """The folder under which the captain's tools keep what they make; here it is only read.

    Its threads are its own: a network disk that hangs holds up nothing but pictures.
    """

    def __init__(self, root: Path, within: timedelta = READ_WITHIN) -> None:
        self._root = root
        self._within = within
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="artifacts")

    async def read(self, artifact: Artifact) -> Picture | Cause:
        """The file that a reference means, or why it does not go out.

        Source: ART-3.
        """
        meant = place(artifact.ref)
        if meant is None:
            return Cause.OUTSIDE
        if artifact.byte_size > LARGEST:
            return Cause.TOO_LARGE
        reading = asyncio.get_running_loop().run_in_executor(self._readers, _read, self._root, meant)
        try:
            async with asyncio.timeout(self._within.total_seconds()):
                data = await reading
        except _Unfit as unfit:
            return unfit.cause
        except (OSError, TimeoutError):
            return Cause.UNREADABLE
        return picture(artifact, data)


def _read(root: Path, meant: Place) -> bytes:
    """The bytes of a file, with no link followed beneath the root.

    Raises:
        _Unfit: It is gone, no plain file inside the root, too large, or not the one that is meant.
        OSError: The disk does not give it.
    """
    try:
        # The root itself may be a link: where it lies is its owner's choice.
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise _Unfit(Cause.NO_FOLDER) from None
    try:
        folder = _step(meant.folder, os.O_DIRECTORY, top)
    finally:
        os.close(top)
    try:
        # Without waiting: somebody may have laid a pipe there.
        file = _step(meant.name, os.O_NONBLOCK, folder)
    finally:
        os.close(folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise _Unfit(Cause.OUTSIDE)
        with os.fdopen(file, "rb", closefd=False) as opened:
            data = opened.read(LARGEST + 1)
    finally:
        os.close(file)
    if len(data) > LARGEST:
        raise _Unfit(Cause.TOO_LARGE)
    if hashlib.sha256(data).hexdigest() != meant.digest:
        raise _Unfit(Cause.ALTERED)
    return data


def _step(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, _STEP | flags, dir_fd=folder)
    except FileNotFoundError:
        raise _Unfit(Cause.GONE) from None
    except OSError:
        if _is_other(name, flags, folder):
            raise _Unfit(Cause.OUTSIDE) from None
        raise


def _is_other(name: str, flags: int, folder: int) -> bool:
    """Whether a name stands for something else than it should: a link, a pipe, a file in place of a folder."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    return not (stat.S_ISDIR(mode) if flags & os.O_DIRECTORY else stat.S_ISREG(mode))
