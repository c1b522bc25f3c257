"""Where tools' files are made and kept. Source: ART-2."""

from pathlib import Path
from typing import Final

from clankie_captain.media.artifacts import ArtifactFolder
from clankie_captain.media.drawing import Draughtsman, DrawingError
from clankie_captain.ports import NotMadeError, Workshop
from clankie_settings.wire.attachment import Artifact

UNKEPT: Final = "the disk does not take the file; tell whoever runs me"
"""What the model is told where a file cannot be kept."""


class MediaWorkshop(Workshop):
    """The workshop of a captain."""

    def __init__(self, root: Path, draughtsman: Draughtsman) -> None:
        self._draughtsman = draughtsman
        self._diagrams = ArtifactFolder(root, "diagrams")

    @property
    def tools(self) -> frozenset[str]:
        """Tools that can work here."""
        return frozenset({"draw_diagram"})

    async def diagram(self, source: str, title: str) -> Artifact:
        """Draw a diagram and keep it."""
        try:
            data = await self._draughtsman.draw(source)
        except DrawingError as error:
            raise NotMadeError(str(error)) from None
        return await _kept(self._diagrams, data, title)


async def _kept(folder: ArtifactFolder, data: bytes, title: str) -> Artifact:
    try:
        return await folder.keep(data, "image/png", title)
    except OSError:
        raise NotMadeError(UNKEPT) from None
