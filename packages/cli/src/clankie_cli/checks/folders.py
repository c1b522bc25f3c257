"""What lies on this machine: the state folder, its secrets, and the pictures."""

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

from clankie_cli.checks.finding import Finding, note, ok, wrong
from clankie_cli.plain import counted

MIB: Final = 1024 * 1024
ROOM_WANTED: Final = 1024 * MIB
"""Free bytes below which it is worth knowing."""

ROOM_NEEDED: Final = 100 * MIB
"""Free bytes below which the captain will soon refuse."""


def state(folder: Path) -> list[Finding]:
    """Whether everything durable can be written, and has room."""
    trouble = unwritable(folder)
    if trouble is not None:
        return [wrong("state", f"{folder}: {trouble}; make it writable, or set CLANKIE_STATE to another folder")]
    free = shutil.disk_usage(_there(folder)).free
    said = f"{folder} is writable, {free // MIB} MiB free"
    if free < ROOM_NEEDED:
        return [wrong("state", f"{said}: make room, or set CLANKIE_STATE to a folder on another disk")]
    return [note("state", f"{said}, which is little") if free < ROOM_WANTED else ok("state", said)]


def secrets(folder: Path, dotenv: Path) -> Finding:
    """Whether only the owner of these files may read them."""
    kept = folder / "secrets"
    try:
        files = [each for each in (dotenv, *(kept.iterdir() if kept.is_dir() else ())) if each.is_file()]
        loose = [each for each in files if each.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    except OSError as error:
        return wrong("secrets", f"{kept}: {error.strerror}; run this as the user who runs Clankie")
    if loose:
        return wrong("secrets", f"others on this machine may read {loose[0]}: chmod 600 {loose[0]}")
    return ok("secrets", f"{counted(len(files), 'file')}, readable by you alone" if files else "none kept yet")


def attachments(captains: Path, bridges: Path) -> Finding:
    """Whether the captain writes pictures where the bridge looks for them. Source: ART-1."""
    remedy = "set CLANKIE_DISCORD_ATTACHMENT_ROOT"
    if captains != bridges:
        return wrong("attachments", f"the captain writes to {captains}, the bridge reads {bridges}: {remedy} for both")
    trouble = unwritable(captains)
    if trouble is not None:
        return wrong("attachments", f"{captains}: {trouble}; make it writable, or {remedy}")
    return ok("attachments", f"captain and bridge both use {captains}")


def unwritable(folder: Path) -> str | None:
    """Why a folder, or the one that it will be made in, cannot be written; leaves nothing behind."""
    place = _there(folder)
    if not place.is_dir():
        return "is no folder"
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".clankie-"):
            return None
    except OSError as error:
        return (error.strerror or "cannot be written").lower()


def holder(lock: Path) -> int | None:
    """The process that holds the captain's lock, where the system tells; it is not taken, not even for a moment."""
    try:
        inode = lock.stat().st_ino
        locks = Path("/proc/locks").read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return None
    for line in locks.splitlines():
        parts = line.split()
        if parts[1:2] == ["FLOCK"] and parts[5].rpartition(":")[2] == str(inode):
            return int(parts[4])
    return None


def _there(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder
