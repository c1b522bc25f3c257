"""What a backup is: a tar of regular files under fixed names, and last of all a manifest that knows each one's hash."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from clankie_captain.errors import StoreError

FORMAT: Final = 1
"""The form of a backup; one of a higher number is refused."""

MANIFEST: Final = "manifest.json"
DATABASE: Final = "captain.db"
ATTACHMENTS: Final = "attachments/"
LOGS: Final = ("turn-settled.jsonl",)
"""Files of the state folder that go along besides. Tokens do not: a captain that finds none makes new ones."""

MANIFEST_BYTES: Final = 256 * 1024 * 1024
"""Longest manifest that is read, in bytes."""

_HASH: Final = re.compile(r"[0-9a-f]{64}")


class ArchiveError(StoreError):
    """A file is no backup that can be taken back; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where everything durable lies: the state folder, the database's file, the attachment root."""

    state: Path
    database: Path
    attachments: Path


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a backup: its size in bytes and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says about itself.

    ``running`` tells that a captain was at work: what it left open then was most likely answered afterwards.
    """

    made_at: str
    version: str
    running: bool
    files: Mapping[str, Member]

    def to_json(self) -> bytes:
        """As it stands in the archive."""
        files = {name: asdict(member) for name, member in self.files.items()}
        document = {
            "format": FORMAT, "made_at": self.made_at, "version": self.version, "running": self.running, "files": files,
        }  # fmt: skip
        return json.dumps(document, indent=1).encode()


def read_manifest(raw: bytes) -> Manifest:
    """The manifest of an archive.

    Raises:
        ArchiveError: It is none, or one of a newer Clankie.
    """
    try:
        document = cast("dict[str, Any]", json.loads(raw))
        form = document["format"]
        if isinstance(form, int) and form > FORMAT:
            raise ArchiveError("the backup was made by a newer Clankie; upgrade this one first")
        files = {str(name): Member(int(each["size"]), str(each["sha256"])) for name, each in document["files"].items()}
        found = Manifest(str(document["made_at"]), str(document["version"]), bool(document["running"]), files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArchiveError("the file is no backup of Clankie: its manifest cannot be read") from error
    if form != FORMAT or not all(_HASH.fullmatch(each.sha256) for each in files.values()):
        raise ArchiveError("the file is no backup of Clankie: its manifest is of another form")
    return found


def is_member(name: str) -> bool:
    """Whether a file of this name belongs into a backup; nothing else is ever unpacked."""
    if name in (DATABASE, MANIFEST, *LOGS):
        return True
    path = PurePosixPath(name)
    plain = name == str(path) and ".." not in path.parts and "\\" not in name and "\0" not in name
    return plain and name.startswith(ATTACHMENTS) and name != ATTACHMENTS
