"""Looks again and again at what a command takes, and says when it is too much. Source: GRANT-4."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from clankie_captain import kin
from clankie_captain.core.machine import Held, Most, Room, Stop, cramped, overfull, overloaded
from clankie_settings.clock import Clock

LOOKS_EVERY: Final = timedelta(milliseconds=100)
"""How often processes are looked at: a hog fills less than half a gigabyte meanwhile."""

RESTS: Final = 3
"""How many times as long as a look took the next one waits at least: a watch is not to be the work."""

SCAFFOLD: Final = 2
"""Processes among them that hold the walls up."""

MEASURES_EVERY: Final = timedelta(milliseconds=250)
"""How often the workspace is measured."""

MENDED_WITHIN: Final = timedelta(seconds=5)
"""How long a command may take to open folders again that an earlier one had closed to its own owner."""

DEPTH: Final = 64
"""How deep folders are followed; what lies deeper cannot be counted."""


async def processes(kindred: Callable[[], list[int]], most: Most, clock: Clock) -> Stop:
    """Why a command has to end by its processes, as soon as it has to."""
    while True:
        began = clock.elapsed()
        stop = await asyncio.to_thread(_loaded, kindred, most)
        if stop is not None:
            return stop
        await clock.sleep(max(LOOKS_EVERY, (clock.elapsed() - began) * RESTS))


async def folder(root: Path, before: Held, most: Most, clock: Clock) -> Stop:
    """Why a command has to end by what it lays into the workspace, as soon as it has to."""
    counted_from = clock.elapsed() + (timedelta() if before.seen else MENDED_WITHIN)
    while True:
        began = clock.elapsed()
        counted = before if began >= counted_from else None
        stop = await asyncio.to_thread(_filled, root, counted, most)
        if stop is not None:
            return stop
        await clock.sleep(max(MEASURES_EVERY, (clock.elapsed() - began) * RESTS))


def measured(root: Path, most: int) -> Held:
    """What lies in a folder, counted up to ``most`` files and folders."""
    size, entries, seen = 0, 0, True
    left = [(str(root), 0)]
    while left and entries <= most:
        place, depth = left.pop()
        try:
            with os.scandir(place) as inside:
                for each in inside:
                    entries += 1
                    with suppress(FileNotFoundError):
                        size += each.stat(follow_symlinks=False).st_blocks * 512
                    if each.is_dir(follow_symlinks=False):
                        left.append((each.path, depth + 1))
            seen = seen and depth <= DEPTH
        except FileNotFoundError:
            continue
        except OSError:
            # Closed to its own owner, too long a path, or gone and a file now: in any case not counted.
            seen = False
        if not seen:
            break
    return Held(size, entries, seen)


def disk(root: Path) -> Room:
    """The disk that a folder lies on."""
    state = os.statvfs(root)
    return Room(state.f_blocks * state.f_frsize, state.f_bavail * state.f_frsize)


def memory() -> Room:
    """The machine's memory; as good as endless where it is not told."""
    told = {"MemTotal": 0, "MemAvailable": 0}
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            name, _, value = line.partition(":")
            if name in told:
                told[name] = int(value.split()[0]) * 1024
    return Room(told["MemTotal"], told["MemAvailable"])


def _loaded(kindred: Callable[[], list[int]], most: Most) -> Stop | None:
    found = kindred()
    return overloaded(len(found) - SCAFFOLD, kin.filled(found), memory(), most)


def _filled(root: Path, before: Held | None, most: Most) -> Stop | None:
    """Looks at the disk alone where there is nothing yet to count against."""
    if before is None:
        return cramped(disk(root), most)
    held = measured(root, max(most.entries, before.entries) + 1)
    return overfull(held, before, disk(root), most)
