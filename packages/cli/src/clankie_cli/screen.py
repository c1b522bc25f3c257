"""What a person reads: one merged log, a line a happening, with the program's name in front."""

import json
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TextIO, cast

from clankie_cli.plain import plain
from clankie_settings.clock import Clock

COLOURS: Final = {"stage": "35", "captain": "36", "bridge": "34", "clankie": "32"}
"""Terminal colours by program (ECMA-48)."""

_TIMES = ("at", "timestamp")
_UNSHOWN = {*_TIMES, "level", "event", "service"}
_LOUD = {"warning": "33", "error": "31", "critical": "31"}


class Screen:
    """Standard output, or another stream; coloured on a terminal unless ``NO_COLOR`` is set."""

    def __init__(self, clock: Clock, env: Mapping[str, str], stream: TextIO | None = None) -> None:
        self._clock = clock
        self._stream = stream or sys.stdout
        self._coloured = self._stream.isatty() and not env.get("NO_COLOR")

    def say(self, text: str, level: str = "info") -> None:
        """A line of the command's own."""
        self._write("clankie", self._clock.now(), self._tinted(text, _LOUD.get(level)))

    def show(self, text: str) -> None:
        """Lines as they stand."""
        print(text, file=self._stream, flush=True)

    def relay(self, name: str, line: str) -> None:
        """A line of a program: JSON is made readable, anything else is shown without its control characters."""
        record = record_of(line)
        if not record:
            self._write(name, self._clock.now(), plain(line))
            return
        event, fields = plain(str(record.get("event", ""))), _fields(record)
        loud = _LOUD.get(str(record.get("level")))
        self._write(name, self._moment(record), " ".join([self._tinted(event, loud), *fields]))

    def _write(self, name: str, at: datetime, text: str) -> None:
        shown = self._tinted(f"{name:<7}", COLOURS.get(name))
        self.show(f"{at.astimezone():%H:%M:%S} {shown} {text}")

    def _moment(self, record: Mapping[str, Any]) -> datetime:
        for key in _TIMES:
            try:
                return datetime.fromisoformat(str(record[key]))
            except (KeyError, ValueError):
                continue
        return self._clock.now()

    def _tinted(self, text: str, colour: str | None) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._coloured and colour else text


def record_of(line: str) -> dict[str, Any]:
    """The fields of a line that is a JSON object; of any other, none."""
    try:
        record: Any = json.loads(line) if line.startswith("{") else None
    except ValueError:
        return {}
    return cast("dict[str, Any]", record) if isinstance(record, dict) else {}


def _fields(record: Mapping[str, Any]) -> list[str]:
    shown = ((key, value) for key, value in record.items() if key not in _UNSHOWN and value is not None)
    return [plain(f"{key}={value if isinstance(value, str) else json.dumps(value)}") for key, value in shown]
