"""Pictures as they were shown, each kept once under the hash of its bytes. Source: IMG-7."""

import hashlib
import re
from pathlib import Path
from typing import Final

from clankie_captain.core.pictures import Part, Stored
from clankie_captain.media.folder import Folder
from clankie_settings import bounds

FOLDER: Final = "pictures"
"""The shelf's own folder under the attachment root; nothing else writes there."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Shelf:
    """A folder of files that are named by their content; whoever asks for one that is gone is told so."""

    def __init__(self, root: Path, most: int = bounds.SHELF_BYTES) -> None:
        self._folder = Folder(root / FOLDER, most)

    async def put(self, part: Part) -> Stored:
        """Keep a part.

        Raises:
            OSError: The disk or the folder does not take it.
        """
        stored = Stored(_digest(part.data), part.media_type, part.width, part.height, len(part.data))
        await self._folder.put(stored.digest, part.data)
        return stored

    async def get(self, digest: str) -> bytes | None:
        """The bytes under a hash; None where they are gone, or are not what their name says."""
        data = await self._folder.get(digest) if _DIGEST.fullmatch(digest) else None
        return data if data is not None and _digest(data) == digest else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
