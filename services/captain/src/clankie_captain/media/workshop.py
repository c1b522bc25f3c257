"""Where tools' files are made and kept. Source: ART-2."""

from pathlib import Path
from typing import Final

from clankie_captain.core.painting import Shape
from clankie_captain.media.artifacts import ArtifactFolder
from clankie_captain.media.camera import Camera, CameraError
from clankie_captain.media.drawing import Draughtsman, DrawingError
from clankie_captain.media.painting import Painter, PaintingError
from clankie_captain.ports import NotMadeError, PageShot, Progress, Workshop
from clankie_settings.wire.attachment import Artifact

UNKEPT: Final = "the disk does not take the file; tell whoever runs me"
"""What the model is told where a file cannot be kept."""

UNOFFERED: Final = "that cannot be done here; tell whoever runs me"
"""What it is told where a tool is called that is not offered."""


class MediaWorkshop(Workshop):
    """The workshop of a captain; without a camera or a painter, their tools are not offered."""

    def __init__(
        self,
        root: Path,
        draughtsman: Draughtsman,
        camera: Camera | None = None,
        painter: Painter | None = None,
    ) -> None:
        self._draughtsman = draughtsman
        self._camera = camera
        self._painter = painter
        self._diagrams = ArtifactFolder(root, "diagrams")
        self._pages = ArtifactFolder(root, "pages")
        self._paintings = ArtifactFolder(root, "paintings")

    @property
    def tools(self) -> frozenset[str]:
        """Tools that can work here."""
        able = {
            "draw_diagram": True,
            "screenshot_page": self._camera,
            "generate_image": self._painter,
        }
        return frozenset(name for name, there in able.items() if there is not None)

    async def aclose(self) -> None:
        """Close the connections to whoever generates pictures."""
        if self._painter is not None:
            await self._painter.aclose()

    async def diagram(self, source: str, title: str, progress: Progress) -> Artifact:
        """Draw a diagram and keep it."""
        try:
            data = await self._draughtsman.draw(source)
        except DrawingError as error:
            raise NotMadeError(str(error)) from None
        progress()
        return await _kept(self._diagrams, data, "image/png", title)

    async def page(self, url: str, progress: Progress, *, full: bool) -> PageShot:
        """Take a picture of a page and keep it."""
        if self._camera is None:
            raise NotMadeError(UNOFFERED)
        try:
            shot = await self._camera.take(url, progress, full=full)
        except CameraError as error:
            raise NotMadeError(str(error)) from None
        # Never named after the page: its name is as much a stranger's as its words.
        kept = await _kept(self._pages, shot.data, shot.media_type, "page")
        return PageShot(kept, shot.status, shot.whole, shot.cut)

    async def painting(self, prompt: str, shape: Shape, progress: Progress) -> Artifact:
        """Have a picture generated and keep it."""
        if self._painter is None:
            raise NotMadeError(UNOFFERED)
        try:
            data, media_type = await self._painter.paint(prompt, shape, progress)
        except PaintingError as error:
            raise NotMadeError(str(error)) from None
        return await _kept(self._paintings, data, media_type, "picture")


async def _kept(folder: ArtifactFolder, data: bytes, media_type: str, title: str) -> Artifact:
    try:
        return await folder.keep(data, media_type, title)
    except OSError:
        raise NotMadeError(UNKEPT) from None
