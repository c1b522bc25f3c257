"""``python -m clankie_captain.media``: say as JSON whether films can be taken apart, and by what. Source: OPS-9.

With ``pages SANDBOX PROGRAM`` (``on`` or ``off``, and a path or nothing) it starts a browser, and says whether web
pages can be shown.
"""

import asyncio
import json
import sys
from pathlib import Path

from clankie_captain.media.camera import Camera
from clankie_captain.media.chromium import Chromium, chromium
from clankie_captain.media.film_program import film_program, lacking
from clankie_captain.media.furnishing import REMEDIES


def films() -> dict[str, object]:
    """Where ffmpeg is, whether it runs, and which decoders it lacks."""
    program = film_program()
    lacks = lacking(program) if program else None
    return {"program": str(program) if program else None, "runs": lacks is not None, "lacks": lacks or []}


def pages(sandbox: str, program: str) -> dict[str, object]:
    """Where Chromium is and whether it starts, or what to do to have one."""
    found = chromium(Path(program) if program else None, sandbox=sandbox == "on")
    if not isinstance(found, Chromium):
        return {"remedy": REMEDIES[found]}
    return {"program": str(found.program), "starts": asyncio.run(Camera(found).starts())}


def main() -> int:
    """Print what was asked for."""
    match sys.argv[1:]:
        case ["pages", sandbox, program]:
            print(json.dumps(pages(sandbox, program)))
        case _:
            print(json.dumps(films()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
