"""Open the database: one process, one connection, durable commits. Source: DUR-3."""

import asyncio
import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

import aiosqlite
import structlog
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from clankie_captain.errors import StoreDamagedError, StoreError, StoreFullError, StoreLockedError
from clankie_captain.store.faults import meaning
from clankie_captain.store.inspection import admit, is_old
from clankie_captain.store.schema import migrate, prove

BUSY_MS: Final = 5_000
"""How long SQLite waits for another holder of the file, in milliseconds; only a backup ever is one."""

PRAGMAS: Final = (
    "journal_mode=WAL",
    "synchronous=FULL",
    f"busy_timeout={BUSY_MS}",
    "foreign_keys=ON",
    "secure_delete=ON",  # what was forgotten is overwritten, not only unlinked
)
"""What the connection promises; the first two are read back at start. Source: DUR-3."""

CHECKED_FOR: Final = timedelta(seconds=1)
"""How long a start looks for damage; ``clankie doctor`` looks longer."""

MEMORY: Final = ":memory:"
NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

OLD_SQLITE: Final = (
    "this SQLite can damage a database that several programs write at once; Clankie writes over one connection, so let "
    "nothing else write to captain.db, and upgrade to 3.51.3 (or 3.50.7, 3.44.6) when you can"
)

T = TypeVar("T")

_log = structlog.get_logger()


class StateLock:
    """The right to be the only captain on a state folder; the system frees it when the process dies."""

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            StoreLockedError: Another process holds it.
            StoreError: The folder cannot be written.
        """
        self.folder = path.parent
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            if error.errno in NO_SPACE:
                raise StoreFullError from error
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
    the connection in the middle of one. Where the disk is full, one fails whole, and the next may succeed; where the
    file is damaged, none is tried any more, since writing on would damage what is left.
    """

    def __init__(self, connection: _Threaded, locks: Sequence[StateLock] = ()) -> None:
        self._connection = connection
        self._engine = _engine(connection)
        self._locks = locks
        self._trouble: StoreError | None = None
        self._closed = False

    @classmethod
    async def open(cls, url: str, lock: StateLock | None = None) -> "Database":
        """Open the database at ``url``, migrate it, and prove that it keeps what it promises.

        Raises:
            StoreError: It cannot be opened, is newer than this captain, of another build or damaged, or does not keep
                its promises. A newer one, and one that is none of ours, is left as it is.
        """
        locks = [] if lock is None else [lock]
        try:
            return await cls._opened(make_url(url).database or MEMORY, locks)
        except BaseException:
            for each in locks:
                each.release()
            raise

    @classmethod
    async def _opened(cls, path: str, locks: list[StateLock]) -> "Database":
        if path != MEMORY:
            file = Path(path)
            if locks and file.parent != locks[0].folder:
                # Two state folders may name one database, and then the lock of neither is of use.
                locks.append(StateLock(file.with_name(f"{file.name}.lock")))
            await asyncio.to_thread(admit, file)
        connection = _Threaded(lambda: _connect(path), iter_chunk_size=64)
        try:
            await connection
        except sqlite3.Error as error:
            await connection.ended()
            raise _unusable(error) from error
        database = cls(connection, locks)
        try:
            await database._on_thread(database._prepare)
            await database._looked_through()
        except BaseException as error:
            # Whatever it is, a stop amid the start included: the connection's thread would keep the process.
            await connection.close()
            if isinstance(error, DBAPIError):
                raise _unusable(error.orig) from error.orig
            raise
        if is_old(sqlite3.sqlite_version_info):
            _log.warning("store.sqlite_old", version=sqlite3.sqlite_version, remedy=OLD_SQLITE)
        return database

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Do ``work`` in one transaction and commit; any exception rolls it back whole.

        Raises:
            StoreError: The disk or the file is at fault; which leaf says what to do.
        """
        if isinstance(self._trouble, StoreDamagedError):
            raise StoreDamagedError
        try:
            done, wrote = await self._on_thread(lambda: self._transaction(work))
        except DBAPIError as error:
            trouble = meaning(error.orig)
            if trouble is None:
                raise
            self._note(trouble)
            # Not from the library's error, which holds the values that were to be written.
            raise trouble from error.orig
        if wrote:
            self._note(None)
        return done

    async def aside(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Do a step outside any transaction: what looks after the file itself."""
        return await self._on_thread(lambda: step(self._connection.raw))

    async def close(self) -> None:
        """Finish what was asked for, close the connection, give the lock back; a second time changes nothing."""
        if self._closed:
            return
        self._closed = True
        await self._connection.close()
        for each in self._locks:
            each.release()

    def _note(self, trouble: StoreError | None) -> None:
        """Say once that the store fails, and once that it does no more."""
        before, self._trouble = self._trouble, trouble
        if trouble is not None and type(trouble) is not type(before):
            _log.warning("store.trouble", cause=type(trouble).__name__, remedy=str(trouble))
        elif trouble is None and before is not None:
            _log.info("store.recovered", cause=type(before).__name__)

    async def _on_thread(self, step: Callable[[], T]) -> T:
        return await asyncio.shield(asyncio.ensure_future(self._connection.on_thread(step)))

    def _transaction(self, work: Callable[[Connection], T]) -> tuple[T, bool]:
        raw = self._connection.raw
        before = raw.total_changes
        with self._engine.begin() as connection:
            done = work(connection)
        return done, raw.total_changes != before

    def _prepare(self) -> None:
        with self._engine.begin() as connection:
            migrate(connection)
            prove(connection)
        with self._engine.connect() as connection:
            journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
            synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
            busy = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
        if (journal, synchronous, busy) != ("wal", 2, BUSY_MS):
            raise StoreError("SQLite keeps no write-ahead log here; put the state folder on a local disk")

    async def _looked_through(self) -> None:
        """Look for damage, as far as one gets in a moment: whoever starts must not wait for gigabytes."""
        looking = asyncio.ensure_future(self._connection.on_thread(self._quick_check))
        try:
            await asyncio.wait({looking}, timeout=CHECKED_FOR.total_seconds())
        finally:
            if not looking.done():
                self._connection.raw.interrupt()
        if not await looking:
            raise StoreDamagedError

    def _quick_check(self) -> bool:
        try:
            return self._connection.raw.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                return True
            raise _unusable(error) from error
        except sqlite3.DatabaseError:
            return False


def _unusable(error: BaseException | None) -> StoreError:
    known = meaning(error)
    if known is not None:
        return known
    return StoreError(f"the database cannot be opened ({type(error).__name__}); check the disk and the state folder")


def _connect(path: str) -> sqlite3.Connection:
    # Leave transactions to `_begin`; the driver's own would start deferred and fail on upgrade.
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _engine(connection: _Threaded) -> Engine:
    # A second writer buys nothing and invites lock errors; a second reader would see a torn lane.
    engine = create_engine("sqlite://", creator=lambda: connection.raw, poolclass=StaticPool)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
