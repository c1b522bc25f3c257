"""Files of JSON lines that several readers follow: a line is there whole, or not at all. Source: DUR-3."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def append(path: Path, lines: Iterable[str]) -> int:
    """Append lines, which carry no line break themselves, all of them or none; the size of the file afterwards.

    What a process that was killed left unfinished stays a line of its own, so that it spoils no further one. One
    process at a time may append.

    Raises:
        OSError: Nothing was written; the disk is full, or the file cannot be written.
    """
    content = "".join(f"{line}\n" for line in lines).encode()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        before = os.fstat(descriptor).st_size
        if before and os.pread(descriptor, 1, before - 1) != b"\n":
            content = b"\n" + content
        try:
            _write(descriptor, content)
        except OSError:
            # A device, or a file that somebody has moved on with, cannot be cut; the next call mends what is left.
            with suppress(OSError):
                os.ftruncate(descriptor, before)
            raise
        return before + len(content)
    finally:
        os.close(descriptor)


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
