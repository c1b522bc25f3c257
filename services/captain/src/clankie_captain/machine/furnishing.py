"""The machine's tools as the settings ask for them. Source: GRANT-4."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from clankie_captain.core import stall
from clankie_captain.errors import ConfigurationError
from clankie_captain.machine.sandbox import STRANGER, Lack, Place, Sandbox
from clankie_captain.machine.workbench import Workbench
from clankie_captain.machine.workspace import Workspace, prepared
from clankie_captain.ports import Gate
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids
from clankie_settings.schema import CaptainSettings

REMEDIES: Final[dict[Lack, str]] = {
    "program": "install bubblewrap (apt install bubblewrap)",
    "old": "install bubblewrap 0.8 or newer",
    "user": "install util-linux, or run the captain as another user than root",
    "forbidden": "let this machine make user namespaces; docs/machine.md says how, in containers too",
    "python": "install python3 in /usr, which opens the way to the web, or set CLANKIE_MACHINE_NETWORK=off",
    "place": "move the captain's own (state folder, pictures, .env, files that settings name) out of /usr",
}
"""What to do where there is no sandbox."""

_log = structlog.get_logger()


def fitted(settings: CaptainSettings, clock: Clock, ids: Ids, gate: Callable[[], Gate]) -> Workbench:
    """The machine's tools; commands have the web by ``gate``, where the owner granted it.

    Raises:
        ConfigurationError: The workspace is no place for one.
    """
    place = _place(settings)
    within = stall.share(bounds.COMMAND_TIME, settings.stall_after)
    patience = stall.share(bounds.WORKSPACE_TIME, settings.stall_after)
    sandbox = Sandbox(place, gate=gate if settings.machine_network == "on" else None)
    return Workbench(sandbox, Workspace(place.folder, ids, place.runs_as), within, patience, clock, ids)


async def tried(workbench: Workbench, settings: CaptainSettings) -> None:
    """Say in the log, once, where somebody is trusted with the machine and nothing can be done on it."""
    if settings.system_actors and (lack := await workbench.lack()) is not None:
        _log.warning("machine.unavailable", remedy=REMEDIES[lack])


def _place(settings: CaptainSettings) -> Place:
    chosen = settings.workspace or settings.state / "workspace"
    folder = prepared(chosen, settings.state, settings.discord_attachment_root, settings.own_places)
    return Place(folder, settings.own_places, _runs_as(folder, settings.state))


def _runs_as(folder: Path, home: Path) -> tuple[int, int] | None:
    """Who root's commands run as: the workspace's owner; nobody at all where that is root and it is ours to give."""
    if os.geteuid() != 0:
        return None
    state = folder.stat()
    if state.st_uid:
        return state.st_uid, state.st_gid or state.st_uid
    if not folder.is_relative_to(home.resolve()) and any(folder.iterdir()):
        # Perhaps somebody's own folder, or /etc.
        raise ConfigurationError(
            f"CLANKIE_WORKSPACE: belongs to root and is not empty; chown it, to {STRANGER} for example"
        )
    try:
        os.chown(folder, STRANGER, STRANGER)
    except OSError as error:
        raise ConfigurationError(f"CLANKIE_WORKSPACE: cannot be given away ({error.strerror})") from error
    return STRANGER, STRANGER
