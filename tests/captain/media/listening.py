"""A real socket on this machine that counts who connects to it, and answers with what a test tells it to."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

PNG = b"\x89PNG\r\n\x1a\n and what follows"

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Listener:
    """What connected, and the heads of the requests that came."""

    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list[str])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def response(
    body: bytes = PNG, status: str = "200 OK", content_type: str | None = "image/png", **headers: str
) -> bytes:
    """A whole HTTP answer; a header that is given as an empty text is left away."""
    named = {"Content-Type": content_type or "", "Content-Length": str(len(body)), "Connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in named.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def saying(answer: bytes) -> Answer:
    async def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return say


async def never(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Keep the connection and say nothing until the other side goes."""
    await reader.read()


@asynccontextmanager
async def listening(answer: Answer | bytes, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Listener]:
    listener = Listener()
    serve = saying(answer) if isinstance(answer, bytes) else answer
    open_ones: set[asyncio.Task[None] | None] = set()

    async def on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        open_ones.add(asyncio.current_task())
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                listener.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
                await serve(reader, writer)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(on, "127.0.0.1", 0, ssl=tls)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()
        for task in open_ones:
            assert task is not None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        # A transport is gone one round after it was told to go.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
