"""Look at a database without changing it: does it open, and is its schema known here. Source: OPS-9, DUR-3."""

import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from alembic.config import Config
from alembic.script import ScriptDirectory

from clankie_captain.errors import StoreForeignError, StoreVersionError
from clankie_captain.store.schema import SCRIPTS

LOOKED_THROUGH: Final = timedelta(seconds=20)
"""How long the pages are looked through by somebody who asks for it; a huge database takes longer."""

_MENDED: Final = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""The versions from which on SQLite's reset of the log is right: two older lines, and everything from the last one."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a database file is.

    Attributes:
        exists: Whether there is a file.
        newest: The schema that this captain brings it to.
        fault: Why it cannot be read, in SQLite's words, or None.
        revision: The schema it has, or None for one without.
        known: Whether this captain knows the schema it has.
        foreign: Whether it holds tables of something else.
        lanes: How many lanes it holds.
        sqlite: The version of SQLite that reads it here.
        sqlite_old: Whether that version's log can damage a database that several connections write.
    """

    exists: bool
    newest: str
    fault: str | None = None
    revision: str | None = None
    known: bool = True
    foreign: bool = False
    lanes: int = 0
    sqlite: str = sqlite3.sqlite_version
    sqlite_old: bool = False


def inspect(path: Path, scripts: str = SCRIPTS, look_through: timedelta | None = None) -> Inspection:
    """What the file at ``path`` is; reads only, so that a running captain is not disturbed.

    With ``look_through`` its pages are checked for damage, for no longer than that.
    """
    config = Config()
    config.set_main_option("script_location", scripts)
    directory = ScriptDirectory.from_config(config)
    newest, old = directory.get_current_head() or "", is_old(sqlite3.sqlite_version_info)
    if not path.exists():
        return Inspection(exists=False, newest=newest, sqlite_old=old)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "alembic_version" not in tables:
                return Inspection(exists=True, newest=newest, foreign=bool(tables), sqlite_old=old)
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            lanes = connection.execute("SELECT count(*) FROM lane").fetchone() if "lane" in tables else (0,)
            fault = None if look_through is None else _looked_through(connection, look_through)
    except sqlite3.Error as error:
        return Inspection(exists=True, newest=newest, fault=str(error), sqlite_old=old)
    found = str(revision[0]) if revision else None
    known = found is None or found in {each.revision for each in directory.walk_revisions()}
    return Inspection(True, newest, fault, found, known, lanes=int(lanes[0]), sqlite_old=old)


def admit(path: Path, scripts: str = SCRIPTS) -> None:
    """Let a database be opened for writing, or refuse it while not a byte of it has changed.

    Raises:
        StoreVersionError: It is newer than this captain.
        StoreForeignError: It holds something else.
    """
    found = inspect(path, scripts)
    if not found.known:
        raise StoreVersionError
    if found.foreign:
        raise StoreForeignError


def is_old(version: tuple[int, ...]) -> bool:
    """Whether this version of SQLite can damage a database in WAL mode that two connections write and checkpoint.

    Source: https://sqlite.org/wal.html, the WAL-reset bug of 3.7.0 to 3.51.2.
    """
    mended = next((each for each in _MENDED if each[:2] == version[:2]), _MENDED[-1])
    return (3, 7, 0) <= version < mended


def _looked_through(connection: sqlite3.Connection, within: timedelta) -> str | None:
    timer = threading.Timer(within.total_seconds(), connection.interrupt)
    timer.start()
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None
        raise
    finally:
        timer.cancel()
        timer.join()
    return None if verdict == "ok" else "database disk image is malformed"
