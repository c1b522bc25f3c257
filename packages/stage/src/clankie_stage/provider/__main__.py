"""``python -m clankie_stage.provider``: the provider alone, until it is stopped."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Sequence

from clankie_stage.provider.brain import Habits
from clankie_stage.provider.server import HOST, Provider

_log = logging.getLogger("clankie_stage.provider")


async def serve(port: int, habits: Habits) -> None:
    """Serve until SIGINT or SIGTERM, saying the address on standard output once it listens."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with Provider.running(habits, port) as provider:
        _log.info("provider listening on %s", provider.url)
        await stopped.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m clankie_stage.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help=f"port on {HOST}; 0 takes a free one")
    parser.add_argument("--default", choices=("rehearsal", "unscripted"), default="rehearsal")
    parser.add_argument("--pace", type=float, default=1.0, help="factor on every pause; 0 leaves none")
    chosen = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    asyncio.run(serve(chosen.port, Habits(default=chosen.default, pace=chosen.pace)))


if __name__ == "__main__":
    main()
