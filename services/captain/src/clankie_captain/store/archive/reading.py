"""Read a backup: bytes against their hashes, names against what a backup may hold, the database against itself."""

import hashlib
import os
import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Final

from clankie_captain.store.archive.manifest import (
    DATABASE,
    MANIFEST,
    MANIFEST_BYTES,
    ArchiveError,
    Manifest,
    Member,
    is_member,
    read_manifest,
)
from clankie_captain.store.inspection import inspect

CHUNK: Final = 1024 * 1024
"""Bytes that are read at a time."""

_CUT_SHORT: Final = "the file is no backup of Clankie, or was cut short; take another one"


def unpack(backup: Path, into: Path) -> Manifest:
    """Unpack a backup into an empty folder and prove that it is whole.

    Raises:
        ArchiveError: It is no backup, is damaged, holds what a backup does not, or is newer than this Clankie.
        OSError: The disk does not take it.
    """
    found: dict[str, Member] = {}
    manifest: Manifest | None = None
    try:
        with tarfile.open(backup, "r:") as archive:
            for header, file in _members(archive):
                if manifest is not None or header.name in found:
                    raise ArchiveError("the backup holds a file twice, or one behind its manifest; do not trust it")
                if header.name == MANIFEST:
                    manifest = read_manifest(file.read(MANIFEST_BYTES))
                else:
                    found[header.name] = _copy(file, into / header.name)
    except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
        raise ArchiveError(_CUT_SHORT) from error
    if manifest is None or DATABASE not in found:
        raise ArchiveError(_CUT_SHORT)
    _compare(manifest, found)
    _prove(into / DATABASE)
    return manifest


def _members(archive: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    for header in archive:
        if not header.isreg() or not is_member(header.name):
            raise ArchiveError("the backup holds something that no backup of Clankie holds; do not trust it")
        file = archive.extractfile(header)
        if file is None:
            raise ArchiveError(_CUT_SHORT)
        yield header, file


def _copy(file: IO[bytes], path: Path) -> Member:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, size = hashlib.sha256(), 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as out:
        while data := file.read(CHUNK):
            digest.update(data)
            size += len(data)
            out.write(data)
        out.flush()
        os.fsync(out.fileno())
    return Member(size, digest.hexdigest())


def _compare(manifest: Manifest, found: dict[str, Member]) -> None:
    for name in sorted({*manifest.files, *found}):
        if manifest.files.get(name) != found.get(name):
            kind = "database" if name == DATABASE else "a file"
            raise ArchiveError(f"the backup is damaged: {kind} in it is not as it was written; take another one")


def _prove(database: Path) -> None:
    try:
        with closing(sqlite3.connect(database)) as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise ArchiveError("the backup's database cannot be read; take another one") from error
    if verdict != ("ok",):
        raise ArchiveError("the backup's database is damaged; take another one")
    if not inspect(database).known:
        raise ArchiveError("the backup's database is newer than this Clankie; upgrade this one first")
