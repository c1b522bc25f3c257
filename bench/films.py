"""How long the frames of a film take, and what they cost in processor time."""

import resource
import subprocess
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median

from bench.figures import Row, spread
from bench.programs import PATIENCE_S, BenchError
from clankie_captain.core.pictures import Decoded
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.film_program import film_program
from clankie_settings import bounds
from clankie_settings.clock import SystemClock


async def frames(rounds: int, length_s: int, say: Callable[[str], None]) -> Row:
    """Four frames of a film in 1,280 x 720 at 30 a second, from bytes to parts.

    Raises:
        BenchError: The film cannot be made, or has not four frames.
    """
    name, program = f"frames of a {length_s} s 720p film", film_program()
    if program is None:
        say("no ffmpeg: no film is taken apart")
        return Row(name, 0, "no ffmpeg")
    film = _film(program, length_s)
    # As the captain has it, but for the time: a busy machine would otherwise be measured by what it left out.
    patience = timedelta(seconds=PATIENCE_S)
    decoder, now = WorkerDecoder(program, within=patience, gathering=patience), SystemClock().elapsed
    took, spent = list[float](), list[float]()
    for _ in range(rounds):
        began, before = now(), _spent_s()
        found = await decoder.decode(film, bounds.PICTURE_FRAMES)
        took.append((now() - began).total_seconds() * 1e3)
        spent.append((_spent_s() - before) * 1e3)
        if not isinstance(found, Decoded) or len(found.parts) != bounds.PICTURE_FRAMES:
            raise BenchError(f"four frames were expected of a film: {type(found).__name__}")
    say(f"frames of a film: {median(took):.0f} ms")
    times = spread(took)
    shown = f"{times.middle:.0f} ms ({times.least:.0f}-{times.most:.0f}), {median(spent):.0f} ms of processor"
    return Row(name, times.middle, shown, bounds.FRAMES_TIME.total_seconds() * 1e3, " ms")


def _film(program: Path, length_s: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "film.mp4"
        ended = subprocess.run(
            [
                *(
                    str(program),
                    "-nostdin",
                    "-v",
                    "error",
                    "-f",
                    "lavfi",
                    "-i",
                    f"testsrc2=s=1280x720:r=30:d={length_s}",
                ),
                *("-c:v", "libx264", "-preset", "veryfast", "-b:v", "2M", "-pix_fmt", "yuv420p", str(film)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            raise BenchError(f"ffmpeg makes no film: {ended.stderr[-300:]}")
        return film.read_bytes()


def _spent_s() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime
