"""``python -m clankie_captain``: serve until told to stop; with ``--check``, say what it would refuse."""

import contextlib
import json
import signal
import socket
import sys
import traceback
from types import FrameType
from typing import Final

import structlog
import uvicorn
from fastapi import FastAPI

from clankie_captain import app as composition
from clankie_captain import log
from clankie_captain.agent.tools import TOOLS
from clankie_captain.core.placement import Placing, placed
from clankie_captain.errors import CaptainError, ConfigurationError, StoreShapeError
from clankie_captain.lanes.rulebook import refuse_unknown_tools
from clankie_settings.environment import (
    SettingsError,
    SettingsFile,
    captain_settings,
    process_environment,
    tool_servers,
)
from clankie_settings.schema import CaptainSettings
from clankie_settings.secrets import TokenFileError

EX_CONFIG: Final = 78
"""The exit code that says: starting again changes nothing, the configuration must (sysexits)."""

EX_UNAVAILABLE: Final = 69
"""The exit code of a captain that cannot use its store."""

STOP_WITHIN_S: Final = 5
"""How long open connections are waited for at a stop, in seconds; what they wait for is on disk. Source: DUR-5."""


START_FAILED: Final = (
    "run clankie doctor, and look at disk, state folder and clankie.toml; "
    "if the fault stays, report this line with the version"
)
"""What to do about a start that failed for a reason which is none of the captain's own."""

_LASTING: Final = (ConfigurationError, StoreShapeError)
"""Reasons that stay until somebody does something, so that nobody starts the captain again and again."""

_log = structlog.get_logger()


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


def main(placing: Placing = placed) -> int:
    """Run the captain; the exit code. The eval hands in another ``placing``."""
    log.configure()
    try:
        env = process_environment()
        settings = captain_settings(env)
        app = composition.build(
            settings, source=SettingsFile(env), servers=tool_servers(env, settings), placing=placing
        )
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
        return serve(app, listener)


def check() -> int:
    """Print as JSON what in the settings a captain would refuse to start with; nothing is made. Source: OPS-9."""
    problem = None
    try:
        env = process_environment()
        settings = captain_settings(env)
        refuse_unknown_tools(settings, tuple(TOOLS), tuple(tool_servers(env, settings)))
    except (SettingsError, CaptainError) as error:
        problem = str(error)
    print(json.dumps({"problem": problem}))
    return 0


def serve(app: FastAPI, listener: socket.socket) -> int:
    """Serve until told to stop; the exit code, after a start that failed has said why."""
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=STOP_WITHIN_S
    )
    server = _Server(config, app)
    # uvicorn leaves with a code of its own where the start failed; the reason below says which is ours.
    with contextlib.suppress(SystemExit):
        server.run(sockets=[listener])
    reason = composition.refusal(app)
    if reason is None:
        return 0 if server.started else EX_UNAVAILABLE
    if not isinstance(reason, CaptainError):
        return _failed(reason)
    return _refused(str(reason), EX_CONFIG if isinstance(reason, _LASTING) else EX_UNAVAILABLE)


def _failed(error: Exception) -> int:
    # Only the kind and the place: an error's words may hold an address, a path or what somebody wrote.
    frames = [(frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [f"{module}:{line}" for module, line in frames if module.startswith("clankie_")]
    kind, place = type(error).__name__, own[-1] if own else "unknown"
    _log.error("captain.start_failed", cause=kind, place=place, remedy=START_FAILED)
    return _refused(f"the start failed ({kind} at {place}); {START_FAILED}", EX_UNAVAILABLE)


def _refused(sentence: str, code: int) -> int:
    print(f"clankie captain: {sentence}", file=sys.stderr)
    return code


def _address(settings: CaptainSettings) -> tuple[str, int]:
    if settings.captain_bind is None:
        return settings.captain_address
    host, _, port = settings.captain_bind.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1:] == ["--check"] else main())
