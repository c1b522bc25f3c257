"""What makes files for tools; ``media`` keeps this promise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from clankie_captain.core.painting import Shape
from clankie_settings.wire.attachment import Artifact

Progress = Callable[[], None]
"""Told at each step of long work: a sign of life. Source: FAIL-3."""


class NotMadeError(Exception):
    """A file could not be made; the text says why, in words for the model and for nobody else."""


@dataclass(frozen=True, slots=True)
class PageShot:
    """A picture of a web page.

    ``status`` is what the page's server answered (None where it is not known), ``whole`` whether the page had loaded,
    ``cut`` whether the page goes on below the picture.
    """

    artifact: Artifact
    status: int | None
    whole: bool
    cut: bool


class Workshop(Protocol):
    """Makes files and keeps each in its own tool's folder. Source: ART-2."""

    @property
    def tools(self) -> frozenset[str]:
        """The tools whose files can be made on this machine, with these settings."""
        ...

    async def diagram(self, source: str, title: str, progress: Progress) -> Artifact:
        """Draw a diagram from the drawing library's own language.

        Raises:
            NotMadeError: It could not be drawn or kept.
        """
        ...

    async def page(self, url: str, progress: Progress, *, full: bool) -> PageShot:
        """Take a picture of a web page's window, or of the whole page.

        Raises:
            NotMadeError: It could not be shown or kept, or its address is not to be reached.
        """
        ...

    async def painting(self, prompt: str, shape: Shape, progress: Progress) -> Artifact:
        """Have a picture generated.

        Raises:
            NotMadeError: It was refused, or could not be made or kept.
        """
        ...
