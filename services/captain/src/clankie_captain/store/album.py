"""Pictures on disk that no row tells of any more, or that are older than pictures are kept. Source: OPS-11, OPS-12."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select, tuple_

from clankie_captain.store import tables
from clankie_captain.store.engine import Database

FOLDER: Final = "pictures"
"""The folder under the attachment root whose files are named by the SHA-256 of what they hold."""

GRACE: Final = timedelta(days=1)
"""A file may be on disk for so long before a row tells of it: its delivery waits for its lane."""

SLICE: Final = 200
"""Rows that are read in one transaction."""

_NAME: Final = re.compile(r"[0-9a-f]{64}")

_entry = tables.entry.c


class Album:
    """The pictures under an attachment root. Rows go first and files after them, so that a crash loses nothing."""

    def __init__(self, database: Database, root: Path) -> None:
        self._database = database
        self._folder = root / FOLDER

    async def tidy(self, now: datetime, before: datetime | None = None) -> int:
        """Remove pictures that no row tells of, and those that were last posted before a moment; how many went.

        Raises:
            StoreError: The store fails.
            OSError: The folder cannot be read.
        """
        files = await asyncio.to_thread(lambda: dict(self._files()))
        if not files:
            return 0
        posted = await self._posted(frozenset(files))
        # A clock that jumped ahead makes no file old: moments of files are compared with what is proven.
        gone = [
            name
            for name, touched in files.items()
            if (touched < now - GRACE if name not in posted else before is not None and posted[name] < before)
        ]
        await asyncio.to_thread(self._remove, gone)
        return len(gone)

    async def remove(self, names: frozenset[str]) -> int:
        """Remove pictures that were just forgotten, unless another row still tells of them; how many went.

        Raises:
            StoreError: The store fails.
            OSError: One cannot be removed.
        """
        if not names:
            return 0
        gone = [*(names - (await self._posted(names)).keys())]
        await asyncio.to_thread(self._remove, gone)
        return len(gone)

    def _files(self) -> Iterator[tuple[str, datetime]]:
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if _NAME.fullmatch(path.name):
                    with suppress(FileNotFoundError):
                        yield path.name, datetime.fromtimestamp(path.lstat().st_mtime, UTC)

    def _remove(self, names: list[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)

    async def _posted(self, names: frozenset[str]) -> dict[str, datetime]:
        """When each picture was last posted, as far as rows tell."""
        found: dict[str, datetime] = {}
        last: tuple[str, int] | None = ("", 0)
        while last is not None:
            last = await self._database.transact(lambda connection, after=last: _look(connection, after, names, found))
        return found


def digests(payload: str) -> frozenset[str]:
    """The names of pictures that an entry tells of, and whatever else looks like one."""
    return frozenset(_NAME.findall(payload))


def _look(
    connection: Connection, after: tuple[str, int], names: frozenset[str], found: dict[str, datetime]
) -> tuple[str, int] | None:
    place: Any = tuple_(_entry.lane, _entry.seq)
    statement = (
        select(_entry.lane, _entry.seq, _entry.payload, _entry.at)
        .where(place > after)
        .order_by(_entry.lane, _entry.seq)
    )
    rows = connection.execute(statement.limit(SLICE)).all()
    for row in rows:
        for name in digests(row.payload) & names:
            found[name] = max(found.get(name, row.at), row.at)
    return (rows[-1].lane, rows[-1].seq) if rows else None
