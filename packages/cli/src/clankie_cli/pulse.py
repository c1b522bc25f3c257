"""``python -m clankie_cli.pulse PLACE...``: whether one of these places is alive, for a container's health check.

A place is an address that must answer with 200, or a file that a service touches while it is alive. Where the bridge
runs and may ask Discord nothing, that is said, for whoever reads the check's output. It imports little, since it starts
every few seconds.
"""

import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from clankie_settings.clock import Clock, SystemClock
from clankie_settings.heartbeat import Heartbeat

ANSWER_WITHIN_S: Final = 4
"""How long an address may take to answer, in seconds."""

FRESH_FOR: Final = timedelta(seconds=35)
"""How old a touched file may be: the bridge touches its own every 10 s, and may miss twice."""


def alive(place: str, clock: Clock) -> bool:
    """Whether a place shows life now."""
    if not place.startswith("http://"):
        return _is_fresh(Path(place), clock)
    # A proxy of the environment has no part in this.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(place, timeout=ANSWER_WITHIN_S) as answer:
            return answer.status == 200
    except (OSError, urllib.error.URLError):
        return False


def _is_fresh(path: Path, clock: Clock) -> bool:
    try:
        touched = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return False
    return clock.now() - touched <= FRESH_FOR


def held_back(place: str, clock: Clock) -> str | None:
    """Why a bridge is not well that runs, where the place is its file; None where that is not so."""
    return None if place.startswith("http://") else Heartbeat(Path(place).parent).held_back(clock.now())


def main(places: Sequence[str], clock: Clock | None = None) -> int:
    """Look; 0 when one of them is alive, else 1."""
    now = clock or SystemClock()
    held = {place: why for place in places if (why := held_back(place, now)) is not None}
    for why in held.values():
        print(f"the bridge is {why}")
    places = [place for place in places if place not in held]
    return 0 if any(alive(place, now) for place in places) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
