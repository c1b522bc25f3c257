"""Bring the database to the present schema. Source: DUR-3."""

from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from clankie_captain.errors import StoreShapeError, StoreVersionError
from clankie_captain.store.tables import metadata

SCRIPTS: Final = "clankie_captain.store:migrations"
"""Where the scripts lie that make one schema of another."""


def migrate(connection: Connection, scripts: str = SCRIPTS) -> None:
    """Apply the scripts that the database lacks, all of them or, where one fails, none.

    Raises:
        StoreVersionError: The database is newer than this captain.
    """
    config = Config()
    config.set_main_option("script_location", scripts)
    config.attributes["connection"] = connection
    known = ScriptDirectory.from_config(config)
    present = MigrationContext.configure(connection).get_current_revision()
    if present is not None and present not in {script.revision for script in known.walk_revisions()}:
        raise StoreVersionError
    if present != known.get_current_head():
        command.upgrade(config, "head")


def prove(connection: Connection) -> None:
    """Compare tables and columns with those that the captain reads and writes.

    The number of the schema alone would let in a database of a build in between, which fails at the first statement.

    Raises:
        StoreShapeError: They differ.
    """
    for table in metadata.sorted_tables:
        found = connection.exec_driver_sql(f'PRAGMA table_info("{table.name}")')
        if {str(row[1]) for row in found} != set(table.columns.keys()):
            raise StoreShapeError
