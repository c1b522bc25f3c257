"""Looks again and again at what a command takes, and says when it is too much. Source: GRANT-4."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from clankie_captain import kin
from clankie_captain.core.machine import Held, Most, Room, Stop, overfull, overloaded
from clankie_captain.machine.weighing import weighed
from clankie_captain.threads import Threads
from clankie_settings.clock import Clock

LOOKS_EVERY: Final = timedelta(milliseconds=100)
"""How often processes and what is left are looked at: a hog fills less than half a gigabyte meanwhile."""

RESTS: Final = 3
"""How many times as long as a look took the next one waits at least: a watch is not to be the work."""

SCAFFOLD: Final = 2
"""Processes among them that hold the walls up."""

MEASURES_EVERY: Final = timedelta(milliseconds=250)
"""How often the workspace is measured."""


async def processes(kindred: Callable[[], list[int]], root: Path, most: Most, clock: Clock, threads: Threads) -> Stop:
    """Why a command has to end by its processes or by what is left on its disk, as soon as it has to."""
    while True:
        began = clock.elapsed()
        stop: Stop | None = await threads.run(lambda: _loaded(kindred, root, most))
        if stop is not None:
            return stop
        await clock.sleep(max(LOOKS_EVERY, (clock.elapsed() - began) * RESTS))


async def folder(root: Path, before: Held, most: Most, clock: Clock, threads: Threads) -> Stop:
    """Why a command has to end by what it lays into the workspace, as soon as it has to."""
    while True:
        began = clock.elapsed()
        stop: Stop | None = await threads.run(lambda: _filled(root, before, most))
        if stop is not None:
            return stop
        await clock.sleep(max(MEASURES_EVERY, (clock.elapsed() - began) * RESTS))


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


def _loaded(kindred: Callable[[], list[int]], root: Path, most: Most) -> Stop | None:
    found = kindred()
    return overloaded(len(found) - SCAFFOLD, kin.filled(found), memory(), disk(root), most)


def _filled(root: Path, before: Held, most: Most) -> Stop | None:
    return overfull(weighed(root, max(most.entries, before.entries) + 1), before, most)
