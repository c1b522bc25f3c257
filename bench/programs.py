"""The programs that are measured, each a process of its own."""

import asyncio
import os
import re
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import psutil

from clankie_settings.clock import SystemClock

PATIENCE_S = 60.0
"""How long a program may take to do something that should take a moment."""

_LINE_BYTES = 4 * 1024 * 1024
_LOOK = timedelta(milliseconds=20)


class BenchError(Exception):
    """A program did not do its part; the message holds the end of its log."""


@dataclass(frozen=True, slots=True)
class Program:
    """A running program."""

    process: Process
    log: Path

    def cpu_s(self) -> float:
        """Seconds of processor time that all its threads have used."""
        spent = psutil.Process(self.process.pid).cpu_times()
        return spent.user + spent.system

    async def line(self) -> str:
        """Its next line of output.

        Raises:
            BenchError: It ended, or said nothing.
        """
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(PATIENCE_S):
                said = await self.process.stdout.readline()
        except TimeoutError:
            raise self.fault() from None
        if not said:
            raise self.fault()
        return said.decode().rstrip("\n")

    async def address(self) -> str:
        """The address that its first line names."""
        said = await self.line()
        found = re.search(r"http://\S+", said)
        if found is None:
            raise self.fault()
        return found.group()

    def tell(self, line: str) -> None:
        """Give it a line of input."""
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")

    def fault(self) -> BenchError:
        """What can be said about a program that failed."""
        return BenchError(f"{self.log.stem} failed; the end of its log:\n{self.log.read_text()[-2_000:]}")


@asynccontextmanager
async def program(folder: Path, name: str, *arguments: str, **settings: str) -> AsyncGenerator[Program]:
    """Run Python with these arguments and settings until the block is left; nobody's own settings reach it."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), **settings}
    log = folder / f"{name}.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, cwd=folder, env=env, stdin=PIPE, stdout=PIPE, stderr=errors, limit=_LINE_BYTES
        )
    try:
        yield Program(process, log)
    finally:
        await _end(process)


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        return door.getsockname()[1]


async def until(holds: Callable[[], Awaitable[bool]], failing: Program) -> None:
    """Return once something holds.

    Raises:
        BenchError: The program that should bring it about has ended, or does not.
    """
    clock = SystemClock()
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await holds():
                if failing.process.returncode is not None:
                    raise failing.fault()
                await clock.sleep(_LOOK)
    except TimeoutError:
        raise failing.fault() from None


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(15):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
