"""``python leashed.py PROGRAM…``: becomes that program, which is killed when whoever started it dies."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""Number of the call by which a Linux process asks for a signal at its parent's death. Source: prctl(2)."""


def main() -> None:
    """Ask for the leash, which outlives the change of programs, then change."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    main()
