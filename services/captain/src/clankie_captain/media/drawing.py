"""Diagrams drawn as pictures, in a process of their own. Source: ART-2."""

import sys
from datetime import timedelta
from typing import Final

from clankie_captain.core.pictures import sniff
from clankie_captain.media.leash import ProgramError, output
from clankie_settings import bounds

COMMAND: Final = (sys.executable, "-I", "-B", "-m", "clankie_captain.media.pen")
"""What draws: a process of this very Python."""


class DrawingError(Exception):
    """A diagram could not be drawn; the text says why, in words for the model."""


class Draughtsman:
    """Draws diagrams, one process each.

    Args:
        within: Wall time of one drawing.
        command: What draws.
    """

    def __init__(self, within: timedelta = bounds.DRAWING_TIME, command: tuple[str, ...] = COMMAND) -> None:
        self._within = within
        self._command = command

    async def draw(self, source: str) -> bytes:
        """The drawing as a PNG.

        Raises:
            DrawingError: It cannot be drawn, or is too large.
        """
        try:
            data = await output(self._command, source.encode(), bounds.ARTIFACT_BYTES, self._within)
        except TimeoutError:
            raise DrawingError("it took too long; draw fewer boxes and arrows") from None
        except (OSError, ProgramError):
            raise DrawingError("the drawing program failed; draw something simpler") from None
        if sniff(data) != "png":
            raise DrawingError("the drawing program failed; draw something simpler")
        return data
