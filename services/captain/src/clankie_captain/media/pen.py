"""``python -m clankie_captain.media.pen``: draw one diagram and end. The library's language on stdin, a PNG on stdout.

It is a process of its own, for the library runs a script engine: it bounds itself before it draws. Source: ART-2.
"""

import re
import sys
from typing import Final

from clankie_captain.media import confinement
from clankie_settings import bounds

SCALE: Final = 2.0
"""Pixels for each unit of the drawing, so that small letters can be read."""

_PAPER: Final = "#ffffff"
_EXTENT: Final = re.compile(r'viewBox="\S+ \S+ ([0-9.]+) ([0-9.]+)"')


def drawn(source: str) -> bytes:
    """The drawing as a PNG whose sides are within bounds.

    Raises:
        Exception: Whatever the library has against the text.
    """
    # Only here: the captain never loads the engine, and the process is bounded by now.
    import mermaidx  # pyright: ignore[reportMissingTypeStubs]

    drawing = mermaidx.render(source)  # pyright: ignore[reportUnknownMemberType]
    extent = _EXTENT.search(drawing.svg())
    longest = max(float(side) for side in extent.groups()) if extent is not None else bounds.DRAWING_SIDE
    return drawing.png(scale=min(SCALE, (bounds.DRAWING_SIDE - 1) / longest), background=_PAPER)


def main() -> None:
    """Draw what is on stdin."""
    confinement.confine(bounds.DRAWING_MEMORY, bounds.DRAWING_TIME)
    sys.stdout.buffer.write(drawn(sys.stdin.buffer.read().decode()))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
