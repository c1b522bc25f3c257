"""The real bridge, which kills itself at a crash point: ``python crashing_bridge.py POINT NTH``.

As ``kill -9`` does, with nothing said and nothing put in order, when it comes to the point for the ``NTH`` time.
"""

import os
import signal
import sys

from clankie_bridge.__main__ import main


class Fatal:
    """A crash that ends the process."""

    def __init__(self, point: str, nth: int) -> None:
        self._point = point
        self._left = nth

    def reach(self, point: str) -> None:
        """Die, where this is the time."""
        if point == self._point:
            self._left -= 1
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(Fatal(sys.argv[1], int(sys.argv[2]))))
