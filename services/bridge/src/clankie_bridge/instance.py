"""This process as the captain knows it, and the one that ran before it on the same state folder. Source: C74."""

import fcntl
import os
from pathlib import Path

from clankie_bridge.ports import Log

_ID_BYTES = 256


class Instance:
    """A name of its own for each process; the file only makes a restart on the same folder quick.

    Attributes:
        id: This process.
        replaces: The last one that ran here, which surely lives no more; None where that cannot be told.
    """

    def __init__(self, path: Path, own_id: str, log: Log) -> None:
        self.id = own_id
        self.replaces: str | None = None
        self._path = path
        self._log = log
        self._descriptor: int | None = None

    def claim(self) -> None:
        """Write down that this process runs here, unless another one still does."""
        if self._descriptor is not None:
            return
        descriptor = -1
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            # The system frees it when the process dies, however it dies.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.replaces = os.pread(descriptor, _ID_BYTES, 0).decode("ascii", "replace").strip() or None
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, self.id.encode("ascii"), 0)
        except OSError as error:
            if descriptor >= 0:
                os.close(descriptor)
            if not isinstance(error, BlockingIOError):
                self._log.warning("instance_unwritable", reason=error.strerror)
        else:
            self._descriptor = descriptor

    def release(self) -> None:
        """This process runs here no more."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
