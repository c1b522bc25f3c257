"""``python -m bench``: measure, print a table, and exit with 0 whatever the figures are."""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import films, pictures, refusals, restart, settles, turns
from bench.blocks import Blocks
from bench.figures import Row, table
from bench.house import House
from bench.programs import BenchError, program
from bench.subjects import Bare, Captain
from bench.turns import Plan
from clankie_captain import log
from clankie_stage.provider.client import ProviderClient


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: turns, settles a lane, passes over the payloads, events of a flood, rooms of a restart,
    seconds of a film."""

    turns: Plan
    settles: int
    passes: int
    events: int
    rooms: int
    film: int


SCALES: Final = {
    "full": Scale(
        Plan(rounds=5, single=30, each_of_32=2, kept=6), settles=50, passes=2_000, events=5_000, rooms=40, film=10
    ),
    "quick": Scale(
        Plan(rounds=2, single=15, each_of_32=1, kept=2), settles=50, passes=500, events=1_000, rooms=40, film=10
    ),
    "tiny": Scale(Plan(rounds=1, single=2, each_of_32=1, kept=1), settles=2, passes=5, events=500, rooms=3, film=1),
}


async def measure(scale: Scale) -> list[Row]:
    """Every row of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        say("starting a provider, the bare loop and a captain")
        serving = ("-m", "clankie_stage.provider", "--default", "unscripted", "--pace", "0")
        async with program(folder, "provider", *serving) as provider:
            address = await provider.address()
            async with (
                ProviderClient.connected(address) as client,
                pictures.cdn() as cdn,
                Captain.running(folder, address, CLANKIE_CDN_LOOPBACK=cdn) as captain,
            ):
                async with Bare.running(folder, address) as bare:
                    rows = await turns.measure(Blocks(client), bare, captain, scale.turns, say)
                shown = await pictures.first_request(captain, client, scale.turns.rounds, say)
        rows.append(await settles.measure(scale.settles, say))
        rows.append(await refusals.as_functions(scale.passes, say))
        async with House.open() as house:
            back = await restart.measure(house, scale.rooms, say)
            rows += [await refusals.as_a_bridge(house, scale.events, say), back]
        rows.append(await films.frames(scale.turns.rounds, scale.film, say))
        rows.append(shown)
    return rows


def say(line: str) -> None:
    """Tell how far it is."""
    print(f"bench: {line}", file=sys.stderr, flush=True)


def main() -> int:
    """Measure; 0 unless something could not be measured at all."""
    # The captain's store speaks in this process as well, and the table alone goes to standard output.
    log.configure()
    parser = argparse.ArgumentParser(prog="python -m bench", description="What Clankie costs, as ratios in one run.")
    parser.add_argument("--quick", dest="scale", action="store_const", const="quick", default="full", help="in 40 s")
    parser.add_argument("--tiny", dest="scale", action="store_const", const="tiny", help="only see that it works")
    try:
        rows = asyncio.run(measure(SCALES[parser.parse_args().scale]))
    except BenchError as error:
        say(str(error))
        return 1
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
