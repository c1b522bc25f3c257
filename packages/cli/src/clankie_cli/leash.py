"""What keeps a program from outliving whoever started it."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Final

PR_SET_PDEATHSIG: Final = 1
"""Number of the call by which a Linux process asks for a signal at its parent's death. Source: prctl(2)."""


def leash() -> Callable[[], None] | None:
    """What a fresh process does before it becomes its program: ask to be stopped when this one dies.

    None where the platform cannot; there a killed ``clankie up`` leaves its programs running.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def put_on() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before it could be watched
            os.kill(os.getpid(), signal.SIGTERM)

    return put_on
