"""Bring the database to the present schema. Source: DUR-3."""

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from clankie_captain.errors import StoreVersionError


def migrate(connection: Connection) -> None:
    """Apply the scripts that the database lacks.

    Raises:
        StoreVersionError: The database is newer than this captain.
    """
    config = Config()
    config.set_main_option("script_location", "clankie_captain.store:migrations")
    config.attributes["connection"] = connection
    scripts = ScriptDirectory.from_config(config)
    present = MigrationContext.configure(connection).get_current_revision()
    if present is not None and present not in {script.revision for script in scripts.walk_revisions()}:
        raise StoreVersionError
    if present != scripts.get_current_head():
        command.upgrade(config, "head")
