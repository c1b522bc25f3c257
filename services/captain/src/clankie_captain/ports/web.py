"""What finds things on the web for tools; ``media`` and ``agent`` keep these promises."""

from collections.abc import Callable
from typing import Protocol

from clankie_captain.core.run import Usage
from clankie_captain.core.searching import Found
from clankie_captain.ports.workshop import Progress


class NotFoundError(Exception):
    """A page or a search came to nothing; the text says why, in words for the model and for nobody else."""


class Searcher(Protocol):
    """Whoever searches the web. Source: SEC-3."""

    async def search(self, query: str, progress: Progress, spent: Callable[[Usage], None]) -> Found:
        """What is found; ``spent`` is told what it costs in tokens, where it costs any.

        Raises:
            NotFoundError: It could not be searched.
        """
        ...

    async def aclose(self) -> None:
        """Close what is open."""
        ...


class Web(Protocol):
    """The public web, read and searched; all that comes of it is fenced. Source: SEC-3, CTX-4."""

    @property
    def tools(self) -> frozenset[str]:
        """The tools that can work on this machine, with these settings."""
        ...

    async def read(self, url: str, start: int, progress: Progress) -> str:
        """A stretch of a page's text, from its character ``start`` on.

        Raises:
            NotFoundError: It cannot be read, or its address is not to be reached.
        """
        ...

    async def search(self, query: str, progress: Progress, spent: Callable[[Usage], None]) -> str:
        """The pages that a search finds; ``spent`` is told what it costs in tokens.

        Raises:
            NotFoundError: It could not be searched.
        """
        ...
