"""``python -m clankie_captain.machine``: say as JSON whether a command can be run, or what to do. Source: OPS-9.

It makes a folder for the try, and takes it away again; what is configured is not touched.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from clankie_captain.machine.furnishing import REMEDIES
from clankie_captain.machine.sandbox import STRANGER, Place, Sandbox


def main(*hidden: str) -> int:
    """Try a sandbox that may not show these folders."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, STRANGER, STRANGER)
        place = Place(Path(folder), tuple(Path(each) for each in hidden), (STRANGER, STRANGER) if root else None)
        lack = asyncio.run(Sandbox(place).lack())
    print(json.dumps({"remedy": None if lack is None else REMEDIES[lack]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
