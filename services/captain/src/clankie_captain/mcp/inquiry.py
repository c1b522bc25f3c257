"""Each configured server started or reached once, and asked for its tools. Source: OPS-9."""

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from mcp.shared.exceptions import MCPError

from clankie_captain.core.schemas import Flaw
from clankie_captain.core.servers import adopted
from clankie_captain.mcp.connection import connected
from clankie_captain.mcp.keeper import leaf
from clankie_settings import bounds
from clankie_settings.servers import Server, StdioServer


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What became of the question to one server; ``fault`` is why it has no answer, and what to do."""

    server: str
    fault: str | None = None
    tools: tuple[str, ...] = ()
    left_out: Mapping[Flaw, int] = field(default_factory=dict[Flaw, int])


async def inquire(servers: Mapping[str, Server]) -> tuple[Inquiry, ...]:
    """Ask all of them, at the same time."""
    return tuple(await asyncio.gather(*(_inquired(name, server) for name, server in servers.items())))


async def _inquired(name: str, server: Server) -> Inquiry:
    if isinstance(server, StdioServer) and shutil.which(server.command, path=server.env.get("PATH", "")) is None:
        return Inquiry(name, "its command is no program on PATH; install it, or write its whole path")
    if isinstance(server, StdioServer) and server.cwd and not await asyncio.to_thread(Path(server.cwd).is_dir):
        return Inquiry(name, "its cwd is no folder; make it, or correct cwd")
    try:
        async with connected(server, lambda: None) as connection:
            async with asyncio.timeout(bounds.SERVER_LOOK_TIME.total_seconds()):
                told = await connection.tools()
    except Exception as error:  # noqa: BLE001 -- whatever a server does is one more way not to answer
        return Inquiry(name, _fault(server, leaf(error)))
    found = adopted(name, told)
    return Inquiry(name, None, tuple(tool.name for tool in found.tools), found.left_out)


def _fault(server: Server, error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"it told nothing within {round(bounds.SERVER_START.total_seconds())} s; run its command by hand, once"
    if isinstance(server, StdioServer):
        return f"its program ended, or does not speak MCP ({type(error).__name__}); run its command by hand"
    if isinstance(error, httpx2.ConnectError):
        return "nothing answers at its address; start it, or correct url"
    if isinstance(error, MCPError):
        return "what answers at its address refused; look at url, and at headers where it wants a key"
    return f"what answers at its address does not speak MCP ({type(error).__name__}); correct url"
