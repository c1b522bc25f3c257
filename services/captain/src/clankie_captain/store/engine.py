"""Open the database: one process, one connection, durable commits. Source: DUR-3."""

import asyncio
import fcntl
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from sqlalchemy import Connection, CursorResult, Engine, Executable, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

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
    """The one connection, on a thread of its own, and the only way to a transaction.

    A transaction once asked for is finished even where its caller is cancelled, so that a cancelled run never leaves
    the connection in the middle of one.
    """

    def __init__(self, engine: Engine, lock: StateLock | None = None) -> None:
        self._engine = engine
        self._lock = lock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        self._closed = False

    @classmethod
    async def open(cls, url: str, lock: StateLock | None = None) -> "Database":
        """Open the database at ``url``, migrate it, and prove that it keeps what it promises.

        Raises:
            StoreError: It cannot be opened, is newer than this captain, or does not keep its promises.
        """
        database = cls(_engine(url), lock)
        try:
            await database._on_thread(database._prepare)
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
        """Do ``work`` in one transaction and commit; any exception rolls it back whole.

        ``work`` awaits its connection and nothing else. It is written for an asynchronous connection, which a database
        server has; SQLite's is waited for on its thread, a whole transaction at a time.
        """
        return await self._on_thread(lambda: self._transaction(work))

    async def close(self) -> None:
        """Finish what was asked for, close the connection, give the lock back; a second time changes nothing."""
        if self._closed:
            return
        self._closed = True
        await self._on_thread(self._engine.dispose)
        self._thread.shutdown(wait=False)
        if self._lock is not None:
            self._lock.release()

    async def _on_thread(self, step: Callable[[], T]) -> T:
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, step))

    def _transaction(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        with self._engine.begin() as connection:
            return _finished(work(cast("AsyncConnection", _Inline(connection))))

    def _prepare(self) -> None:
        with self._engine.begin() as connection:
            migrate(connection)
        with self._engine.connect() as connection:
            journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
            synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
        if (journal, synchronous) != ("wal", 2):
            raise StoreError("SQLite keeps no write-ahead log here; put the state folder on a local disk")


class _Inline:
    """As much of an asynchronous connection as transactions use; whoever awaits it never waits.

    A statement takes SQLite microseconds, while handing it to a thread and back costs several times that. So it is
    the transaction that changes threads, once, and not each of its statements.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]:
        return self._connection.execute(statement, parameters)

    async def exec_driver_sql(self, statement: str, parameters: Any = None) -> CursorResult[Any]:
        return self._connection.exec_driver_sql(statement, parameters)

    async def run_sync(self, step: Callable[[Connection], T]) -> T:
        return step(self._connection)


def _finished(work: Awaitable[T]) -> T:
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a transaction awaited something other than its connection")


def _engine(url: str) -> Engine:
    # A second writer buys nothing and invites lock errors; a second reader would see a torn lane.
    path = make_url(url).set(drivername="sqlite")
    engine = create_engine(path, poolclass=QueuePool, pool_size=1, max_overflow=0)
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
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
