"""What SQLite's errors mean for whoever runs the captain. Source: DUR-3."""

import sqlite3
from typing import Final

from clankie_captain.errors import StoreDamagedError, StoreError, StoreFullError, StoreUnwritableError

_PRIMARY: Final = 0xFF
"""The part of an error code that names its kind; the rest says more about it."""

_FULL: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_UNWRITABLE: Final = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})


def meaning(error: BaseException | None) -> StoreError | None:
    """The store's error that an error of SQLite stands for; None for a fault of ours, such as a wrong statement.

    SQLite's own words stay out of it.
    """
    if not isinstance(error, sqlite3.Error) or (code := getattr(error, "sqlite_errorcode", None)) is None:
        return None
    kind = code & _PRIMARY
    if code in _FULL or kind in _FULL:
        return StoreFullError()
    if kind in _DAMAGED:
        return StoreDamagedError()
    if kind in _UNWRITABLE:
        return StoreUnwritableError()
    if kind == sqlite3.SQLITE_BUSY:
        return StoreError("another program holds the database; end it (a database viewer, a second backup)")
    if kind == sqlite3.SQLITE_IOERR:
        return StoreError(f"the disk of the state folder fails ({error.sqlite_errorname}); check it, and its quota")
    return None
