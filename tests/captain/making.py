"""A workshop that makes what a test tells it to."""

from clankie_captain.core.artifacts import Made, artifact
from clankie_captain.core.painting import Shape
from clankie_captain.ports import NotMadeError, PageShot, Progress, Workshop
from clankie_settings.wire.attachment import Artifact


class ToldWorkshop(Workshop):
    """Makes a file of the words that it is given, or none for ``reason``; ``asked`` holds what it was asked for."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.made: list[Artifact] = []
        self.asked: list[tuple[str, ...]] = []
        self.status: int | None = 200
        self.whole, self.cut = True, False

    @property
    def tools(self) -> frozenset[str]:
        return frozenset({"draw_diagram"})

    async def diagram(self, source: str, title: str) -> Artifact:
        return self._make("diagrams", source, title)

    async def page(self, url: str, progress: Progress, *, full: bool) -> PageShot:
        self.asked.append((url, "full" if full else "window"))
        progress()
        return PageShot(self._make("pages", url, "page"), self.status, self.whole, self.cut)

    async def painting(self, prompt: str, shape: Shape, progress: Progress) -> Artifact:
        self.asked.append((prompt, shape))
        progress()
        return self._make("paintings", prompt, "picture")

    async def file(self, path: str) -> str:
        self.asked.append((path,))
        if self.reason is not None:
            raise NotMadeError(self.reason)
        return f"what stands in {path}"

    def _make(self, folder: Made, content: str, title: str) -> Artifact:
        if self.reason is not None:
            raise NotMadeError(self.reason)
        self.made.append(artifact(folder, content.encode(), "image/png", title))
        return self.made[-1]
