"""One real process, with every line that it says."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Self

from tests.system.warm import fork

PATIENCE_S = 90.0
"""How long a condition is waited for, in seconds; a loaded machine is slow."""

LAST_LINES = 25


class Program:
    """A running process.

    Attributes:
        name: What failures call it.
        lines: Everything it has written so far, standard output and error together.
        ended: Done when the process is gone and its output is read.
    """

    def __init__(self, name: str, process: ForkServerProcess, output: Connection, words: Connection | None) -> None:
        self.name = name
        self.lines: list[str] = []
        self._process = process
        self._words = words
        self._moved = asyncio.Condition()
        self._silent = False
        self.ended = asyncio.create_task(self._read(output), name=name)

    @classmethod
    async def started(
        cls, name: str, arguments: Sequence[str], env: Mapping[str, str], folder: Path, *, reads: bool = False
    ) -> Self:
        """Start Python with these arguments; one that ``reads`` can be told lines."""
        mine, its = Pipe(duplex=False)
        theirs, told = Pipe(duplex=False) if reads else (None, None)
        return cls(name, await asyncio.to_thread(fork, arguments, env, folder, its, theirs), mine, told)

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
        assert self._words is not None
        os.write(self._words.fileno(), f"{line}\n".encode())

    def hush(self) -> None:
        """End its input."""
        assert self._words is not None
        self._words.close()

    def ask_to_stop(self) -> None:
        """Ask it to stop, and do not wait."""
        os.kill(self.pid, signal.SIGTERM)

    async def stop(self) -> int:
        """Ask it to stop, and wait; its exit code."""
        if not self.ended.done():
            os.kill(self.pid, signal.SIGTERM)
        return await self.exit_code()

    async def kill(self) -> None:
        """Kill it at once (SIGKILL), as a power cut would."""
        if not self.ended.done():
            os.kill(self.pid, signal.SIGKILL)
        # Whoever is called off here must not end the reading for all who wait for it.
        await asyncio.shield(self.ended)

    def send(self, signal: int) -> None:
        """Send it a signal, unless it is gone: SIGSTOP freezes it where it stands, SIGCONT lets it go on."""
        if not self.ended.done():
            os.kill(self.pid, signal)

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def suspend(self) -> None:
        """Stop it amid whatever it does, as a host that goes to sleep."""
        os.kill(self.pid, signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    async def _read(self, output: Connection) -> int:
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=1024 * 1024)
        with os.fdopen(os.dup(output.fileno()), "rb") as pipe:
            output.close()
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
            async for line in reader:
                async with self._moved:
                    self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                    self._moved.notify_all()
            transport.close()
        async with self._moved:
            self._silent = True
            self._moved.notify_all()
        gone = loop.create_future()
        loop.add_reader(self._process.sentinel, gone.set_result, None)
        try:
            await gone
        finally:
            loop.remove_reader(self._process.sentinel)
        code = self._process.exitcode
        assert code is not None
        self._process.close()
        return code
