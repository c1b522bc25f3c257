"""``python -m clankie_captain``: serve until told to stop."""

import contextlib
import signal
import socket
import sys
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI

from clankie_captain import app as composition
from clankie_captain import log
from clankie_captain.errors import CaptainError, ConfigurationError
from clankie_settings.environment import SettingsError, SettingsFile, captain_settings, process_environment
from clankie_settings.schema import CaptainSettings
from clankie_settings.secrets import TokenFileError

EX_CONFIG: Final = 78
"""The exit code that says: starting again changes nothing, the configuration must (sysexits)."""

EX_UNAVAILABLE: Final = 69
"""The exit code of a captain that cannot use its store."""

STOP_WITHIN_S: Final = 5
"""How long open connections are waited for at a stop, in seconds; what they wait for is on disk. Source: DUR-5."""


class _Server(uvicorn.Server):
    """Stops as DUR-5 says: nothing new at once, then a stated time for what runs, then the connections.

    A second signal ends the process at once, as a kill would; what was accepted is on disk.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop, or end at once. The signal is not raised again afterwards: a stop is no failure."""
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        self.should_exit = True
        composition.close_door(self._app)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let runs end while the door is still there for their results and receipts, then close it."""
        await composition.drained(self._app)
        await super().shutdown(sockets)


def main() -> int:
    """Run the captain; the exit code."""
    log.configure()
    try:
        env = process_environment()
        settings = captain_settings(env)
        app = composition.build(settings, source=SettingsFile(env))
    except (SettingsError, TokenFileError, CaptainError) as error:
        return _refused(str(error), EX_CONFIG)
    host, port = _address(settings)
    try:
        listener = socket.create_server((host, port), reuse_port=False)
    except OSError as error:
        return _refused(
            f"{host}:{port} cannot be listened on ({error.strerror}); set CLANKIE_CAPTAIN_URL to a free port", EX_CONFIG
        )
    with listener:
        return _serve(app, listener)


def _serve(app: FastAPI, listener: socket.socket) -> int:
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=STOP_WITHIN_S
    )
    server = _Server(config, app)
    # uvicorn leaves with a code of its own where the start failed; the reason below says which is ours.
    with contextlib.suppress(SystemExit):
        server.run(sockets=[listener])
    reason = composition.refusal(app)
    if reason is not None:
        return _refused(str(reason), EX_CONFIG if isinstance(reason, ConfigurationError) else EX_UNAVAILABLE)
    return 0 if server.started else EX_UNAVAILABLE


def _refused(sentence: str, code: int) -> int:
    print(f"clankie captain: {sentence}", file=sys.stderr)
    return code


def _address(settings: CaptainSettings) -> tuple[str, int]:
    if settings.captain_bind is None:
        return settings.captain_address
    host, _, port = settings.captain_bind.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    sys.exit(main())
