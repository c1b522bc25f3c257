"""``python -m clankie_captain.mcp.warden LIFELINE COMMAND…``: a server's program, and the end of all that it started.

It hands its own standard streams to the program and waits. When the program ends, or the captain at the other end of
the lifeline does, however hard it was killed, nothing of the program's is left.
"""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from typing import Final

from clankie_captain.kin import adopt, bury

GRACE: Final = timedelta(seconds=1)
"""How long the program may take to end by itself, once nobody speaks with it any more."""

NOT_STARTED: Final = 127
"""The exit code of a program that could not be started, as shells have it."""


def main(arguments: list[str]) -> int:
    """Run the program until it or the captain ends; its exit code."""
    lifeline, command = int(arguments[0]), arguments[1:]
    os.set_inheritable(lifeline, False)
    adopt()
    try:
        process = subprocess.Popen(command, start_new_session=True)  # noqa: S603 -- the owner names it
    except (OSError, ValueError):
        return NOT_STARTED
    # Held here as well, they would never come to an end for those who read them.
    for own in (0, 1, 2):
        os.close(own)
    if not _ended(process, lifeline, None):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        _ended(process, None, GRACE)
    code = process.poll()
    bury()
    return NOT_STARTED if code is None else abs(code)


def _ended(process: subprocess.Popen[bytes], lifeline: int | None, within: timedelta | None) -> bool:
    """Whether the program ended before the lifeline did, or before the time was over."""
    watched = [] if lifeline is None else [lifeline]
    if not hasattr(os, "pidfd_open"):
        return _polled(process, watched, within)
    ending = os.pidfd_open(process.pid)
    try:
        left = None if within is None else within.total_seconds()
        return ending in select.select([*watched, ending], [], [], left)[0]
    finally:
        os.close(ending)


def _polled(process: subprocess.Popen[bytes], watched: list[int], within: timedelta | None) -> bool:
    """The same on a platform that has no handle of a process to wait for."""
    left = within.total_seconds() if within is not None else float("inf")
    while process.poll() is None:
        if left <= 0 or select.select(watched, [], [], 0.1)[0]:
            return False
        left -= 0.1
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
