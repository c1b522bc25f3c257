"""``python -m clankie_stage``: run the stage until it is told to stop."""

import argparse
import asyncio
import signal
import sys

from clankie_stage.app import DEFAULT_HOST, DEFAULT_PORT, Stage


def main(arguments: list[str] | None = None) -> int:
    """Run the stage; 0 after a stop, 2 when it cannot start."""
    parser = argparse.ArgumentParser(
        "clankie_stage", description="A loopback Discord and a loopback model provider to try Clankie on."
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help="a loopback address (default: %(default)s)")
    parser.add_argument("--port", default=DEFAULT_PORT, type=int, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--model", default=None, help="the model that answers, shown on the page")
    parser.add_argument(
        "--in-container", action="store_true", help="listen on every address of this container; elsewhere refused"
    )
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_run(options))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(
            f"the stage cannot listen on port {options.port}: {error.strerror}; choose another with --port\n"
        )
        return 2
    return 0


async def _run(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    async with Stage.running(
        options.host, options.port, model=options.model, in_container=options.in_container
    ) as stage:
        sys.stdout.write(f"stage listening on {stage.base_url}\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    sys.exit(main())
