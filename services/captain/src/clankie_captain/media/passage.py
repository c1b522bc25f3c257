"""The only way out of a browser: a proxy on this machine that lets nobody but the public web be reached.

What a page asks for (documents, what belongs to them, redirects, sockets) comes through here, since its browser knows
no other way and looks no name up itself. Each host is judged and looked up once, and the connection goes to the address
that was judged. Source: SEC-3.
"""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import h11
import httpx2

from clankie_captain.core.addresses import IpAddress, WebAddress, judge, pinned
from clankie_captain.errors import RefusedAddressError
from clankie_captain.media.guard import (
    CONNECT_WITHIN,
    Pin,
    Resolve,
    SystemResolver,
    places,
    read_address,
    web_address,
)
from clankie_settings import bounds

Dial = Callable[[IpAddress, int], Awaitable[tuple[StreamReader, StreamWriter]]]
"""Connects to an address that was judged; raises ``OSError`` where nobody answers."""

PIECE: Final = 64 * 1024
"""Bytes that are moved at a time."""

_TUNNELS: Final = {443: "https", 80: "http"}
_OWN: Final = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"upgrade", b"te"})


class PassageClosedError(Exception):
    """Too much went through already."""


async def dial(address: IpAddress, port: int) -> tuple[StreamReader, StreamWriter]:
    """Connect to an address."""
    return await asyncio.open_connection(str(address), port)


class Passage:
    """A proxy for one browser, open for as long as its picture takes.

    Args:
        resolve: Looks hosts up.
        pin: Which of a host's addresses may be connected to.
        connect: Connects to one of them.
        most: Bytes that pass in both directions together.
        at_once: Connections at a time; others wait.
        in_all: Connections in all; others are refused.

    Attributes:
        refusals: How many requests were refused for where they led.
        passed: Bytes that went through.
    """

    def __init__(
        self,
        resolve: Resolve | None = None,
        pin: Pin = pinned,
        connect: Dial = dial,
        most: int = bounds.PAGE_BYTES,
        at_once: int = bounds.PAGE_CONNECTIONS,
        in_all: int = bounds.PAGE_REQUESTS,
    ) -> None:
        self._resolve = resolve or SystemResolver().resolve
        self._pin = pin
        self._connect = connect
        self._most = most
        self._left = in_all
        self._slots = asyncio.Semaphore(at_once)
        self._tasks = set[asyncio.Task[None]]()
        self.refusals = 0
        self.passed = 0

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[str]:
        """The proxy's address, such as ``http://127.0.0.1:40123``; afterwards nothing of it is left."""
        async with self.serving(socket.create_server(("127.0.0.1", 0))) as port:
            yield f"http://127.0.0.1:{port}"

    @asynccontextmanager
    async def serving(self, door: socket.socket) -> AsyncGenerator[int]:
        """The port of a socket that listens already, wherever that is; the socket is closed afterwards."""
        server = await asyncio.start_server(self._take, sock=door, limit=PIECE)
        try:
            yield int(door.getsockname()[1])
        finally:
            server.close()
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def admit(self, address: str) -> None:
        """Judge an address as a request for it will be judged, before any browser is started.

        Raises:
            RefusedAddressError: It is not reached.
            OSError: There is no such host.
        """
        await self._way(web_address(read_address(address)))

    async def _way(self, address: WebAddress) -> tuple[Sequence[IpAddress], int]:
        refusal = judge(address)
        if refusal is not None:
            raise RefusedAddressError(refusal)
        port = 443 if address.scheme == "https" else 80
        try:
            return await places(address.host, port, self._resolve, self._pin), port
        except ValueError as error:
            raise OSError("no name of a host") from error

    def _take(self, reader: StreamReader, writer: StreamWriter) -> None:
        # A plain function, so that the task is ours from its first moment.
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection of the browser: one request, or one tunnel; it is never used again."""
        try:
            self._left -= 1
            if self._left < 0 or self.passed >= self._most:
                return
            async with self._slots:
                near = _Near(reader, writer)
                request = await near.request()
                if request is not None:
                    await self._answer(request, near)
        except RefusedAddressError:
            self.refusals += 1
        except (OSError, EOFError, ValueError, TimeoutError, h11.ProtocolError, httpx2.InvalidURL, PassageClosedError):
            # The browser learns of it by the end of the connection, and shows nothing that we would have to write.
            pass
        finally:
            writer.transport.abort()

    async def _answer(self, request: h11.Request, near: "_Near") -> None:
        target = request.target.decode("ascii")
        if request.method == b"CONNECT":
            way = await self._way(_tunnel(target))
            async with self._far(*way) as far:
                await self._tunnelled(near, far)
            return
        url = read_address(target)
        way = await self._way(web_address(url))
        async with self._far(*way) as far:
            await self._forwarded(request, url, near, far)

    @asynccontextmanager
    async def _far(self, found: Sequence[IpAddress], port: int) -> AsyncGenerator[tuple[StreamReader, StreamWriter]]:
        reader, writer = await self._first_to_answer(found, port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    async def _first_to_answer(self, found: Sequence[IpAddress], port: int) -> tuple[StreamReader, StreamWriter]:
        for place in found[:-1]:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_WITHIN.total_seconds()):
                    return await self._connect(place, port)
        async with asyncio.timeout(CONNECT_WITHIN.total_seconds()):
            return await self._connect(found[-1], port)

    async def _tunnelled(self, near: "_Near", far: tuple[StreamReader, StreamWriter]) -> None:
        near.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        far[1].write(near.rest())
        ways = [
            asyncio.ensure_future(self._moved(near.reader, far[1])),
            asyncio.ensure_future(self._moved(far[0], near.writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        # What was written last is still on its way to the browser.
        async with asyncio.timeout(CONNECT_WITHIN.total_seconds()):
            near.writer.close()
            await near.writer.wait_closed()

    async def _moved(self, source: StreamReader, sink: StreamWriter) -> None:
        while piece := await source.read(PIECE):
            self._count(piece)
            sink.write(piece)
            await sink.drain()

    async def _forwarded(
        self, request: h11.Request, url: httpx2.URL, near: "_Near", far: tuple[StreamReader, StreamWriter]
    ) -> None:
        """Ask for the browser, and hand the answer on as it comes."""
        conversation = h11.Connection(h11.CLIENT)
        reader, writer = far
        headers = [(name, value) for name, value in request.headers if name not in _OWN and name != b"host"]
        head = h11.Request(
            method=request.method,
            target=url.raw_path,
            headers=[(b"Host", url.netloc), *headers, (b"Connection", b"close")],
        )
        writer.write(conversation.send(head) or b"")
        async for piece in near.body():
            self._count(piece)
            writer.write(conversation.send(h11.Data(data=piece)) or b"")
            await writer.drain()
        writer.write(conversation.send(h11.EndOfMessage()) or b"")
        await writer.drain()
        while not isinstance(event := conversation.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                piece = await reader.read(PIECE)
                self._count(piece)
                conversation.receive_data(piece)
            elif isinstance(event, h11.Response):
                await near.say(h11.Response(status_code=event.status_code, headers=_handed_on(event)))
            elif isinstance(event, h11.Data):
                await near.say(event)
            elif not isinstance(event, h11.InformationalResponse):
                raise EOFError
        await near.end()

    def _count(self, piece: bytes | bytearray) -> None:
        self.passed += len(piece)
        if self.passed > self._most:
            raise PassageClosedError


class _Near:
    """The browser's side of one connection."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._conversation = h11.Connection(h11.SERVER)

    async def request(self) -> h11.Request | None:
        """The head of the request; None where it goes away without one."""
        event = await self._next()
        return event if isinstance(event, h11.Request) else None

    async def body(self) -> AsyncGenerator[bytes]:
        """What the request carries."""
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    def rest(self) -> bytes:
        """What came behind the head of a tunnel already."""
        return bytes(self._conversation.trailing_data[0])

    async def say(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> None:
        """Hand something of an answer on."""
        self.writer.write(self._conversation.send(event) or b"")
        await self.writer.drain()

    async def end(self) -> None:
        """The answer is whole; it is on its way when this returns."""
        await self.say(h11.EndOfMessage())
        async with asyncio.timeout(CONNECT_WITHIN.total_seconds()):
            self.writer.close()
            await self.writer.wait_closed()

    async def _next(self) -> h11.Event | None:
        while (event := self._conversation.next_event()) is h11.NEED_DATA:
            self._conversation.receive_data(await self.reader.read(PIECE))
        return event if isinstance(event, h11.Event) else None


def _tunnel(target: str) -> WebAddress:
    """What a tunnel leads to, as an address of the web.

    Raises:
        RefusedAddressError: It is none.
    """
    host, _, port = target.rpartition(":")
    if not port.isdecimal() or int(port) not in _TUNNELS:
        raise RefusedAddressError("port")
    scheme = _TUNNELS[int(port)]
    return web_address(read_address(f"{scheme}://{host}/"))


def _handed_on(answer: h11.Response) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in answer.headers if name not in _OWN]
    return [*kept, (b"Connection", b"close")]
