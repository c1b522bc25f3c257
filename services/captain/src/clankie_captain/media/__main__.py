"""``python -m clankie_captain.media``: say as JSON whether films can be taken apart, and by what. Source: OPS-9.

With ``pages SANDBOX PROGRAM`` (``on`` or ``off``, and a path or nothing) it starts a browser, and says whether web
pages can be shown; with ``search PROVIDER ASK``, who would search the web (``PROVIDER`` is a model whose provider can,
or nothing), and where ``ASK`` is not empty, whether a service answers.
"""

import asyncio
import json
import sys
from pathlib import Path

from clankie_captain.core.searching import remedy
from clankie_captain.media.camera import Camera
from clankie_captain.media.chromium import Chromium, chromium
from clankie_captain.media.film_program import film_program, lacking
from clankie_captain.media.furnishing import REMEDIES
from clankie_captain.media.web import chosen, tried
from clankie_settings.environment import captain_settings, process_environment


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


def search(provider: str, ask: str) -> dict[str, object]:
    """Who searches, and why it does not work."""
    settings = captain_settings(process_environment())
    way = chosen(settings, provider=bool(provider))
    if way is None:
        return {"way": None, "remedy": remedy(settings.search)}
    asked = bool(ask) and way != "provider"
    return {"way": way, "asked": asked, "fault": asyncio.run(tried(settings)) if asked else None}


def main() -> int:
    """Print what was asked for."""
    match sys.argv[1:]:
        case ["pages", sandbox, program]:
            print(json.dumps(pages(sandbox, program)))
        case ["search", provider, ask]:
            print(json.dumps(search(provider, ask)))
        case _:
            print(json.dumps(films()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
