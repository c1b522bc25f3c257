"""The programs of a house: started, read, and ended with the eval."""

import asyncio
import contextlib
import socket
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, Self

from clankie_cli.leash import leash
from clankie_settings.clock import Clock

START_WITHIN: Final = timedelta(seconds=90)
"""How long a process may take to start on a loaded machine."""

LOOK_EVERY: Final = timedelta(milliseconds=50)
LINE_BYTES: Final = 1024 * 1024
LINES: Final = 20_000


class HouseError(Exception):
    """Something in the house did not do its part; the message holds no words of a room."""


class Process:
    """One running program and what it wrote.

    Attributes:
        name: What errors call it.
        lines: Its output so far.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self.lines: list[str] = []
        self._process = process
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def started(cls, name: str, arguments: tuple[str, ...], env: Mapping[str, str], folder: Path) -> Self:
        """Start Python with these arguments; it ends when the eval does, however that ends."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            cwd=folder,
            env={**env, "PYTHONUNBUFFERED": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LINE_BYTES,
            preexec_fn=leash(),
        )
        return cls(name, process)

    @property
    def ended(self) -> bool:
        """Whether it is gone."""
        return self._process.returncode is not None

    async def kill(self) -> None:
        """Kill it at once, and read what it wrote last."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._reading
        await self._process.wait()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            if len(self.lines) < LINES:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))


async def said(process: Process, part: str, clock: Clock) -> str:
    """The first line with this in it, once it was written.

    Raises:
        HouseError: It ends, or takes too long.
    """
    deadline = clock.elapsed() + START_WITHIN
    while True:
        if found := [line for line in process.lines if part in line]:
            return found[0]
        if process.ended or clock.elapsed() > deadline:
            last = process.lines[-1] if process.lines else "it wrote nothing"
            raise HouseError(f"the {process.name} does not start: {last[:300]}")
        await clock.sleep(LOOK_EVERY)


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        return door.getsockname()[1]
