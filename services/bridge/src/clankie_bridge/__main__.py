"""``python -m clankie_bridge``."""

import asyncio
import os
import signal
import sys

from clankie_bridge import app
from clankie_bridge.errors import CannotStart, StartAgain
from clankie_bridge.log import configured, place_of
from clankie_bridge.ports import Log
from clankie_settings.crashing import Crash, NoCrash
from clankie_settings.environment import SettingsError, bridge_settings, process_environment
from clankie_settings.schema import BridgeSettings
from clankie_settings.secrets import TokenFileError


def main(crash: Crash | None = None) -> int:
    """Run the bridge; the exit code is 0 after a stop, 78 where somebody has to act, 75 or 1 to start it again."""
    log = configured()
    try:
        settings = bridge_settings(process_environment())
        asyncio.run(_until_stopped(settings, log, crash or NoCrash()))
    except (SettingsError, CannotStart, TokenFileError) as error:
        sys.stderr.write(f"clankie bridge: {error}\n")
        return os.EX_CONFIG
    except StartAgain as error:
        sys.stderr.write(f"clankie bridge: {error}\n")
        return os.EX_TEMPFAIL
    except Exception as error:  # noqa: BLE001 -- the last word: kind and place, never content
        log.error("crashed", kind=type(error).__name__, where=place_of(error))  # noqa: TRY400 -- a traceback's words may hold content
        return 1
    return 0


async def _until_stopped(settings: BridgeSettings, log: Log, crash: Crash) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def asked_to_stop(number: signal.Signals) -> None:
        if stop.is_set():
            # The second one ends the process as a kill would: what is owed is on the captain's disk.
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stop.set()

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, asked_to_stop, each)
    await app.run(settings, log, stop, crash=crash)


if __name__ == "__main__":
    sys.exit(main())
