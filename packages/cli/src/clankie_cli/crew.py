"""The programs that run together: started, listened to, kept alive, and stopped."""

import asyncio
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from clankie_cli.keeping import Again, GiveUp, after_end, ending
from clankie_cli.leash import leash
from clankie_cli.plan import Program
from clankie_cli.screen import Screen
from clankie_settings.clock import Clock

KILLED_WITHIN: Final = timedelta(seconds=2)
"""How long the output of a killed program is read to its end."""

STAGE: Final = "stage"
"""The program that the others stand on in a trial."""

LINE_BYTES: Final = 1024 * 1024
"""Longest line of a program that is shown, in bytes."""

Listener = Callable[[str, str], None]
"""Hears every line of every program, with its name."""


class Crew:
    """Programs in the order in which they were started.

    Attributes:
        ended: Settles with an exit code when going on makes no sense.
    """

    def __init__(self, screen: Screen, clock: Clock, listen: Listener, stop_within: timedelta) -> None:
        self._screen = screen
        self._stop_within = stop_within
        self._clock = clock
        self._listen = listen
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._last: dict[str, str] = {}
        self._closing: set[str] = set()
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def start(self, program: Program) -> None:
        """Start a program and keep it running."""
        self._keepers[program.name] = asyncio.create_task(self._keep(program), name=f"keep {program.name}")

    async def stop(self) -> None:
        """Stop all; whoever does not stop in time is killed.

        Captain and bridge stop side by side, since what runs still has to be said; what they stand on stops after them.
        """
        await asyncio.gather(*(self._stop(name) for name in self._keepers if name != STAGE))
        if STAGE in self._keepers:
            await self._stop(STAGE)

    def kill(self) -> None:
        """End all at once."""
        self._closing.update(self._keepers)
        for process in self._running.values():
            if process.returncode is None:
                process.kill()

    async def _stop(self, name: str) -> None:
        self._closing.add(name)
        keeper, process = self._keepers[name], self._running.get(name)
        if process is None or process.returncode is not None:
            keeper.cancel()
        else:
            process.terminate()
        done, _ = await asyncio.wait([keeper], timeout=self._stop_within.total_seconds())
        if not done and process is not None:
            self._screen.say(f"{name} did not stop within {self._stop_within.seconds} s and is killed", "warning")
            process.kill()
            # What a program itself had started may hold its output open.
            await asyncio.wait([keeper], timeout=KILLED_WITHIN.total_seconds())
            keeper.cancel()

    async def _keep(self, program: Program) -> None:
        failures = 0
        try:
            while True:
                before = self._clock.elapsed()
                code = await self._run(program)
                if program.name in self._closing:
                    return
                match after_end(program.name, code, self._clock.elapsed() - before, failures):
                    case GiveUp(code=final):
                        self._give_up(program.name, code, final)
                        return
                    case Again(wait=wait, failures=failures):
                        said = f"{program.name} {ending(code)}; it starts again in {wait.seconds} s"
                        self._screen.say(said, "warning")
                        await self._clock.sleep(wait)
        except OSError as error:
            self._screen.say(f"{program.name} cannot be run: {error.strerror}", "error")
            self._settle(1)

    def _give_up(self, name: str, code: int, final: int) -> None:
        last = self._last.get(name)
        self._screen.say(
            f"{name} {ending(code)}, so everything stops" + (f". It said: {last}" if last else ""), "error"
        )
        self._settle(final)

    def _settle(self, code: int) -> None:
        if not self.ended.done():
            self.ended.set_result(code)

    async def _run(self, program: Program) -> int:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            program.module,
            *program.arguments,
            cwd=program.folder,
            env={**program.env, "PYTHONUNBUFFERED": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LINE_BYTES,
            start_new_session=True,  # Ctrl-C reaches this process alone, which stops the others in order
            preexec_fn=leash(),  # no thread runs beside this loop
        )
        self._running[program.name] = process
        try:
            await self._relay(program.name, process)
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()

    async def _relay(self, name: str, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                line = b"(a line too long to show)\n"
            if not line:
                return
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                self._last[name] = text if not text.startswith("{") else self._last.get(name, "")
                self._screen.relay(name, text)
                self._listen(name, text)
