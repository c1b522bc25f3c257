"""``python -m clankie_captain.media.worker``: decode one source and end. An errand on stdin, what came of it on stdout.

It is a process of its own because it looks at what strangers posted: it has neither the captain's memory nor its
environment, bounds itself before it looks, and dies with everything that it started. Source: IMG-3, IMG-5.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Final

from clankie_captain.media import animations, confinement, faults, parcels, stills
from clankie_captain.media.parcels import Errand, Fault, Shot
from clankie_settings import bounds

FILM: Final = "video"
"""The form of ``core.pictures`` that ffmpeg takes apart."""


def decoded(errand: Errand, data: bytes) -> list[Shot] | Fault:
    """The pictures that an errand asks for, or why there are none. Never raises for what the bytes hold."""
    try:
        return _shots(errand, data)
    except (faults.TooLargeError, MemoryError):
        return "too_large"
    except faults.OutOfTimeError:
        return "timed_out"
    except faults.NoFilmError:
        return "unsupported"
    except faults.NoProgramError:
        return "unavailable"
    except Exception:  # noqa: BLE001 -- decoders raise anything at all for bytes that are broken
        return "broken"


def _shots(errand: Errand, data: bytes) -> list[Shot] | Fault:
    if errand.form == FILM:
        if errand.folder is None or errand.ffmpeg is None:
            return "unavailable"
        # Pictures need nothing of ffmpeg, and every worker pays for what it imports.
        from clankie_captain.media import frames

        return frames.film_frames(errand, data, Path(errand.folder), errand.ffmpeg)
    if errand.form not in stills.PLUGINS:
        return "unsupported"
    if animations.moving(data, errand.form):
        return animations.frames(data, errand.form, errand.most)
    confinement.forgive()
    return [stills.still(data, errand.form)]


def main() -> None:
    """Serve one errand; what is left of the group then ends with this process."""
    confinement.heed()
    sys.stdout.buffer.write(parcels.READY)
    sys.stdout.buffer.flush()
    errand, data = parcels.read_errand(sys.stdin.buffer)
    film = errand.form == FILM
    confinement.confine(bounds.FILM_MEMORY if film else bounds.DECODE_MEMORY, bounds.DECODE_TIME)
    confinement.allow(errand.seconds)
    try:
        result = decoded(errand, data)
        confinement.forgive()
        for piece in parcels.outcome(result):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    finally:
        if film:
            # A child that ffmpeg should not have would otherwise live on; the captain has its answer, or is gone.
            os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
