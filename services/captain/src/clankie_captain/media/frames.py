"""Films: where their frames stand in time, and a few of them as PNG, by ffmpeg. Runs in a worker, on a file of its own.

ffmpeg-python makes the arguments; the process is ours, since its own has neither bound nor group. Nothing is left to
ffmpeg's choice: the container is named, protocols and decoders are listed, and it reads one file. Source: IMG-5.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# ffmpeg-python has no types.

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import ffmpeg

from clankie_captain.media import stills
from clankie_captain.media.faults import NoFilmError, NoProgramError, OutOfTimeError
from clankie_captain.media.parcels import Errand, Shot
from clankie_settings import bounds

DECODERS: Final = "h264,hevc,vp8,vp9,libvpx,libvpx-vp9,libdav1d,libaom-av1,av1,mpeg4,mjpeg"
"""What Discord and its proxy serve films in."""

PACKETS: Final = 20_000
"""Packets of a film that are counted: 60 s at more than 300 a second."""

_MATROSKA: Final = b"\x1aE\xdf\xa3"
_EARLIER: Final = 0.001
_QUIET: Final = ("-nostdin", "-hide_banner", "-loglevel", "quiet", "-threads", "2", "-filter_threads", "1")


def film_frames(errand: Errand, data: bytes, folder: Path, program: str) -> list[Shot]:
    """At most as many frames as are asked for of the first minute, in their order, inside 1,024 x 1,024 pixels.

    The first and the last come first, so that they are there when time runs out.

    Raises:
        NoFilmError: There is no film in it.
        NoProgramError: ffmpeg does not run.
        OutOfTimeError: Not even one frame came in time.
        ValueError: No frame can be decoded.
    """
    film = folder / "film"
    film.write_bytes(data)
    seen: dict[float, Shot] = {}
    try:
        _gather(Program(program, film, data), errand, seen)
    except OutOfTimeError:
        if not seen:
            raise
    finally:
        # The captain removes the folder too, unless it died meanwhile.
        shutil.rmtree(folder, ignore_errors=True)
    if not seen:
        raise ValueError("no frame")
    return [seen[at] for at in sorted(seen)]


class Program:
    """One film and the ffmpeg that looks at it."""

    def __init__(self, program: str, film: Path, data: bytes) -> None:
        self._program = program
        self._film = film
        self._container = "matroska" if data.startswith(_MATROSKA) else "mov"

    def times(self, kind: str) -> list[float]:
        """When each packet of the film (``V``) or the sound (``a``) is shown, in seconds, in order. Decodes nothing."""
        listing = self._input()[f"{kind}:0"].output(
            "pipe:1", format="framecrc", codec="copy", t=bounds.FILM_SPAN.total_seconds(), frames=PACKETS
        )
        return times(self._run(listing).decode("ascii", "replace"))

    def frame(self, at: float | None, within: float | None = None) -> bytes:
        """The frame that is shown at this second, as PNG; without one, the first that can be decoded.

        Empty where there is none, or where it takes more than ``within`` seconds.
        """
        seek = {} if at is None else {"ss": f"{max(0.0, at - _EARLIER):.6f}"}
        shown = self._input(**seek)["V:0"].filter("scale", w=_across("iw*sar"), h=_across("ih")).filter("setsar", 1)
        return self._run(
            shown.output("pipe:1", format="image2pipe", vcodec="png", vframes=1, compression_level=1), within
        )

    def _input(self, **more: str) -> Any:
        return ffmpeg.input(
            str(self._film),
            format=self._container,
            protocol_whitelist="file,pipe",
            codec_whitelist=DECODERS,
            max_pixels=bounds.FILM_PIXELS,
            threads=2,
            **more,
        )

    def _run(self, output: Any, within: float | None = None) -> bytes:
        """What ffmpeg writes. It goes to a file, since that is bounded, and no child of ffmpeg's can hold it open."""
        command: list[str] = [self._program, *_QUIET, *output.get_args()]
        with tempfile.TemporaryFile(dir=self._film.parent) as written:
            try:
                process = subprocess.Popen(  # noqa: S603 -- the arguments are ours and no shell reads them
                    command, stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.DEVNULL
                )
            except OSError as error:
                raise NoProgramError from error
            try:
                process.wait(within)
            except subprocess.TimeoutExpired:
                return b""
            finally:
                # Time may be over, or the captain wants us to end: nothing that was started stays.
                process.kill()
                process.wait()
            written.seek(0)
            return written.read()


def times(listing: str) -> list[float]:
    """When packets are shown, in seconds and in order, out of what ffmpeg's ``framecrc`` writes of one stream."""
    base, found = 0.0, set[int]()
    for line in listing.splitlines():
        if line.startswith("#tb 0:"):
            over, _, under = line.removeprefix("#tb 0:").strip().partition("/")
            base = int(over) / int(under)
        elif line and not line.startswith("#"):
            shown = line.split(",")[2].strip()
            found.add(int(shown))
    return [base * each for each in sorted(found) if each >= 0]


def moments(shown: Sequence[float], most: int) -> list[float]:
    """At most ``most`` of some times in order: the first, the last, and those nearest to even steps between."""
    if len(shown) <= most or most < 2:
        return list(shown[:most])
    first, last = shown[0], shown[-1]
    steps = (first + (last - first) * at / (most - 1) for at in range(most))
    return sorted({min(shown, key=lambda each: abs(each - step)) for step in steps})


def _gather(program: Program, errand: Errand, seen: dict[float, Shot]) -> None:
    shown = program.times("V")
    if not shown and program.times("a"):
        raise NoFilmError
    wanted = moments(shown, errand.most)
    for at in [*wanted[:1], *wanted[-1:], *wanted[1:-1]]:
        # The end may lie far behind the last whole picture of a film: too far costs the end, and not the middle.
        within = errand.seconds / 2 if at == wanted[-1] else None
        if at not in seen and (picture := program.frame(at, within)):
            seen[at] = _shot(picture)
    if not seen and (picture := program.frame(None)):
        seen[0.0] = _shot(picture)


def _shot(picture: bytes) -> Shot:
    with stills.opened(picture, "png") as image:
        image.load()
        return stills.encoded(stills.plain(image, bounds.FRAME_SIDE), lossless=True, moving=True)


def _across(length: str) -> str:
    """A side as ffmpeg computes it: in proportion, inside the bound, and never nothing."""
    side = bounds.FRAME_SIDE
    return f"max(1,{length}*min(1,min({side}/(iw*sar),{side}/ih)))"
