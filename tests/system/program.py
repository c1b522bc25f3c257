"""One real process, with every line that it says."""

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

PATIENCE_S = 40.0
"""How long a condition is waited for, in seconds; a loaded machine is slow."""

LEASHED = str(Path(__file__).with_name("leashed.py"))
LAST_LINES = 25


class Program:
    """A running process.

    Attributes:
        name: What failures call it.
        lines: Everything it has written so far, standard output and error together.
        ended: Done when the process is gone and its output is read.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self.lines: list[str] = []
        self._process = process
        self._moved = asyncio.Condition()
        self._silent = False
        self.ended = asyncio.create_task(self._read(), name=name)

    @classmethod
    async def started(
        cls, name: str, arguments: Sequence[str], env: Mapping[str, str], folder: Path, *, reads: bool = False
    ) -> Self:
        """Start Python with these arguments; one that ``reads`` can be told lines."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            LEASHED,
            *arguments,
            cwd=folder,
            env={**env, "PYTHONUNBUFFERED": "1"},
            stdin=asyncio.subprocess.PIPE if reads else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=1024 * 1024,
        )
        return cls(name, process)

    @property
    def tail(self) -> str:
        """The last lines, for whoever has to find out what happened."""
        return "\n".join(self.lines[-LAST_LINES:])

    async def said(self, part: str, count: int = 1) -> str:
        """The line with this in it, the ``count``-th from the start, once it was said.

        Raises:
            AssertionError: The process ended, or time ran out, without it.
        """
        try:
            async with asyncio.timeout(PATIENCE_S), self._moved:
                while len(found := [line for line in self.lines if part in line]) < count:
                    if self._silent:
                        raise AssertionError(f"{self.name} ended without saying {part!r}:\n{self.tail}")
                    await self._moved.wait()
        except TimeoutError:
            raise AssertionError(f"{self.name} did not say {part!r}:\n{self.tail}") from None
        return found[count - 1]

    async def exit_code(self) -> int:
        """How it ended by itself.

        Raises:
            AssertionError: It goes on running.
        """
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await asyncio.shield(self.ended)
        except TimeoutError:
            raise AssertionError(f"{self.name} does not end:\n{self.tail}") from None

    def tell(self, line: str) -> None:
        """Write a line to its input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    def hush(self) -> None:
        """End its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def ask_to_stop(self) -> None:
        """Ask it to stop, and do not wait."""
        self._process.terminate()

    async def stop(self) -> int:
        """Ask it to stop, and wait; its exit code."""
        if not self.ended.done():
            self._process.terminate()
        return await self.exit_code()

    async def kill(self) -> None:
        """Kill it at once (SIGKILL), as a power cut would."""
        if not self.ended.done():
            self._process.kill()
        # Whoever is called off here must not end the reading for all who wait for it.
        await asyncio.shield(self.ended)

    def send(self, signal: int) -> None:
        """Send it a signal, unless it is gone: SIGSTOP freezes it where it stands, SIGCONT lets it go on."""
        if not self.ended.done():
            self._process.send_signal(signal)

    @property
    def pid(self) -> int:
        """Its process id, the same over the change from the leash to the program."""
        return self._process.pid

    def suspend(self) -> None:
        """Stop it amid whatever it does, as a host that goes to sleep."""
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    async def _read(self) -> int:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            async with self._moved:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self._moved.notify_all()
        async with self._moved:
            self._silent = True
            self._moved.notify_all()
        return await self._process.wait()
