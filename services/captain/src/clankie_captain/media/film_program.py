"""Which ffmpeg takes films apart: the machine's own, or the one that comes with a package. Source: IMG-5."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

DECODERS: Final = ("h264", "hevc", "vp8", "vp9", "av1")
"""What films on Discord are made of; some distributions leave the first two out."""

_WITHIN_S: Final = 10.0
_FLAGS: Final = re.compile(r"^ V\S{5} (\S+)", re.MULTILINE)


def film_program(path: str | None = None) -> Path | None:
    """Where ffmpeg is: on ``path`` (by default the process's own), else in imageio-ffmpeg; None where there is none.

    The machine's own comes first, since it is the one that gets security updates.
    """
    found = shutil.which("ffmpeg", path=path)
    if found is not None:
        return Path(found).absolute()
    try:
        # An extra that need not be there.
        from imageio_ffmpeg import get_ffmpeg_exe  # pyright: ignore[reportMissingTypeStubs]  # it has none

        return Path(get_ffmpeg_exe()).absolute()
    except (ImportError, RuntimeError, OSError):
        return None


def lacking(program: Path) -> tuple[str, ...] | None:
    """Which of ``DECODERS`` an ffmpeg has not; None where it does not run."""
    try:
        said = subprocess.run(  # noqa: S603 -- the installed ffmpeg, with arguments of ours
            [program, "-hide_banner", "-decoders"],
            stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=_WITHIN_S,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    there = set(_FLAGS.findall(said.stdout.decode("utf-8", "replace")))
    return tuple(each for each in DECODERS if each not in there)
