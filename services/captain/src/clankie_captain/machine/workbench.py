"""The machine's tools: a shell behind walls, and files of the workspace. Source: GRANT-2, GRANT-4."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, Never

from clankie_captain.core.grants import MACHINE
from clankie_captain.core.machine import Held, Stop, unfit
from clankie_captain.core.quoting import fenced
from clankie_captain.machine import watch
from clankie_captain.machine.output import Output
from clankie_captain.machine.sandbox import Lack, Sandbox, Started
from clankie_captain.machine.workspace import UnreadError, Workspace
from clankie_captain.ports import Machine, NotDoneError, Progress, Ran
from clankie_captain.threads import Threads
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids

REASONS: Final[dict[Lack, str]] = {
    "program": "bubblewrap is not installed on this machine, and without it nothing is done on it",
    "old": "the bubblewrap of this machine is too old to keep a command in, and without it nothing is done on it",
    "user": "the captain runs as root and cannot run a command as anybody else; util-linux is missing",
    "forbidden": "this machine does not let a sandbox be made, and without one nothing is done on it",
    "python": "commands have a network here, and no Python that could open it to them",
    "place": "the captain's own folders lie where commands would see them",
}
"""What the model is told where there is no sandbox."""

BUSY: Final = f"{bounds.COMMANDS} commands run already; try again when one has ended"
"""What it is told where one more would be too many."""

UNFIT: Final[dict[Stop, str]] = {
    "blind": "something in the workspace cannot be looked into, and nothing is done beside it; whoever runs me has to "
    "open or delete it",
    "disk": "the workspace holds far more than it may, and nothing is run beside it; whoever runs me has to delete "
    "some of it",
}
"""What it is told where no command may begin beside what lies there."""

FULL: Final = "the workspace is too full; delete what is not needed"
"""What it is told where a file has no room."""

LATE: Final = "the disk of the workspace does not answer; try again later, and tell whoever runs me if it stays so"
"""What it is told where the disk hangs."""

UNWRITTEN: Final = f"{LATE}. It may take the file all the same: look before you write it again"
"""What it is told then of a file that was to be written."""

EVENT_EVERY: Final = timedelta(seconds=1)
"""How often a command that runs counts as a sign of life. Source: FAIL-3."""

LABEL_CHARS: Final = 200
"""How much of a command stands above its output."""


class Workbench(Machine):
    """The tools where there is a sandbox; elsewhere each says why it does nothing.

    Whether there is one is tried once; where there was none, it is tried again at the next call.

    Args:
        sandbox: Starts commands.
        workspace: What they change.
        most: How long the call of a command may take.
        patience: How long the workspace may take to be read, written or weighed.
        clock: What a command's time is taken by.
        ids: Marks of fences.
    """

    def __init__(
        self, sandbox: Sandbox, workspace: Workspace, most: timedelta, patience: timedelta, clock: Clock, ids: Ids
    ) -> None:
        self._sandbox = sandbox
        self._workspace = workspace
        self._most = min(most, sandbox.most.time)
        self._patience = patience.total_seconds()
        self._watching = Threads(2 * bounds.COMMANDS, "watch")
        self._clock = clock
        self._ids = ids
        self._trying = asyncio.Lock()
        self._sound = False
        self._first: Held | None = None
        self._slots = asyncio.Semaphore(bounds.COMMANDS)

    @property
    def tools(self) -> frozenset[str]:
        """Its tools."""
        return frozenset(MACHINE)

    async def lack(self) -> Lack | None:
        """Why nothing can be done; None where it can."""
        async with self._trying:
            lack = None if self._sound else await self._sandbox.lack()
            self._sound = lack is None
            return lack

    async def run(self, command: str, progress: Progress, within: timedelta) -> Ran:
        """Run a shell's line; what comes before it is taken off the most that it may take."""
        began = self._clock.elapsed()
        async with self._timely(LATE):
            await self._refuse_without_walls()
        if self._slots.locked():
            raise NotDoneError(BUSY)
        async with self._slots:
            async with self._timely(LATE):
                output, before = Output(self._sandbox.most.shown), await self._weighed()
            progress()
            left = self._most - (self._clock.elapsed() - began)
            try:
                async with self._sandbox.started(command) as started:
                    watched = self._over(started, before, min(within, left))
                    stop = await self._ended(self._heard(started, output), watched, progress)
                    code = None if stop is not None else await started.exit()
            except OSError as error:
                raise NotDoneError(f"it could not be started ({error.strerror})") from error
            if stop is None and code is None:
                raise NotDoneError(REASONS["forbidden"])
            return Ran(code, stop, self._fenced(command, output.text().removesuffix("\n")), output.cut)

    async def read(self, path: str, offset: int) -> str:
        """Read a part of a file."""
        try:
            async with self._timely(LATE):
                await self._refuse_without_walls()
                return await self._workspace.read(path, offset)
        except UnreadError as error:
            raise NotDoneError(str(error)) from None

    async def write(self, path: str, text: str) -> None:
        """Write a file."""
        try:
            async with self._timely(UNWRITTEN):
                await self._refuse_without_walls()
                most, held = self._sandbox.most, await self._weighed()
                if held.size + len(text) > most.disk or held.entries >= most.entries:
                    raise NotDoneError(FULL)
                await self._workspace.write(path, text)
        except UnreadError as error:
            raise NotDoneError(str(error)) from None

    @asynccontextmanager
    async def _timely(self, late: str) -> AsyncGenerator[None]:
        """What is done within is ended where it takes too long. Source: FAIL-1."""
        try:
            async with asyncio.timeout(self._patience):
                yield
        except TimeoutError:
            raise NotDoneError(late) from None

    async def _weighed(self) -> Held:
        held = await self._workspace.weighed(self._sandbox.most.entries * 2)
        first = self._first or held
        stop = unfit(held, first, self._sandbox.most)
        if stop is not None:
            raise NotDoneError(UNFIT[stop])
        self._first = first
        return held

    async def _refuse_without_walls(self) -> None:
        lack = await self.lack()
        if lack is not None:
            raise NotDoneError(REASONS[lack])

    def _over(self, started: Started, before: Held, within: timedelta) -> Sequence[Coroutine[Any, Any, Stop]]:
        most, folder = self._sandbox.most, self._sandbox.folder
        return (
            watch.processes(started.kin, folder, most, self._clock, self._watching),
            watch.folder(folder, before, most, self._clock, self._watching),
            self._late(within),
        )

    async def _ended(
        self, heard: Coroutine[Any, Any, bool], over: Sequence[Coroutine[Any, Any, Stop]], progress: Progress
    ) -> Stop | None:
        """Why it has to end; None where it ended by itself."""
        written, telling = asyncio.ensure_future(heard), asyncio.ensure_future(self._told(progress))
        watching = [asyncio.ensure_future(each) for each in over]
        try:
            await asyncio.wait([written, telling, *watching], return_when=asyncio.FIRST_COMPLETED)
            if written.done():
                return None if written.result() else "output"
            return next((each for each in watching if each.done()), telling).result()
        finally:
            for task in (written, telling, *watching):
                task.cancel()
            await asyncio.gather(written, telling, *watching, return_exceptions=True)

    async def _heard(self, started: Started, output: Output) -> bool:
        """Hear it to its end, which is later than that of what it says; false where it says too much."""
        whole = await output.listen(started.out, self._sandbox.most.said)
        if whole:
            await started.wait()
        return whole

    async def _late(self, within: timedelta) -> Stop:
        await self._clock.sleep(within)
        return "time"

    async def _told(self, progress: Progress) -> Never:
        """Tell that it runs, until the run itself is over, which is an error that goes on from here."""
        while True:
            await self._clock.sleep(EVENT_EVERY)
            progress()

    def _fenced(self, command: str, text: str) -> str:
        label = command if len(command) <= LABEL_CHARS else f"{command[:LABEL_CHARS]}…"
        return fenced("output", {"command": label}, text, lambda: self._ids.new("k").removeprefix("k_")[:12])
