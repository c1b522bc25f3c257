"""The owner's settings that decide grants, read again when their file has changed. Source: GRANT-3."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Protocol

import structlog

from clankie_captain.core.grants import MACHINE, Powers, unknown_tool, written_out
from clankie_captain.core.lane import Trust
from clankie_captain.core.placement import Loops
from clankie_captain.core.servers import prefix
from clankie_captain.errors import ConfigurationError
from clankie_settings.environment import SettingsError
from clankie_settings.schema import CaptainSettings

LOOK_WITHIN: Final = timedelta(seconds=2)
"""How long a look at the file may take before what was read last is used; a dead disk holds nobody up for longer."""

Stamp = tuple[int, int, int]
"""What tells one state of a file from another: inode, size, and time of change in nanoseconds."""

_log = structlog.get_logger()


class Source(Protocol):
    """The file of the settings; both may block, and are called in a thread of their own."""

    def stamp(self) -> Stamp | None:
        """What tells its present state from another; None where there is no file."""
        ...

    def captain(self) -> CaptainSettings:
        """What the captain reads, as it stands there now.

        Raises:
            SettingsError: A setting is unknown or unusable.
        """
        ...


class Rulebook:
    """Looks at the file at each question, and reads it only where it has changed.

    A file that cannot be used changes nothing: what was read last goes on, and the log says so once. One look is under
    way at a time, and whoever asks meanwhile waits for that one.
    """

    def __init__(
        self, first: Powers, source: Source | None, tools: Sequence[str] | None = None, servers: Sequence[str] = ()
    ) -> None:
        """Begin with ``first``; with ``tools``, settings that name none of these or of ``servers`` cannot be used."""
        self._powers = first
        self._tools = tools
        self._servers = servers
        self._source = source
        self._seen: Stamp | None = None
        self._complaint: str | None = None
        self._looking: asyncio.Task[None] | None = None

    async def powers(self) -> Powers:
        """Who may do what, as the file says now."""
        if self._source is None:
            return self._powers
        # A look that began before this question may have seen the file before its change: let it end, then look anew.
        for _ in range(2):
            begun = self._looking is None
            looking = self._looking or self._look(self._source)
            _, late = await asyncio.wait({looking}, timeout=LOOK_WITHIN.total_seconds())
            if late:
                self._complain("settings.slow", "it takes too long to look at the file")
                break
            if begun:
                break
        return self._powers

    def _look(self, source: Source) -> asyncio.Task[None]:
        task = self._looking = asyncio.create_task(self._read(source), name="settings")
        task.add_done_callback(self._looked)
        return task

    def _looked(self, task: asyncio.Task[None]) -> None:
        self._looking = None
        if not task.cancelled() and (error := task.exception()) is not None:
            self._complain("settings.unreadable", type(error).__name__)

    async def _read(self, source: Source) -> None:
        found = await asyncio.to_thread(_changed, source, self._seen, self._tools, self._servers)
        if found is None:
            return
        self._seen, settings = found
        if isinstance(settings, str):
            self._complain("settings.unusable", settings)
            return
        read = powers(settings)
        if read != self._powers or self._complaint is not None:
            _log.info("settings.read", changed=read != self._powers)
        self._powers, self._complaint = read, None

    def _complain(self, event: str, reason: str) -> None:
        if reason != self._complaint:
            _log.warning(event, reason=reason, remedy="correct clankie.toml; what was read last goes on until then")
        self._complaint = reason


def _changed(
    source: Source, seen: Stamp | None, tools: Sequence[str] | None, servers: Sequence[str]
) -> tuple[Stamp | None, CaptainSettings | str] | None:
    """What the file says where it differs from ``seen``, or why it cannot be used; in a thread."""
    stamp = source.stamp()
    if stamp == seen:
        return None
    if stamp is None:
        return None, "clankie.toml is gone"
    try:
        settings = source.captain()
        if tools is not None:
            refuse_unknown_tools(settings, tools, servers)
    except (SettingsError, ConfigurationError) as error:
        return stamp, str(error)
    return stamp, settings


def refuse_servers_like_tools(servers: Sequence[str], tools: Sequence[str]) -> None:
    """Let servers pass whose tools no grant of his own tools could give.

    Raises:
        ConfigurationError: One is named like the beginning of a tool.
    """
    for name in servers:
        tool = next((each for each in (*tools, *MACHINE) if each.startswith(prefix(name))), None)
        if tool is not None:
            raise ConfigurationError(
                f"mcpServers.{name} (mcp.json): {name}_* would grant {tool} too; rename the server"
            )


def refuse_unknown_tools(settings: CaptainSettings, tools: Sequence[str], servers: Sequence[str] = ()) -> None:
    """Let settings pass that name only tools there are, or that one of the servers may have.

    Raises:
        ConfigurationError: One names something else; the message says which, and what it may have meant. Or a server is
            named like the beginning of a tool.
    """
    refuse_servers_like_tools(servers, tools)
    named: dict[str, Sequence[str]] = {"tools": settings.tools}
    named |= {f"rooms.{key}.tools": room.tools for key, room in settings.rooms.items() if room.tools is not None}
    named |= {f"roles.{key}.tools": each.tools for key, each in settings.roles.items()}
    named |= {f"actors.{key}.tools": each.tools for key, each in settings.actors.items()}
    found = unknown_tool(named, settings.tool_sets, tools, [prefix(name) for name in servers])
    if found is not None:
        setting, reason = found
        # Of all these only the first has a variable of the environment, too.
        name = "CLANKIE_TOOLS or tools" if setting == "tools" else setting
        raise ConfigurationError(f"{name} (clankie.toml): {reason}")


def powers(settings: CaptainSettings) -> Powers:
    """Who may do what, by these settings. Source: GRANT-1."""
    sets = settings.tool_sets
    rooms = {key: room.tools for key, room in settings.rooms.items() if room.tools is not None}
    return Powers(
        Trust(frozenset(settings.system_actors), frozenset(settings.system_rooms)),
        written_out(settings.tools, sets),
        {key: written_out(tools, sets) for key, tools in rooms.items()},
        {key: written_out(each.tools, sets) for key, each in settings.roles.items()},
        {key: written_out(each.tools, sets) for key, each in settings.actors.items()},
    )


def loops(settings: CaptainSettings) -> Loops:
    """Which rooms think in one loop, by these settings. Source: LOOP-1."""
    switch = settings.room_loop or ""
    own = {key: room.room_loop for key, room in settings.rooms.items() if room.room_loop is not None}
    if switch == "all":
        return Loops(everywhere=True, own=own)
    return Loops(listed=frozenset(each.strip() for each in switch.split(",") if each.strip()), own=own)
