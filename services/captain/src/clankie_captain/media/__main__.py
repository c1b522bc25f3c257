"""``python -m clankie_captain.media``: say as JSON whether films can be taken apart, and by what. Source: OPS-9."""

import json
import sys

from clankie_captain.media.film_program import film_program, lacking


def main() -> int:
    """Print where ffmpeg is, whether it runs, and which decoders it lacks."""
    program = film_program()
    lacks = lacking(program) if program else None
    print(json.dumps({"program": str(program) if program else None, "runs": lacks is not None, "lacks": lacks or []}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
