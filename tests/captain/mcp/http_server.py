"""A server of ours at an address: the protocol's own, on loopback, in the process of the test."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.types import ASGIApp

from clankie_settings.servers import HttpServer
from tests.captain.mcp.conftest import eventually


class Hands:
    """What the server's tools touch."""

    def __init__(self) -> None:
        self.echoed: list[str] = []
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()


def server(hands: Hands) -> MCPServer:
    made = MCPServer("ours", log_level="CRITICAL")

    @made.tool()
    async def echo(words: str) -> str:
        """Say it again."""
        hands.echoed.append(words)
        return words

    @made.tool()
    async def slow(ctx: Context) -> str:
        """Take some steps."""
        for step in range(3):
            await ctx.report_progress(step, 3)
        return "at last"

    @made.tool()
    async def hang() -> str:
        """Never answer."""
        hands.begun.set()
        try:
            return await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            hands.cancelled.set()
            raise

    @made.tool()
    async def grow(ctx: Context) -> str:
        """Have one tool more."""
        made.add_tool(fresh)
        await ctx.notify_tools_changed()
        return "grown"

    async def fresh() -> str:
        return "fresh"

    _ = (echo, slow, hang, grow)
    return made


@asynccontextmanager
async def served(app: ASGIApp, port: int = 0) -> AsyncGenerator[int]:
    """An application at a port of loopback."""
    with socket.create_server(("127.0.0.1", port)) as door:
        config = uvicorn.Config(
            app, log_config=None, log_level="critical", access_log=False, timeout_graceful_shutdown=1, lifespan="auto"
        )
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve(sockets=[door]))
        try:
            await eventually(lambda: running.started)
            yield door.getsockname()[1]
        finally:
            running.should_exit = True
            await task


def at(port: int, **headers: str) -> HttpServer:
    return HttpServer(url=f"http://127.0.0.1:{port}/mcp", headers=headers)
