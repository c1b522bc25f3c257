"""A place behind walls, where there can be one. Source: GRANT-4."""

import asyncio
import errno
import json
import os
import shutil
import signal
import socket
from asyncio import StreamReader, subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal, cast

from clankie_captain import kin
from clankie_captain.core.machine import Most
from clankie_captain.machine import calls, walls
from clankie_captain.machine.workspace import INSIDE
from clankie_captain.ports import Gate

Lack = Literal["program", "old", "user", "forbidden", "place", "python"]
"""Why no sandbox is to be had: no bubblewrap, or one too old; root that cannot become another user; a machine that
forbids it; a place that commands would see; with the web granted, no Python that they see."""

TRIED_WITHIN: Final = timedelta(seconds=10)
"""How long trying it may take."""

GONE_WITHIN: Final = timedelta(seconds=2)
"""How long what was killed may take to be gone."""

STRANGER: Final = 64_310
"""The user and group that root's commands run as: nobody's account."""

HELPERS: Final = ("unshare", "mount", "setpriv")
"""What root becomes a stranger by."""

BECOMES: Final = '"$1" --bind "$2" "$3" && shift 3 && exec "$@"'
"""Binds the workspace where a stranger can reach it, in a view of its own, and goes on as what follows."""

Walls = Callable[[Most, Mapping[str, int], int | None], Mapping[str, tuple[str, ...]]]
"""What is around a command, by names."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands work.

    ``hidden`` is what no command may see; ``runs_as`` is the user and group that commands run as, where the captain is
    root.
    """

    folder: Path
    hidden: tuple[Path, ...] = ()
    runs_as: tuple[int, int] | None = None


class Started:
    """A command that runs behind walls; ``out`` is what it writes, errors among it."""

    def __init__(self, process: subprocess.Process, report: int) -> None:
        self._process = process
        self._report = report
        self.out = cast("StreamReader", process.stdout)

    def kin(self) -> list[int]:
        """Its processes, those that hold the walls up among them."""
        return kin.kin(self._process.pid)

    async def wait(self) -> None:
        """Wait until it has ended; nothing bounds that here."""
        await self._process.wait()

    async def exit(self) -> int | None:
        """Its code once it has ended, None where the walls could not be built."""
        await self.wait()
        said = b""
        with suppress(BlockingIOError):
            while piece := os.read(self._report, 4096):
                said += piece
        codes = [json.loads(line).get("exit-code") for line in said.splitlines()]
        return next((each for each in codes if isinstance(each, int)), None)

    async def end(self) -> None:
        """End it with all that it started. What is left of it falls with the walls' own first process."""
        if self._process.returncode is None:
            try:
                await asyncio.to_thread(lambda: kin.end(self.kin()))
            finally:
                # Whoever waits for it may be called off once more.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(GONE_WITHIN.total_seconds()):
                while await self.out.read(64 * 1024):
                    pass
                await self._process.wait()


class Sandbox:
    """Starts commands behind walls."""

    def __init__(
        self,
        place: Place,
        most: Most | None = None,
        around: Walls = walls.walls,
        gate: Callable[[], Gate] | None = None,
    ) -> None:
        self._place = place
        self._around = around
        self._gate = gate
        self._program = shutil.which("bwrap")
        self._python = shutil.which("python3", path=walls.PATH)
        self._helpers = {name: found for name in HELPERS if (found := shutil.which(name)) is not None}
        self._calls = calls.program()
        self.most = most or Most()
        self.shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"

    @property
    def folder(self) -> Path:
        """What commands may change."""
        return self._place.folder

    async def lack(self) -> Lack | None:
        """Why there is none, tried with a real one; None where there is."""
        if self._program is None:
            return "program"
        if self._place.runs_as is not None and len(self._helpers) < len(HELPERS):
            return "user"
        if any(each.resolve().is_relative_to(seen) for each in self._place.hidden for seen in walls.seen()):
            return "place"
        if self._gate is not None and self._python is None:
            return "python"
        try:
            async with asyncio.timeout(TRIED_WITHIN.total_seconds()), self.started("/bin/true & wait $!") as tried:
                said = await tried.out.read(4096)
                if await tried.exit() == 0:
                    return None
        except (OSError, TimeoutError):
            return "forbidden"
        return "old" if b"Unknown option" in said else "forbidden"

    @asynccontextmanager
    async def started(self, command: str) -> AsyncGenerator[Started]:
        """A shell's line that runs; nothing of it is left afterwards.

        Raises:
            OSError: It cannot be started.
        """
        async with AsyncExitStack() as stack:
            with ExitStack() as its:
                files = {place: _file(text, its) for place, text in walls.FILES.items()}
                refused = None if self._calls is None else _file(self._calls, its)
                report, told = _pipe(its)
                stack.callback(os.close, report)
                mine, hands = _pair(its) if self._gate is not None else (None, None)
                if mine is not None:
                    stack.callback(mine.close)
                around = self._around(self.most, files, refused)
                line = self._line(command, around, told, hands)
                passed = (*files.values(), told, *(each for each in (refused, hands) if each is not None))
                started = Started(await _begun(line, passed), report)
            stack.push_async_callback(started.end)
            if mine is not None and self._gate is not None:
                await stack.enter_async_context(self._gate().serving(await _handed(mine)))
            yield started

    def _line(self, command: str, around: Mapping[str, Sequence[str]], report: int, hands: int | None) -> list[str]:
        return [
            *self._as_somebody_else(),
            self._program or "bwrap",
            *(each for wall in around.values() for each in wall),
            *("--bind", str(self._seen_at), INSIDE, "--chdir", INSIDE, "--remount-ro", "/"),
            *walls.names(),
            *(() if hands is None else walls.proxied()),
            *("--json-status-fd", str(report), "--"),
            *(() if hands is None else self._opening(hands)),
            *walls.reins(self.most),
            *(self.shell, "-c", command),
        ]

    def _opening(self, hands: int) -> Sequence[str]:
        """What opens the way to the web, with a Python that commands see."""
        return (self._python or "python3", "-I", "-S", "-c", walls.OPENS, str(hands), str(walls.PROXY_PORT))

    @property
    def _seen_at(self) -> Path:
        # Root binds the folder there for whoever may not walk to where it lies.
        return self._place.folder if self._place.runs_as is None else Path("/tmp")  # noqa: S108

    def _as_somebody_else(self) -> list[str]:
        """What comes before it where the captain is root: the kernel bounds and refuses root less than anybody else.

        One program becomes the next, with no process between them and the captain: the end of one that has lost root's
        powers would not be a reason for the end of a stranger's.
        """
        if self._place.runs_as is None:
            return []
        user, group = self._place.runs_as
        return [
            *(self._helpers["unshare"], "--mount", "--propagation", "private", "--", "/bin/sh", "-c", BECOMES, "sh"),
            *(self._helpers["mount"], str(self._place.folder), str(self._seen_at)),
            *(self._helpers["setpriv"], "--reuid", str(user), "--regid", str(group), "--clear-groups"),
            *("--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--pdeathsig", "KILL", "--"),
        ]


async def _begun(line: Sequence[str], passed: Sequence[int]) -> subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"LC_ALL": "C.UTF-8"},
        cwd="/",
        start_new_session=True,
        pass_fds=passed,
    )


async def _handed(mine: socket.socket) -> socket.socket:
    """The port that the command's own first step has opened behind the walls.

    Raises:
        OSError: It ended without.
    """
    with mine:
        mine.settimeout(TRIED_WITHIN.total_seconds())
        _, found, _, _ = await asyncio.to_thread(socket.recv_fds, mine, 1, 1)
    if not found:
        raise OSError(errno.ENOTCONN, "its way to the web could not be opened")
    return socket.socket(fileno=found[0])


def _pair(its: ExitStack) -> tuple[socket.socket, int]:
    mine, theirs = socket.socketpair()
    its.callback(theirs.close)
    return mine, theirs.fileno()


def _pipe(its: ExitStack) -> tuple[int, int]:
    report, told = os.pipe()
    its.callback(os.close, told)
    os.set_blocking(report, False)
    return report, told


def _file(text: bytes, mine: ExitStack) -> int:
    file = os.memfd_create("etc", os.MFD_CLOEXEC)
    mine.callback(os.close, file)
    os.write(file, text)
    os.lseek(file, 0, os.SEEK_SET)
    return file
