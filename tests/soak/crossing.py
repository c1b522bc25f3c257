"""The way from bridge to captain, on which connections break and answers get lost."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_BYTES = 65_536


class Crossing:
    """Passes bytes on between two ports, until it is told to cut what is open.

    Attributes:
        port: Where the bridge finds the captain.
        deaf: Answers that are still to be lost: the request passes, and the connection dies before its answer.
    """

    def __init__(self, captain_port: int) -> None:
        self.port = 0
        self.deaf = 0
        self._captain_port = captain_port
        self._open: set[asyncio.StreamWriter] = set()

    @classmethod
    @asynccontextmanager
    async def open(cls, captain_port: int) -> AsyncGenerator["Crossing"]:
        """Listen on a free port, and lead to the captain's."""
        crossing = cls(captain_port)
        server = await asyncio.start_server(crossing._taken, "127.0.0.1", 0)
        crossing.port = server.sockets[0].getsockname()[1]
        try:
            yield crossing
        finally:
            server.close()
            crossing.cut()

    def cut(self) -> int:
        """Break every connection that is open now; how many."""
        for each in (cut := tuple(self._open)):
            each.transport.abort()
        return len(cut)

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            captain, onward = await asyncio.open_connection("127.0.0.1", self._captain_port)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, onward}
        ways = [
            asyncio.ensure_future(self._passed(reader, onward)),
            asyncio.ensure_future(self._answered(captain, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._open -= {writer, onward}
            for way in ways:
                way.cancel()
            for each in (writer, onward):
                each.transport.abort()

    async def _passed(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(_BYTES):
                target.write(data)
                await target.drain()

    async def _answered(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(_BYTES):
                # The stream of actions begins with the same words as any other answer, and is lost just so.
                if self.deaf and data.startswith(b"HTTP/1.1 2"):
                    self.deaf -= 1
                    return
                target.write(data)
                await target.drain()
