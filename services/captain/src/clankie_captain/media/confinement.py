"""What a worker takes from itself before it looks at bytes that strangers posted."""

import os
import resource
import signal
from contextlib import suppress
from datetime import timedelta
from types import FrameType
from typing import Final

from clankie_captain.media.faults import OutOfTimeError

FILES: Final = 64
"""Files that a worker may have open."""

FILE_BYTES: Final = 16 * 1024 * 1024
"""Largest file that a worker may write, in bytes: a film as it was posted."""

NICENESS: Final = 5
"""How far a worker steps back behind the captain."""


def confine(memory: int, cpu: timedelta) -> None:
    """Bound this process, and whatever it starts, in memory (bytes of address space), processor time, files and cores.

    A platform that refuses one of them (macOS has no bound of address space) goes on without it: pixels, frames and
    wall time are bounded besides.
    """
    seconds = int(cpu.total_seconds())
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError):
            # At the lower bound of processor time the signal that names it is sent, and only then the last one.
            resource.setrlimit(kind, (most, most + (kind == resource.RLIMIT_CPU)))
    with suppress(OSError):
        os.nice(NICENESS)


def allow(seconds: float) -> None:
    """Let ``OutOfTimeError`` rise wherever this process is when they are over, unless ``forgive`` comes first."""
    signal.signal(signal.SIGALRM, _over)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def forgive() -> None:
    """Let time pass again."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def heed() -> None:
    """Unwind on SIGTERM, so that whatever was started is ended too."""
    signal.signal(signal.SIGTERM, _ended)


def _over(_number: int, _frame: FrameType | None) -> None:
    raise OutOfTimeError


def _ended(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
