"""The captain without one of a room loop's checks: ``python loose_captain.py turns|grants``.

turns    whoever writes joins the live run, as in any other room
grants   what waited runs as it was admitted, whatever the owner has withdrawn since
"""

import sys
from typing import Any

from clankie_captain import __main__ as entry
from clankie_captain.core.lane import LaneKey
from clankie_captain.lanes.grants import Grants
from clankie_captain.store import arrivals, runs


def anyone(lane: LaneKey) -> str:
    """Everybody steers."""
    del lane
    return "anyone"


async def never(*run: Any) -> None:
    """Nothing was withdrawn."""
    del run


def main(missing: str) -> int:
    """Be the captain."""
    if missing == "turns":
        for module in (arrivals, runs):
            setattr(module, "steer_by", anyone)  # noqa: B010
    else:
        setattr(Grants, "withdrawn", never)  # noqa: B010
    return entry.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
