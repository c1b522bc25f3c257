"""Write a backup, as a stream: nothing is kept twice on the disk that it comes from."""

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from clankie_captain.store.archive.manifest import ATTACHMENTS, DATABASE, LOGS, MANIFEST, Manifest, Member, Place

HALF_WRITTEN: Final = ".new-"
"""How names of files begin that somebody is still writing."""


@dataclass(frozen=True, slots=True)
class Made:
    """When a backup was made (ISO 8601, UTC), by which version, and whether a captain was at work."""

    at: str
    version: str
    running: bool


def write(out: IO[bytes], place: Place, made: Made) -> None:
    """Write everything durable to ``out``; the database must not change meanwhile.

    Raises:
        OSError: A file cannot be read, or ``out`` takes no more.
    """
    files: dict[str, Member] = {}
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        files[DATABASE] = _add(archive, DATABASE, place.database)
        # After the database: a picture is on disk before a row tells of it, so all that rows tell of is here.
        for name, path in _besides(place):
            try:
                files[name] = _add(archive, name, path)
            except FileNotFoundError:
                continue
        manifest = Manifest(made.at, made.version, made.running, files).to_json()
        archive.addfile(_header(MANIFEST, len(manifest), 0), io.BytesIO(manifest))
    out.flush()


def _besides(place: Place) -> Iterator[tuple[str, Path]]:
    for name in LOGS:
        yield name, place.state / name
    for folder, folders, names in os.walk(place.attachments):
        folders.sort()
        for name in sorted(names):
            path = Path(folder) / name
            if not name.startswith(HALF_WRITTEN) and _is_plain(path):
                yield ATTACHMENTS + path.relative_to(place.attachments).as_posix(), path


def _is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _add(archive: tarfile.TarFile, name: str, path: Path) -> Member:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        hashed = _Hashed(file)
        archive.addfile(_header(name, status.st_size, int(status.st_mtime)), hashed)
    return Member(status.st_size, hashed.digest.hexdigest())


def _header(name: str, size: int, mtime: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mtime, header.mode = size, mtime, 0o600
    return header


class _Hashed(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        data = self._file.read(size)
        self.digest.update(data)
        return data
