"""Films for tests, made by a real ffmpeg and kept for the test run."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

PATTERN = "testsrc2=size={size}:rate={rate}:duration={seconds}"
H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
VP9 = ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8")


@dataclass(frozen=True, slots=True)
class Studio:
    """Makes each film once."""

    program: Path
    folder: Path
    made: dict[tuple[str, ...], bytes] = field(default_factory=dict[tuple[str, ...], bytes])

    def film(self, *arguments: str, form: str = "mp4") -> bytes:
        """What ffmpeg makes of these arguments."""
        key = (*arguments, form)
        if key not in self.made:
            place = self.folder / f"{len(self.made)}.{form}"
            command = [str(self.program), "-nostdin", "-v", "error", "-y", *arguments, str(place)]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, ended.stderr
            self.made[key] = place.read_bytes()
        return self.made[key]

    def pattern(
        self, *codec: str, size: str = "64x48", rate: int = 10, seconds: float = 2, form: str = "mp4", through: str = ""
    ) -> bytes:
        """A moving pattern; ``through`` is a filter that it passes."""
        source = PATTERN.format(size=size, rate=rate, seconds=seconds) + (f",{through}" if through else "")
        return self.film("-f", "lavfi", "-i", source, *(codec or H264), form=form)

    def colours(
        self,
        *names: str,
        seconds: float = 0.5,
        codec: tuple[str, ...] = H264,
        form: str = "mp4",
        through: str = "null",
        more: tuple[str, ...] = (),
    ) -> bytes:
        """One plain colour after another; ``more`` is a further input and what is taken of it."""
        inputs = [part for name in names for part in ("-f", "lavfi", "-i", f"color={name}:s=64x48:r=10:d={seconds}")]
        joined = "".join(f"[{at}:v]" for at in range(len(names))) + f"concat=n={len(names)}:v=1,{through}[out]"
        return self.film(*inputs, *more[:4], "-filter_complex", joined, "-map", "[out]", *codec, *more[4:], form=form)

    def sound(self, form: str) -> bytes:
        """A tone alone."""
        codec = "libopus" if form == "webm" else "aac"
        return self.film("-f", "lavfi", "-i", "sine=duration=1", "-c:a", codec, form=form)
