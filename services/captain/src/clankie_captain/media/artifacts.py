"""Where one tool keeps what it makes; nothing else writes there. Source: ART-1, ART-2."""

from pathlib import Path

from clankie_captain.core.artifacts import Made, artifact, place
from clankie_captain.media.folder import Folder
from clankie_settings import bounds
from clankie_settings.wire.attachment import Artifact


class ArtifactFolder:
    """One tool's own folder under the attachment root, named like no other's."""

    def __init__(self, root: Path, name: Made, most: int = bounds.ARTIFACT_FOLDER_BYTES) -> None:
        self._name: Made = name
        self._folder = Folder(root / name, most)

    async def keep(self, data: bytes, media_type: str, title: str) -> Artifact:
        """Keep a file, and refer to it.

        Raises:
            OSError: The disk or the folder does not take it.
        """
        made = artifact(self._name, data, media_type, title)
        await self._folder.put(place(made.ref)[2], data)
        return made
