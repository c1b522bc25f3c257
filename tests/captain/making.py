"""A workshop, a machine and servers that do what a test tells them to."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from clankie_captain.core.artifacts import Made, artifact
from clankie_captain.core.grants import MACHINE
from clankie_captain.core.painting import Shape
from clankie_captain.core.servers import ServerTool
from clankie_captain.ports import Machine, NotDoneError, NotMadeError, PageShot, Progress, Ran, Workshop
from clankie_captain.ports.servers import NotServedError, Servers
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

    async def diagram(self, source: str, title: str, progress: Progress) -> Artifact:
        progress()
        return self._make("diagrams", source, title)

    async def page(self, url: str, progress: Progress, *, full: bool) -> PageShot:
        self.asked.append((url, "full" if full else "window"))
        progress()
        return PageShot(self._make("pages", url, "page"), self.status, self.whole, self.cut)

    async def painting(self, prompt: str, shape: Shape, progress: Progress) -> Artifact:
        self.asked.append((prompt, shape))
        progress()
        return self._make("paintings", prompt, "picture")

    def _make(self, folder: Made, content: str, title: str) -> Artifact:
        if self.reason is not None:
            raise NotMadeError(self.reason)
        self.made.append(artifact(folder, content.encode(), "image/png", title))
        return self.made[-1]


class ToldMachine(Machine):
    """Does as if, or nothing for ``reason``; ``asked`` holds what it was asked, ``ran`` what becomes of commands."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.asked: list[tuple[object, ...]] = []
        self.ran = Ran(0, None, "what it printed")

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(MACHINE)

    async def run(self, command: str, progress: Progress, within: timedelta) -> Ran:
        self._ask(command, within)
        progress()
        return self.ran

    async def read(self, path: str, offset: int) -> str:
        self._ask(path, offset)
        return f"what stands in {path}"

    async def write(self, path: str, text: str) -> None:
        self._ask(path, text)

    def _ask(self, *asked: object) -> None:
        self.asked.append(asked)
        if self.reason is not None:
            raise NotDoneError(self.reason)


class ToldServers(Servers):
    """Answers with ``answer``, or not at all for ``reason``; ``known`` are its tools, ``asked`` what it was asked."""

    def __init__(self, *known: ServerTool) -> None:
        self.known = known
        self.answer = "what it found"
        self.reason: str | None = None
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def tools(self) -> tuple[ServerTool, ...]:
        return self.known

    def serves(self, name: str) -> bool:
        return any(name.startswith(f"{tool.server}_") for tool in self.known)

    async def call(self, tool: ServerTool, arguments: Mapping[str, Any], progress: Progress) -> str:
        self.asked.append((tool.tool, dict(arguments)))
        progress()
        if self.reason is not None:
            raise NotServedError(self.reason)
        return self.answer
