"""What makes files for tools; ``media`` keeps this promise."""

from typing import Protocol

from clankie_settings.wire.attachment import Artifact


class NotMadeError(Exception):
    """A file could not be made; the text says why, in words for the model, and holds nothing of the outside."""


class Workshop(Protocol):
    """Makes files and keeps each in its own tool's folder. Source: ART-2."""

    @property
    def tools(self) -> frozenset[str]:
        """The tools whose files can be made on this machine, with these settings."""
        ...

    async def diagram(self, source: str, title: str) -> Artifact:
        """Draw a diagram from the drawing library's own language.

        Raises:
            NotMadeError: It could not be drawn or kept.
        """
        ...
