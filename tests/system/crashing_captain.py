"""The real captain, killed at the crash point that a file names: ``python crashing_captain.py FILE``.

The file holds a point and a number: the captain dies, as by ``kill -9``, when it comes to the point for the so-manieth
time since the file was written. It takes the file away first, so that the next captain lives.

It has a door of its own besides, ``POST /test/report``, for deliveries that no presence waits for.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request

from clankie_captain import __main__ as entry
from clankie_captain import app as composition
from clankie_settings.schema import CaptainSettings
from clankie_settings.wire.trigger import Trigger

FILE = Path(sys.argv[1])


class Armed:
    """Kills this process at the point that the file names."""

    def __init__(self) -> None:
        self._written = 0
        self._reached = 0

    def reach(self, point: str) -> None:
        try:
            named, nth = FILE.read_text("ascii").split()
            written = FILE.stat().st_mtime_ns
        except FileNotFoundError:
            return
        if named != point:
            return
        self._reached = 1 if written != self._written else self._reached + 1
        self._written = written
        if self._reached == int(nth):
            FILE.unlink()
            os.kill(os.getpid(), signal.SIGKILL)


async def report(request: Request) -> dict[str, str]:
    """Take a delivery that no presence waits for."""
    trigger = Trigger.model_validate_json(await request.body())
    return {"state": (await request.app.state.captain.desk.report(trigger)).state}


def main() -> int:
    """Be the captain."""
    build = composition.build

    def mortal(settings: CaptainSettings, **more: Any) -> FastAPI:
        app = build(settings, crash=Armed(), **more)
        app.add_api_route("/test/report", report, methods=["POST"])
        return app

    composition.build = mortal
    return entry.main()


if __name__ == "__main__":
    sys.exit(main())
