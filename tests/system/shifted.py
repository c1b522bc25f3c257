"""A service whose wall clock somebody sets: ``python shifted.py captain|bridge FILE``.

The file holds by how many seconds the clock is wrong just now; time that passes is not touched by it.
"""

import asyncio
import sys
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from clankie_bridge import __main__ as bridge_entry
from clankie_bridge import app as bridge
from clankie_bridge.ports import Log
from clankie_captain import __main__ as captain_entry
from clankie_captain import app as captain
from clankie_settings.clock import SystemClock
from clankie_settings.schema import BridgeSettings


class ShiftedClock(SystemClock):
    """The machine's clock, wrong by what a file says."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def now(self) -> datetime:
        """The wall clock as it is set just now."""
        return super().now() + timedelta(seconds=float(self._file.read_text()))


def main(service: str, file: Path) -> int:
    """Be the service."""
    clock = ShiftedClock(file)
    if service == "captain":
        build = captain.build
        captain.build = partial(build, clock=clock)
        return captain_entry.main()
    run = bridge.run

    async def shifted(settings: BridgeSettings, log: Log, stop: asyncio.Event, **more: Any) -> None:
        await run(settings, log, stop, clock, **more)

    bridge.run = shifted
    return bridge_entry.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
