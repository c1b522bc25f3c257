"""Web pages for a browser, behind a passage that takes them for the public web."""

import asyncio
import os
import socket
from asyncio import DatagramProtocol, StreamReader, StreamWriter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import psutil
from aiohttp import web

from clankie_captain.core.addresses import IpAddress
from clankie_captain.media.camera import COMMAND, Camera
from clankie_captain.media.chromium import Chromium, chromium
from clankie_captain.media.passage import Passage
from clankie_settings import bounds
from tests.captain.media.test_guard import EVERYWHERE, Lookups

PATIENCE = timedelta(seconds=90)

Page = Callable[[web.Request], Awaitable[web.StreamResponse]]


def html(body: str, status: int = 200) -> Page:
    async def serve(_: web.Request) -> web.StreamResponse:
        return web.Response(text=f"<!doctype html><title>x</title>{body}", content_type="text/html", status=status)

    return serve


def usable() -> Chromium | None:
    """The machine's Chromium; root has no sandbox."""
    found = chromium(None, sandbox=os.geteuid() != 0)
    return found if isinstance(found, Chromium) else None


@dataclass
class Site:
    """Pages by host and path, and what a browser asked of it."""

    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    asked: list[str] = field(default_factory=list[str])
    dialled: set[str] = field(default_factory=set[str])
    passages: list[Passage] = field(default_factory=list[Passage])
    port: int = 0
    most: int = bounds.PAGE_BYTES

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        page = self.pages.get(request.path)
        return await page(request) if page is not None else web.Response(status=404)

    async def connect(self, address: IpAddress, port: int) -> tuple[StreamReader, StreamWriter]:
        self.dialled.add(str(address))
        return await asyncio.open_connection("127.0.0.1", self.port)

    def passage(self) -> Passage:
        self.passages.append(Passage(Lookups(EVERYWHERE), connect=self.connect, most=self.most))
        return self.passages[-1]

    def camera(self, browser: Chromium, within: timedelta = PATIENCE, command: tuple[str, ...] = COMMAND) -> Camera:
        return Camera(browser, self.passage, within, command=command)


@asynccontextmanager
async def serving() -> AsyncGenerator[Site]:
    site, app = Site(), web.Application()
    app.router.add_route("*", "/{rest:.*}", site.serve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        site.port = runner.addresses[0][1]
        yield site
    finally:
        await runner.cleanup()


class Forbidden(DatagramProtocol):
    """What must never be reached: one port of this machine, by both protocols."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.port = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.reached.append("a datagram")

    async def connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reached.append("a connection")
        writer.transport.abort()


@asynccontextmanager
async def forbidden() -> AsyncGenerator[Forbidden]:
    place = Forbidden()
    listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    place.port = listener.getsockname()[1]
    server = await asyncio.start_server(place.connected, sock=listener)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: place, ("127.0.0.1", place.port))
    try:
        yield place
    finally:
        transport.close()
        server.close()
        await server.wait_closed()


def left(folder: Path) -> list[str]:
    """Processes whose command names something in a folder, dead ones that nobody buried, and files in it."""
    found = [str(each) for each in folder.glob("clankie-*")]
    for process in psutil.process_iter():
        try:
            named = str(folder) in " ".join(process.cmdline())
            orphan = (
                process.status() == psutil.STATUS_ZOMBIE
                and "chrom" in process.name()
                and process.create_time() > _begun
            )
        except psutil.Error:
            continue
        if named or orphan:
            found.append(process.name())
    return found


_begun = psutil.Process().create_time()
