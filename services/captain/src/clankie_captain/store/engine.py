"""Open the database: one process, one connection, durable commits. Source: DUR-3."""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import aiosqlite
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from clankie_captain.errors import StoreError, StoreLockedError
from clankie_captain.store.schema import migrate

BUSY_MS: Final = 5_000
"""How long SQLite waits for another holder of the file, in milliseconds; only a backup ever is one."""

PRAGMAS: Final = ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={BUSY_MS}", "foreign_keys=ON")
"""What the connection promises; the first two are read back at start. Source: DUR-3."""

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


class _Threaded(aiosqlite.Connection):
    """aiosqlite's connection and thread, which take a whole transaction in one trip.

    A statement takes SQLite microseconds, while handing it to a thread and back costs several times that.
    """

    async def on_thread(self, step: Callable[[], T]) -> T:
        """Do a step where the connection lives."""
        return await self._execute(step)  # pyright: ignore[reportUnknownMemberType] -- aiosqlite leaves it untyped

    async def ended(self) -> None:
        """Wait for the thread of a connection that could not be made, which reports to this event loop as it ends."""
        await asyncio.to_thread(self._thread.join)

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection itself, to be touched on its thread alone."""
        return self._conn


class Database:
    """The one connection, on a thread of its own, and the only way to a transaction.

    A transaction once asked for is finished even where its caller is cancelled, so that a cancelled run never leaves
    the connection in the middle of one.
    """

    def __init__(self, connection: _Threaded, lock: StateLock | None = None) -> None:
        self._connection = connection
        self._engine = _engine(connection)
        self._lock = lock
        self._closed = False

    @classmethod
    async def open(cls, url: str, lock: StateLock | None = None) -> "Database":
        """Open the database at ``url``, migrate it, and prove that it keeps what it promises.

        Raises:
            StoreError: It cannot be opened, is newer than this captain, or does not keep its promises.
        """
        connection = _Threaded(lambda: _connect(url), iter_chunk_size=64)
        try:
            await connection
        except sqlite3.Error as error:
            await connection.ended()
            if lock is not None:
                lock.release()
            raise _unusable(error) from error
        database = cls(connection, lock)
        try:
            await database._on_thread(database._prepare)
        except (DBAPIError, StoreError) as error:
            await database.close()
            if isinstance(error, DBAPIError):
                raise _unusable(error.orig) from error
            raise
        return database

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Do ``work`` in one transaction and commit; any exception rolls it back whole."""
        return await self._on_thread(lambda: self._transaction(work))

    async def close(self) -> None:
        """Finish what was asked for, close the connection, give the lock back; a second time changes nothing."""
        if self._closed:
            return
        self._closed = True
        await self._connection.close()
        if self._lock is not None:
            self._lock.release()

    async def _on_thread(self, step: Callable[[], T]) -> T:
        return await asyncio.shield(asyncio.ensure_future(self._connection.on_thread(step)))

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        with self._engine.begin() as connection:
            return work(connection)

    def _prepare(self) -> None:
        with self._engine.begin() as connection:
            migrate(connection)
        with self._engine.connect() as connection:
            journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
            synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
        if (journal, synchronous) != ("wal", 2):
            raise StoreError("SQLite keeps no write-ahead log here; put the state folder on a local disk")


def _unusable(error: BaseException | None) -> StoreError:
    return StoreError(f"the database cannot be opened ({type(error).__name__}); check the disk and the state folder")


def _connect(url: str) -> sqlite3.Connection:
    # Leave transactions to `_begin`; the driver's own would start deferred and fail on upgrade.
    connection = sqlite3.connect(make_url(url).database or ":memory:", isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _engine(connection: _Threaded) -> Engine:
    # A second writer buys nothing and invites lock errors; a second reader would see a torn lane.
    engine = create_engine("sqlite://", creator=lambda: connection.raw, poolclass=StaticPool)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
