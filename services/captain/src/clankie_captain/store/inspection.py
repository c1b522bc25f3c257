"""Look at a database without changing it: does it open, and is its schema known here. Source: OPS-9."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a database file is.

    Attributes:
        exists: Whether there is a file.
        fault: Why it cannot be read, in SQLite's words, or None.
        revision: The schema it has, or None for one without.
        newest: The schema that this captain brings it to.
        known: Whether this captain knows the schema it has.
        lanes: How many lanes it holds.
    """

    exists: bool
    newest: str
    fault: str | None = None
    revision: str | None = None
    known: bool = True
    lanes: int = 0


def inspect(path: Path) -> Inspection:
    """What the file at ``path`` is; reads only, so that a running captain is not disturbed."""
    config = Config()
    config.set_main_option("script_location", "clankie_captain.store:migrations")
    scripts = ScriptDirectory.from_config(config)
    newest = scripts.get_current_head() or ""
    if not path.exists():
        return Inspection(exists=False, newest=newest)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            lanes = connection.execute("SELECT count(*) FROM lane").fetchone()
    except sqlite3.Error as error:
        return Inspection(exists=True, newest=newest, fault=str(error))
    found = str(revision[0]) if revision else None
    known = found is None or found in {each.revision for each in scripts.walk_revisions()}
    return Inspection(exists=True, newest=newest, revision=found, known=known, lanes=int(lanes[0]))
