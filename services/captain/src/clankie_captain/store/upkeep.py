"""What looks after the database as a whole: one thing at a time, while turns go on. Source: OPS-10."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from clankie_captain.errors import StoreError
from clankie_captain.store.engine import Database

LOG_PAGES: Final = 1_000
"""Pages in the write-ahead log from which on SQLite moves them into the database, as it does by default."""

_BUSY: Final = "another program reads the database; close it and try again"


class Upkeep:
    """The database's file; whoever copies it, and whoever erases from it, waits for the other."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._one = asyncio.Lock()

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[None]:
        """While nothing else looks after the file. What was erased meanwhile is gone from the disk afterwards."""
        async with self._one:
            yield
            # The log still holds the pages as they were.
            await self._database.aside(_empty_log)

    @asynccontextmanager
    async def still(self) -> AsyncGenerator[Path]:
        """The database's file, whole and unchanging for as long as this lasts; transactions go on, into the log.

        It may be read by other processes alone: one that opens and closes it here would take SQLite's locks along.

        Raises:
            StoreError: Another program reads the database at this moment.
        """
        async with self._one:
            try:
                yield await self._database.aside(_hold)
            finally:
                await self._database.aside(_release)


def _hold(connection: sqlite3.Connection) -> Path:
    # In this order: a commit in between cannot be, since both are done in one trip.
    connection.execute("PRAGMA wal_autocheckpoint=0")
    if not _empty_log(connection):
        raise StoreError(_BUSY)
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def _release(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Move the log into the database and cut it to nothing; whether that could be done."""
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
