"""A workshop that makes what a test tells it to."""

from clankie_captain.core.artifacts import artifact
from clankie_captain.ports import NotMadeError, Workshop
from clankie_settings.wire.attachment import Artifact


class ToldWorkshop(Workshop):
    """Makes a file of the words that it is given, or none for ``reason``."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.made: list[Artifact] = []

    @property
    def tools(self) -> frozenset[str]:
        return frozenset({"draw_diagram"})

    async def diagram(self, source: str, title: str) -> Artifact:
        return self._make("diagrams", source, title)

    def _make(self, folder: str, content: str, title: str) -> Artifact:
        if self.reason is not None:
            raise NotMadeError(self.reason)
        self.made.append(artifact(folder, content.encode(), "image/png", title))
        return self.made[-1]
