"""What a process has started, and what that holds.

A browser makes a group of its own, which the end of its driver's group leaves alone.
"""

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")
_SET_CHILD_SUBREAPER: Final = 36
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def kin(ancestor: int) -> list[int]:
    """All living descendants of a process, children before their own; none where the platform does not tell."""
    children: dict[int, list[int]] = {}
    with suppress(OSError):
        for each in os.listdir(_PROCESSES):  # noqa: PTH208 -- some hundred names, often
            if each.isdecimal() and (parent := _parent(each)) is not None:
                children.setdefault(parent, []).append(int(each))
    found, at = [ancestor], 0
    while at < len(found):
        found.extend(children.get(found[at], ()))
        at += 1
    return found[1:]


def held(processes: list[int]) -> int:
    """Bytes of memory that these processes hold for themselves."""
    total = 0
    for each in processes:
        with suppress(OSError, ValueError, IndexError):
            _, resident, shared = (_PROCESSES / str(each) / "statm").read_text("ascii").split()[:3]
            total += (int(resident) - int(shared)) * _PAGE
    return total


def filled(processes: list[int]) -> int:
    """Bytes of memory that these processes fill, what they share without a file among it, once for each of them."""
    total = 0
    for each in processes:
        with suppress(OSError, ValueError, IndexError):
            for line in (_PROCESSES / str(each) / "status").read_text("utf-8", "replace").splitlines():
                if line.startswith(("RssAnon:", "RssShmem:")):
                    total += int(line.split()[1]) * 1024
    return total


def end(processes: list[int]) -> None:
    """Kill what still lives of these processes."""
    for each in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)


def adopt() -> None:
    """Take over, from now on, whatever a descendant of this process leaves behind; where the platform can do that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def bury() -> None:
    """End all descendants of this process, and leave no trace of them in the table of processes."""
    end(kin(os.getpid()))
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
            # What one of them started while it was looked for has come to us by now.
            end(kin(os.getpid()))


def _parent(process: str) -> int | None:
    try:
        said = (_PROCESSES / process / "stat").read_text("utf-8", "replace")
        # The name in brackets may hold anything, brackets too.
        state, parent = said.rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return int(parent) if state != "Z" else None
