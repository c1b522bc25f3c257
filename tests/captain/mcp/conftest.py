"""Servers for a captain's tools: an odd one of ours as a program, and what is known of them all."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from clankie_captain.core.servers import ServerTool
from clankie_captain.mcp.fleet import FILE, Fleet
from clankie_captain.mcp.keeper import Pace
from clankie_captain.ports.servers import CallOutcome, NotServedError
from clankie_settings.clock import RandomIds, SystemClock
from clankie_settings.servers import Server, StdioServer

ODD = str(Path(__file__).with_name("odd_server.py"))
PATIENCE_S = 60
QUICK = Pace(look=timedelta(minutes=1), pause=timedelta(milliseconds=20), call=timedelta(seconds=60))


class Log:
    """What became of calls, counted."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()

    def called(self, outcome: CallOutcome) -> None:
        self.outcomes[outcome] += 1


async def eventually(true: Callable[[], Any]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE_S):
        never = asyncio.get_running_loop().create_future()
        while not true():
            await asyncio.wait({never}, timeout=0.01)


def odd(folder: Path, *tools: str, **env: str) -> StdioServer:
    """The odd server with these tools; what it is told lies in the folder, beside ``tools``."""
    (folder / "tools").write_text(" ".join(tools))
    environment = {"PATH": os.environ["PATH"], **env}
    return StdioServer(command=sys.executable, args=[ODD, str(folder / "tools")], env=environment, cwd="/")


def lives(process: int) -> bool:
    """Whether a process is there, and not only as what nobody has asked after yet."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


class Kept:
    """A fleet that is kept, and short words for what is asked of it."""

    def __init__(self, fleet: Fleet, log: Log) -> None:
        self.fleet = fleet
        self.log = log
        self.signs = 0

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.fleet.tools()]

    def tool(self, name: str) -> ServerTool:
        return next(tool for tool in self.fleet.tools() if tool.name == name)

    async def call(self, name: str, **arguments: Any) -> str:
        return await self.fleet.call(self.tool(name), arguments, self._sign)

    async def tried(self, name: str, **arguments: Any) -> str:
        """What a call comes to: its answer, or why there is none."""
        try:
            return await self.call(name, **arguments)
        except NotServedError as error:
            await asyncio.sleep(0)
            return str(error)

    async def knows(self, name: str) -> None:
        await eventually(lambda: name in self.names)

    async def stands(self, server: str, state: str) -> None:
        await eventually(lambda: self.fleet.states[server] == state)

    def _sign(self) -> None:
        self.signs += 1


@asynccontextmanager
async def kept(folder: Path, servers: Mapping[str, Server], pace: Pace = QUICK) -> AsyncGenerator[Kept]:
    """A fleet as the captain keeps it, with what was known of it before in the folder."""
    log = Log()
    fleet = Fleet(servers, folder / FILE, SystemClock(), RandomIds(), log, pace)
    keeping = asyncio.create_task(fleet.run())
    try:
        yield Kept(fleet, log)
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
