"""A disk of a test's own that can be really full, or really read-only."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

BALLAST = "ballast"


@dataclass(frozen=True, slots=True)
class Disk:
    """A mounted file system.

    Attributes:
        folder: Where it is mounted.
    """

    folder: Path

    def fill(self, leave: int = 0) -> None:
        """Take all room but so many bytes, in whole pages."""
        free = os.statvfs(self.folder)
        with (self.folder / BALLAST).open("ab") as file:
            file.write(b"\0" * (free.f_bavail * free.f_frsize - leave))

    def empty(self) -> None:
        """Give the room back."""
        (self.folder / BALLAST).unlink()

    def allow_writing(self, allowed: bool) -> None:
        """Make it read-only, or writable again."""
        _run("mount", "-o", f"remount,{'rw' if allowed else 'ro'}", str(self.folder))


@contextmanager
def small_disk(folder: Path, size: int) -> Generator[Disk]:
    """A file system of ``size`` bytes; skips the test where none can be mounted."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a disk that is really full needs a mount of its own: run this test as root, in a container")
    try:
        yield Disk(folder)
    finally:
        # A process that was just killed may hold the folder for a moment longer.
        _run("umount", "--lazy", str(folder))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
