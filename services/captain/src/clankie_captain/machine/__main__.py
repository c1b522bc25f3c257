"""``python -m clankie_captain.machine NETWORK PLACE…``: say as JSON whether a command can be run, or what to do.

``NETWORK`` is ``on`` or ``off``; no command may see the places. It makes a folder for the try, and takes it away again;
what is configured is not touched. Source: OPS-9.
"""

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from clankie_captain.machine.furnishing import REMEDIES
from clankie_captain.machine.sandbox import STRANGER, Place, Sandbox


class _Shut:
    """A way to the web that nobody is let through."""

    @asynccontextmanager
    async def serving(self, door: socket.socket) -> AsyncGenerator[int]:
        """Answer nobody."""
        with door:
            yield int(door.getsockname()[1])


def main(network: str = "off", *hidden: str) -> int:
    """Try a sandbox that may not show these folders."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, STRANGER, STRANGER)
        place = Place(Path(folder), tuple(Path(each) for each in hidden), (STRANGER, STRANGER) if root else None)
        lack = asyncio.run(Sandbox(place, gate=_Shut if network == "on" else None).lack())
    print(json.dumps({"remedy": None if lack is None else REMEDIES[lack]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
