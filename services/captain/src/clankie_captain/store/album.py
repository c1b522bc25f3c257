"""Pictures on disk that no row tells of any more, or that are older than pictures are kept. Source: OPS-11, OPS-12.

Those that people posted and those that tools made: a file is known by the first half of the hash of what it holds.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select, tuple_

from clankie_captain.core.artifacts import MADE
from clankie_captain.store import tables
from clankie_captain.store.engine import Database

FOLDER: Final = "pictures"
"""The folder under the attachment root whose files are named by the SHA-256 of what they hold."""

GRACE: Final = timedelta(days=1)
"""A file may be on disk for so long before a row tells of it: its delivery waits for its lane."""

SLICE: Final = 200
"""Rows that are read in one transaction."""

_NAME: Final = re.compile(r"[0-9a-f]{64}")

_MADE_NAME: Final = re.compile(r"[0-9a-f]{32}\.(?:png|jpg|gif|webp)")
_KEY: Final = 32

_entry, _delivery = tables.entry.c, tables.delivery.c
_action, _call = tables.action.c, tables.finished_call.c
# What tells of files: where a row stands, its words, its moment, and what is before the first.
_TELLING: Final[tuple[tuple[Any, Any, Any, Any, tuple[str, Any]], ...]] = (
    (_entry.lane, _entry.seq, _entry.payload, _entry.at, ("", 0)),
    (_delivery.lane, _delivery.seq, _delivery.result, _delivery.accepted_at, ("", 0)),
    (_action.presence, _action.seq, _action.payload, _action.created_at, ("", 0)),
    (_call.lane, _call.call, _call.payload, _call.at, ("", "")),
)


class Album:
    """The pictures under an attachment root. Rows go first and files after them, so that a crash loses nothing."""

    def __init__(self, database: Database, root: Path) -> None:
        self._database = database
        self._folder = root / FOLDER
        self._made = [root / each for each in MADE]

    async def tidy(self, now: datetime, before: datetime | None = None) -> int:
        """Remove files that no row tells of, and pictures that were last posted before a moment; how many went.

        Raises:
            StoreError: The store fails.
            OSError: The folder cannot be read.
        """
        files = await asyncio.to_thread(lambda: dict(self._files()))
        if not files:
            return 0
        posted = await self._posted(frozenset(map(_key, files)))
        # A clock that jumped ahead makes no file old: moments of files are compared with what is proven.
        gone = [
            path
            for path, touched in files.items()
            if (
                touched < now - GRACE
                if (posted_at := posted.get(_key(path))) is None
                else before is not None and path.parent == self._folder and posted_at < before
            )
        ]
        await asyncio.to_thread(_remove, gone)
        return len(gone)

    async def remove(self, names: frozenset[str]) -> int:
        """Remove the files of these hashes, just forgotten, unless another row still tells of them; how many went.

        Raises:
            StoreError: The store fails.
            OSError: One cannot be removed.
        """
        if not names:
            return 0
        keys = frozenset(name[:_KEY] for name in names)
        lost = keys - (await self._posted(keys)).keys()
        gone = await asyncio.to_thread(lambda: [path for path, _ in self._files() if _key(path) in lost])
        await asyncio.to_thread(_remove, gone)
        return len(gone)

    def _files(self) -> Iterator[tuple[Path, datetime]]:
        for folder, named in [(self._folder, _NAME), *((each, _MADE_NAME) for each in self._made)]:
            if folder.is_dir():
                for path in folder.iterdir():
                    if named.fullmatch(path.name):
                        with suppress(FileNotFoundError):
                            yield path, datetime.fromtimestamp(path.lstat().st_mtime, UTC)

    async def _posted(self, keys: frozenset[str]) -> dict[str, datetime]:
        """When each file was last told of, as far as rows tell."""
        found: dict[str, datetime] = {}
        for telling in _TELLING:
            last: tuple[str, Any] | None = telling[-1]
            while last is not None:
                look = partial(_look, telling=telling, after=last, keys=keys, found=found)
                last = await self._database.transact(look)
        return found


def _key(path: Path) -> str:
    return path.name[:_KEY]


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def digests(payload: str) -> frozenset[str]:
    """The names of pictures that an entry tells of, and whatever else looks like one."""
    return frozenset(_NAME.findall(payload))


def _look(
    connection: Connection,
    telling: tuple[Any, Any, Any, Any, tuple[str, Any]],
    after: tuple[str, Any],
    keys: frozenset[str],
    found: dict[str, datetime],
) -> tuple[str, Any] | None:
    first, second, payload, at, _ = telling
    statement = select(first, second, payload, at).where(tuple_(first, second) > after).order_by(first, second)
    rows = connection.execute(statement.limit(SLICE)).all()
    for row in rows:
        for key in {name[:_KEY] for name in digests(row[2] or "")} & keys:
            found[key] = max(found.get(key, row[3]), row[3])
    return (rows[-1][0], rows[-1][1]) if rows else None
