"""All configured servers, and what is known of their tools whether they run or not. Source: GRANT-1, LANE-13."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog
from pydantic import TypeAdapter, ValidationError

from clankie_captain.core import stall
from clankie_captain.core.quoting import fenced
from clankie_captain.core.servers import ServerTool, Told, adopted, prefix, result
from clankie_captain.ports.servers import NotServedError, ServerLog, Servers
from clankie_captain.ports.workshop import Progress
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids
from clankie_settings.schema import CaptainSettings
from clankie_settings.servers import Server

if TYPE_CHECKING:
    from clankie_captain.mcp.keeper import Keeper, Pace, State

FILE: Final = "mcp-tools.json"
"""Where in the state folder it is kept what servers have last told of their tools."""

Known = dict[str, tuple[ServerTool, ...]]

_KNOWN: Final[TypeAdapter[Known]] = TypeAdapter(Known)
_log = structlog.get_logger()


class Fleet(Servers):
    """The servers of a captain; ``run`` keeps them."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        file: Path,
        clock: Clock,
        ids: Ids,
        log: ServerLog,
        pace: "Pace | None" = None,
    ) -> None:
        self._file = file
        self._ids = ids
        self._log = log
        self._writing = asyncio.Lock()
        self._prefixes = tuple(prefix(name) for name in servers)
        self._known: Known = {name: tools for name, tools in _read(file).items() if name in servers} if servers else {}
        self._keepers = _keepers(self, servers, clock, log, pace)
        self._tools = _sorted(self._known)

    @classmethod
    def of(
        cls, servers: Mapping[str, Server], settings: CaptainSettings, clock: Clock, ids: Ids, log: ServerLog
    ) -> "Fleet":
        """The servers that the settings name, at the pace that they ask for."""
        if not servers:
            return cls(servers, settings.state / FILE, clock, ids, log)
        # Only who has servers waits for their protocol's code, which takes a second to load.
        from clankie_captain.mcp.keeper import Pace

        call = stall.share(bounds.SERVER_CALL_TIME, settings.stall_after)
        return cls(servers, settings.state / FILE, clock, ids, log, Pace(call=call))

    async def run(self) -> None:
        """Keep all of them until cancelled."""
        async with asyncio.TaskGroup() as group:
            for keeper in self._keepers.values():
                group.create_task(keeper.run())

    @property
    def states(self) -> dict[str, "State"]:
        """How each server stands."""
        return {name: keeper.state for name, keeper in self._keepers.items()}

    def tools(self) -> tuple[ServerTool, ...]:
        """Every tool that is known, by name."""
        return self._tools

    def serves(self, name: str) -> bool:
        """Whether a tool's name is that of a server's."""
        return name.startswith(self._prefixes)

    async def call(self, tool: ServerTool, arguments: Mapping[str, Any], progress: Progress) -> str:
        """What a server answers, fenced."""
        keeper = self._keepers.get(tool.server)
        if keeper is None:
            raise NotServedError("there is no such tool any more")
        said = await keeper.call(tool.tool, arguments, progress)
        # Elsewhere: to look at each character of a long answer takes longer than the others may wait.
        opening, words = await asyncio.to_thread(result, said.text, failed=said.failed)
        return f"{opening}\n{fenced('answer', {'tool': tool.name}, words, self._fresh)}"

    async def learn(self, name: str, told: Sequence[Told]) -> None:
        """Take over what a server tells of its tools, and keep it."""
        found = await asyncio.to_thread(adopted, name, told)
        if found.tools == self._known.get(name):
            return
        _log.info("server.tools", server=name, tools=len(found.tools), left_out=dict(found.left_out))
        async with self._writing:
            known = {**self._known, name: found.tools}
            try:
                # Before any run is shown them, so that what runs see outlives this process.
                await asyncio.to_thread(_write, self._file, known)
            except OSError as error:
                _log.warning("server.tools_not_kept", cause=type(error).__name__)
            self._known = known
            self._tools = _sorted(known)

    def _fresh(self) -> str:
        return self._ids.new("k").removeprefix("k_")[:12]


def _sorted(known: Known) -> tuple[ServerTool, ...]:
    return tuple(sorted((tool for tools in known.values() for tool in tools), key=lambda tool: tool.name))


def _keepers(
    fleet: Fleet, servers: Mapping[str, Server], clock: Clock, log: ServerLog, pace: "Pace | None"
) -> "dict[str, Keeper]":
    if not servers:
        return {}
    from clankie_captain.mcp.keeper import Keeper, Pace

    return {
        name: Keeper(name, server, partial(fleet.learn, name), clock, log, pace or Pace())
        for name, server in servers.items()
    }


def _read(file: Path) -> Known:
    try:
        return _KNOWN.validate_json(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        # The servers will tell it again.
        _log.warning("server.tools_unreadable", cause=type(error).__name__)
        return {}


def _write(file: Path, known: Known) -> None:
    fresh = file.with_suffix(".new")
    with fresh.open("wb") as opened:
        opened.write(_KNOWN.dump_json(known, indent=1))
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(file)
