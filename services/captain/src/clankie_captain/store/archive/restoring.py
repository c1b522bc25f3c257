"""Take a backup back: unpacked and proven beside, then moved into place in a few renames. Source: OPS-10."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from clankie_captain.errors import StoreError
from clankie_captain.store.archive.manifest import ATTACHMENTS, DATABASE, LOGS, ArchiveError, Manifest, Place
from clankie_captain.store.archive.reading import unpack
from clankie_captain.store.archive.unfinished import bring_up_to_date, let_go
from clankie_captain.store.engine import StateLock

Unfinished = Literal["answer", "drop"]
"""What becomes of what was open when the backup was made: it goes on, or it ends without a word."""

STAGING: Final = ".restoring"
"""Where a backup is unpacked, in the state folder."""

MARK: Final = "restore.unfinished"
"""Lies in the state folder while files are moved; a captain does not start on it."""

_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Restored:
    """What was taken back: the backup's own words, what became of open turns, and where the old state went."""

    manifest: Manifest
    unfinished: Unfinished
    ended: int
    aside: Path | None


def refuse_half_restored(state: Path) -> None:
    """Let a captain start on a state folder, unless a restore was interrupted in it.

    Raises:
        StoreError: It was.
    """
    if (state / MARK).exists():
        raise StoreError("a restore was interrupted here; run again: clankie restore --replace BACKUP")


def restore(backup: Path, place: Place, at: datetime, *, replace: bool, unfinished: Unfinished | None) -> Restored:
    """Put a backup into a place where no captain runs.

    Raises:
        ArchiveError: The backup cannot be taken back, or the place holds something and may not be replaced.
        StoreLockedError: A captain runs there.
        OSError: The disk does not take it.
    """
    lock = StateLock(place.state / "captain.lock")
    try:
        there = [*_there(place)]
        if there and not replace and not (place.state / MARK).exists():
            raise ArchiveError(
                f"{there[0]} is there already; restore elsewhere, or say --replace, which keeps it aside"
            )
        staged = place.state / STAGING
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(mode=0o700)
        try:
            manifest = unpack(backup, staged)
            chosen: Unfinished = unfinished or ("drop" if manifest.running else "answer")
            bring_up_to_date(staged / DATABASE)
            ended = let_go(staged / DATABASE, at) if chosen == "drop" else 0
            aside = _put(staged, place, there, f"replaced-{at:%Y%m%dT%H%M%SZ}")
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        return Restored(manifest, chosen, ended, aside)
    finally:
        lock.release()


def _there(place: Place) -> Iterator[Path]:
    for side in _SIDE_FILES:
        if (path := place.database.with_name(place.database.name + side)).exists():
            yield path
    for path in (place.state / name for name in LOGS):
        if path.exists():
            yield path
    if place.attachments.is_dir():
        yield from sorted(place.attachments.iterdir())


def _put(staged: Path, place: Place, there: list[Path], name: str) -> Path | None:
    mark = place.state / MARK
    _write(mark)
    aside = place.state / name if there else None
    for path in there:
        assert aside is not None
        within = aside / ATTACHMENTS if place.attachments == path.parent else aside
        within.mkdir(parents=True, exist_ok=True, mode=0o700)
        _move(path, within / path.name)
    place.attachments.mkdir(parents=True, exist_ok=True, mode=0o700)
    if (staged / ATTACHMENTS).is_dir():
        for path in sorted((staged / ATTACHMENTS).iterdir()):
            _move(path, place.attachments / path.name)
    for name in LOGS:
        if (staged / name).exists():
            _move(staged / name, place.state / name)
    place.database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _move(staged / DATABASE, place.database)
    for folder in {place.attachments, place.database.parent, place.state}:
        _sync(folder)
    mark.unlink()
    _sync(place.state)
    return aside


def _move(path: Path, to: Path) -> None:
    # Between file systems this is a copy, and not one step any more; the mark covers both.
    shutil.move(path, to)


def _write(mark: Path) -> None:
    with mark.open("wb") as file:
        os.fsync(file.fileno())
    _sync(mark.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
