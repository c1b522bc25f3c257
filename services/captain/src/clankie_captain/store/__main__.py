"""``python -m clankie_captain.store FILE``: say as JSON what a database file is, without changing it. Source: OPS-9."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from clankie_captain.store.inspection import LOOKED_THROUGH, inspect


def main(arguments: list[str]) -> int:
    """Print what the one named file is; 2 for anything else than one name."""
    if len(arguments) != 1:
        print("usage: python -m clankie_captain.store FILE", file=sys.stderr)
        return 2
    print(json.dumps(asdict(inspect(Path(arguments[0]), look_through=LOOKED_THROUGH))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
