"""Ports for programs that tests start."""

import os
import random
import socket
from contextlib import ExitStack

FIRST, EACH, WORKERS = 10_000, 1_800, 12
"""Where the stretches of workers begin, all of them below the ports that Linux hands out by itself."""


def free_ports(count: int) -> list[int]:
    """Different ports that nobody listens on.

    Nobody takes one before its program does: the machine gives none of them to anybody who asks for just any, and each
    worker of a run has its own stretch of them.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    stretch = range(FIRST + worker * EACH, FIRST + (worker + 1) * EACH)
    with ExitStack() as doors:
        found: list[int] = []
        for port in random.SystemRandom().sample(stretch, EACH):
            try:
                doors.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    raise AssertionError("all ports of this worker are taken")


def free_port() -> int:
    """A port that nobody listens on."""
    return free_ports(1)[0]
