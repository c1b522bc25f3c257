"""``clankie backup`` and ``clankie restore``. Source: OPS-10."""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from clankie_cli import archive, exits
from clankie_cli.door import Door
from clankie_cli.errors import CannotRun, NotReachable
from clankie_cli.plain import counted
from clankie_settings.clock import Clock, SystemClock
from clankie_settings.environment import launch_settings

SAID_EVERY: Final = 64 * 1024 * 1024
"""Bytes after which somebody who watches is told how far it is."""

TRIAL: Final = "that is the folder of trials, since no Discord token is set; with DISCORD_BOT_TOKEN it is the other one"
"""Said where a backup came back into the trial's folder."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Manner:
    """How to restore: in place of what is there, and what becomes of open turns (None: as the backup suggests)."""

    replace: bool = False
    unfinished: str | None = None
    as_json: bool = False


async def run(env: Mapping[str, str], given: str | None, *, as_json: bool, clock: Clock | None = None) -> int:
    """Make a backup, prove it, and only then give it its name.

    Raises:
        SettingsError: A setting is unusable.
        CannotRun: The file cannot be made.
        NotReachable: The captain went away in the middle.
        RefusedError: It cannot be backed up, and why.
    """
    path = _named(given, f"clankie-{(clock or SystemClock()).now():%Y%m%dT%H%M%SZ}.tar")
    draft = path.with_name(f".{path.name}.part")
    try:
        with _opened(draft) as file:
            state = await _fetched(env, file)
            file.flush()
            os.fsync(file.fileno())
        found = await archive.check(draft)
        draft.rename(path)
        _sync(path.parent)
    except OSError as error:
        raise CannotRun(f"{path}: {(error.strerror or type(error).__name__).lower()}") from error
    finally:
        # A folder that takes no file, as one that is read-only, has none to be taken away either.
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    size = path.stat().st_size
    whose = "the captain that runs" if state is None else str(state)
    said = f"{path}: {counted(found['files'], 'file')}, {_megabytes(size)}, of {whose}; checked"
    told = {"path": str(path), "size": size, "state": None if state is None else str(state), **found}
    print(json.dumps(told) if as_json else said)
    return exits.DONE


async def restore(env: Mapping[str, str], given: str, manner: Manner) -> int:
    """Take a backup back into the state folder of whatever ``clankie up`` runs: the trial's without a Discord token.

    Raises:
        SettingsError: A setting is unusable.
        RefusedError: It is refused, and why.
    """
    options = ("--replace",) if manner.replace else ()
    if manner.unfinished is not None:
        options = (*options, "--unfinished", manner.unfinished)
    place = archive.chosen(env)
    done = await archive.restore(_absolute(given), place, *options)
    if manner.as_json:
        print(json.dumps({"state": str(place.state), **done}))
        return exits.DONE
    print(_told(place.state, done))
    if place != archive.configured(env):
        print(TRIAL)
    return exits.DONE


def _told(state: Path, done: Json) -> str:
    lines = [f"{state}: restored as of {done['made_at']}, {counted(done['files'], 'file')}"]
    if done["unfinished"] == "drop":
        lines.append(
            f"{counted(done['ended'], 'turn')} open then ended without a word, and rooms count as read until now"
        )
    else:
        lines.append("turns that were open then go on at the next start")
    if done["aside"]:
        lines.append(f"what was there before: {done['aside']}")
    lines.append("start captain and bridge anew, both: clankie up")
    return "\n".join(lines)


def _absolute(given: str) -> Path:
    return Path(given).expanduser().absolute()


def _named(given: str | None, name: str) -> Path:
    path = Path(given).expanduser() if given else Path(name)
    path = (path / name if path.is_dir() else path).absolute()
    if path.exists():
        raise CannotRun(f"{path} is there already; name another file")
    if not path.parent.is_dir():
        raise CannotRun(f"{path.parent}: there is no such folder; make it, or name another file")
    return path


def _opened(draft: Path) -> IO[bytes]:
    draft.unlink(missing_ok=True)
    return os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


async def _fetched(env: Mapping[str, str], file: IO[bytes]) -> Path | None:
    """Fetch a backup; the state folder it was read from, or None where the captain that runs gave it."""
    written = 0

    def take(chunk: bytes) -> None:
        nonlocal written
        file.write(chunk)
        if (written + len(chunk)) // SAID_EVERY > written // SAID_EVERY and sys.stderr.isatty():
            print(f"{_megabytes(written)} so far", file=sys.stderr)
        written += len(chunk)

    async with AsyncExitStack() as stack:
        try:
            door = await stack.enter_async_context(Door.opened(launch_settings(env)))
        except NotReachable:
            # Not so where the captain goes away later: then what came so far is no backup.
            place = archive.chosen(env)
            await archive.write(place, file)
            return place.state
        await door.download("/v1/backup", take)
    return None


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
