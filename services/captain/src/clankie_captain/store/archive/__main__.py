"""``python -m clankie_captain.store.archive``: write, check or restore a backup in a process of its own.

A process of its own, since it may read the database's file while a captain has it open: closing that file within the
captain would take SQLite's locks along.
"""

import argparse
import json
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clankie_captain.errors import CaptainError
from clankie_captain.store.archive.manifest import ArchiveError, Manifest, Place
from clankie_captain.store.archive.reading import unpack
from clankie_captain.store.archive.restoring import restore
from clankie_captain.store.archive.writing import Made, write
from clankie_captain.store.engine import StateLock
from clankie_settings.clock import SystemClock


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; 0, or 1 with the reason as a sentence on standard error."""
    given = _parser().parse_args(arguments)
    try:
        match given.command:
            case "write":
                _write(given)
            case "check":
                _say(_check(given.backup))
            case _:
                _say(_restore(given))
    except CaptainError as error:
        return _refused(str(error))
    except BrokenPipeError:
        return _refused("whoever was to take the backup has gone")
    except OSError as error:
        return _refused(f"{error.filename or 'the disk'}: {error.strerror or type(error).__name__}")
    return 0


def _write(given: argparse.Namespace) -> None:
    place, now = _place(given), SystemClock().now().isoformat(timespec="seconds")
    made = Made(now, version("clankie-captain"), running=given.still)
    if given.still:
        write(sys.stdout.buffer, place, made)
        return
    if not place.database.exists():
        raise ArchiveError(f"{place.database}: there is nothing to back up; is CLANKIE_STATE right?")
    lock = StateLock(place.state / "captain.lock")
    try:
        # Closing moves a log that a killed captain left into the database.
        with closing(sqlite3.connect(place.database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        write(sys.stdout.buffer, place, made)
    except sqlite3.Error as error:
        raise ArchiveError("the database cannot be read; clankie doctor says more") from error
    finally:
        lock.release()


def _check(backup: Path) -> dict[str, Any]:
    beside = Path(tempfile.mkdtemp(prefix=".checking-", dir=backup.parent))
    try:
        return _summary(unpack(backup, beside))
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _restore(given: argparse.Namespace) -> dict[str, Any]:
    now = SystemClock().now()
    done = restore(given.backup, _place(given), now, replace=given.replace, unfinished=given.unfinished)
    aside = None if done.aside is None else str(done.aside)
    return {**_summary(done.manifest), "unfinished": done.unfinished, "ended": done.ended, "aside": aside}


def _summary(manifest: Manifest) -> dict[str, Any]:
    return {
        "made_at": manifest.made_at,
        "version": manifest.version,
        "running": manifest.running,
        "files": len(manifest.files),
        "bytes": sum(each.size for each in manifest.files.values()),
    }


def _place(given: argparse.Namespace) -> Place:
    return Place(given.state, given.database, given.attachments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("clankie_captain.store.archive", description="A backup of Clankie.")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write a backup to standard output")
    writing.add_argument("--still", action="store_true", help="a captain runs and keeps the database's file still")
    checking = commands.add_parser("check", help="prove that a backup is whole")
    restoring = commands.add_parser("restore", help="take a backup back")
    restoring.add_argument("--replace", action="store_true")
    restoring.add_argument("--unfinished", choices=["answer", "drop"])
    for each in (checking, restoring):
        each.add_argument("backup", type=Path)
    for each in (writing, restoring):
        for name in ("--state", "--database", "--attachments"):
            each.add_argument(name, type=Path, required=True)
    return parser


def _say(document: dict[str, Any]) -> None:
    print(json.dumps(document))


def _refused(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
