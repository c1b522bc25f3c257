"""Backups as files: a process of the captain's makes, checks and takes them back. Source: OPS-10."""

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from clankie_cli.errors import CannotRun, RefusedError
from clankie_cli.plan import trial_folder
from clankie_settings.environment import captain_settings, launch_settings

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a captain keeps everything: its state folder, its database, its attachment root."""

    state: Path
    database: Path
    attachments: Path

    @property
    def arguments(self) -> tuple[str, ...]:
        """The place as a process is told it."""
        return (
            "--state", str(self.state), "--database", str(self.database), "--attachments", str(self.attachments),
        )  # fmt: skip


def configured(env: Mapping[str, str]) -> Place:
    """Where the captain that is configured keeps everything.

    Raises:
        SettingsError: A setting is unusable.
        CannotRun: It keeps its lanes in PostgreSQL.
    """
    settings = captain_settings(env)
    url = settings.database_url
    if url is None:
        return Place(settings.state, settings.state / "captain.db", settings.discord_attachment_root)
    found = re.fullmatch(r"sqlite\+aiosqlite:///([^?]+)(\?.*)?", url)
    if found is None:
        raise CannotRun("CLANKIE_DATABASE_URL names PostgreSQL: back it up and restore it with pg_dump and pg_restore")
    return Place(settings.state, Path(found.group(1)).absolute(), settings.discord_attachment_root)


def chosen(env: Mapping[str, str]) -> Place:
    """The place that a backup is made of, and that one is taken back into: where ``clankie up`` keeps everything.

    Without a Discord token that is the trial's, unless only the configured place has a database.

    Raises:
        SettingsError: A setting is unusable.
        CannotRun: It keeps its lanes in PostgreSQL.
    """
    place = configured(env)
    if launch_settings(env).discord_bot_token is not None:
        return place
    folder = trial_folder(place.state)
    trial = Place(folder, folder / "captain.db", folder / "attachments")
    return place if place.database.exists() and not trial.database.exists() else trial


async def write(place: Place, out: IO[bytes]) -> None:
    """Write a backup of a captain that does not run.

    Raises:
        RefusedError: It runs, or there is nothing, or it cannot be read.
    """
    await _called("write", *place.arguments, out=out)


async def check(backup: Path) -> Json:
    """Prove that a backup is whole; what it says about itself.

    Raises:
        RefusedError: It is not.
    """
    return _document(await _called("check", str(backup)))


async def restore(backup: Path, place: Place, *options: str) -> Json:
    """Take a backup back; what became of it.

    Raises:
        RefusedError: It is refused, and why.
    """
    return _document(await _called("restore", *options, *place.arguments, str(backup)))


async def _called(*arguments: str, out: IO[bytes] | int = asyncio.subprocess.PIPE) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "clankie_captain.store.archive", *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        said, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        raise RefusedError(500, "backup_refused", lines[-1] if lines else "the backup's process was killed")
    return said or b""


def _document(said: bytes) -> Json:
    return cast("Json", json.loads(said))
