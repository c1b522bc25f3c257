"""``python -m tests.soak``: everything breaks for a while, and nothing may be lost or said twice."""

import argparse
import asyncio
import secrets
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from clankie_settings.clock import SystemClock
from tests.soak.premises import WINDOW
from tests.soak.soak import CAUGHT_UP, Plan, soak
from tests.soak.table import table
from tests.soak.together import SoakError


def say(line: str) -> None:
    """Tell how far it is."""
    print(f"soak: {line}", file=sys.stderr, flush=True)


def main() -> int:
    """Soak; 0 where no invariant was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seed", default=None, help="the dice; a fresh one unless given, and always printed")
    parser.add_argument("--deliveries", type=int, default=1_000, help="accepted deliveries, at least (1000)")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long people talk at most (30)")
    parser.add_argument("--patience", type=float, default=3.0, help="minutes in which everything settles then (3)")
    parser.add_argument(
        "--catch-up",
        action=argparse.BooleanOptionalAction,
        default=CAUGHT_UP,
        help="ask for what no bridge heard as well",
    )
    parser.add_argument("--keep", type=Path, default=None, help="a new folder to leave everything in")
    parser.add_argument("--window", type=int, default=WINDOW, help=f"the model's window in tokens ({WINDOW})")
    given = parser.parse_args()
    plan = Plan(
        seed=given.seed or secrets.token_hex(4),
        deliveries=given.deliveries,
        most=timedelta(minutes=given.minutes),
        patience=timedelta(minutes=given.patience),
        caught_up=given.catch_up,
        window=given.window,
    )
    say(f"seed {plan.seed}")
    clock = SystemClock()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) if given.keep is None else given.keep
        folder.mkdir(parents=True, exist_ok=True)
        began = clock.elapsed()
        try:
            report = asyncio.run(soak(plan, folder, say))
        except SoakError as error:
            say(str(error))
            return 2
    print(table(report))
    minutes = (clock.elapsed() - began) / timedelta(minutes=1)
    print(f"\nseed {plan.seed}, {minutes:.1f} minutes: {report.violations} violations")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
