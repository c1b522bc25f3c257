"""Open the database: one process, one connection, durable commits. Source: DUR-3."""

import asyncio
import fcntl
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry

from clankie_captain.errors import StoreError, StoreLockedError
from clankie_captain.store.schema import migrate

BUSY_MS: Final = 5_000
"""How long SQLite waits for another holder of the file, in milliseconds; only a backup ever is one."""

T = TypeVar("T")


class StateLock:
    """The right to be the only captain on a state folder; the system frees it when the process dies."""

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            StoreLockedError: Another process holds it.
            StoreError: The folder cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"{path.parent}: {error.strerror}; make the state folder writable") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            raise StoreLockedError(path) from error

    def release(self) -> None:
        """Give the lock back."""
        os.close(self._descriptor)


class Database:
    """The one connection, and the only way to a transaction.

    A transaction once begun is finished even where its caller is cancelled, so that a cancelled run never leaves
    the connection in the middle of one.
    """

    def __init__(self, engine: AsyncEngine, lock: StateLock | None = None) -> None:
        self._engine = engine
        self._lock = lock
        self._running: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(cls, url: str, lock: StateLock | None = None) -> "Database":
        """Open the database at ``url``, migrate it, and prove that it keeps what it promises.

        Raises:
            StoreError: It cannot be opened, is newer than this captain, or does not keep its promises.
        """
        database = cls(_engine(url), lock)
        try:
            async with database._engine.begin() as connection:
                await connection.run_sync(migrate)
            await database._prove()
        except DBAPIError as error:
            await database.close()
            raise StoreError(
                f"the database cannot be opened ({type(error.orig).__name__}); check the disk and the state folder"
            ) from error
        except StoreError:
            await database.close()
            raise
        return database

    async def transact(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Do ``work`` in one transaction and commit; any exception rolls it back whole."""
        task = asyncio.ensure_future(self._transaction(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Finish what runs, close the connection, give the lock back."""
        if self._running:
            await asyncio.wait(self._running)
        await self._engine.dispose()
        if self._lock is not None:
            self._lock.release()

    async def _transaction(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        async with self._engine.begin() as connection:
            return await work(connection)

    async def _prove(self) -> None:
        async with self._engine.connect() as connection:
            journal = (await connection.exec_driver_sql("PRAGMA journal_mode")).scalar_one()
            synchronous = (await connection.exec_driver_sql("PRAGMA synchronous")).scalar_one()
        if (journal, synchronous) != ("wal", 2):
            raise StoreError("SQLite keeps no write-ahead log here; put the state folder on a local disk")


def _engine(url: str) -> AsyncEngine:
    # A second writer buys nothing and invites lock errors; a second reader would see a torn lane.
    engine = create_async_engine(url, poolclass=AsyncAdaptedQueuePool, pool_size=1, max_overflow=0, pool_timeout=60)
    event.listen(engine.sync_engine, "connect", _configure)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _configure(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # Leave transactions to `_begin`; the driver's own would start deferred and fail on upgrade.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={BUSY_MS}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
