"""A loopback port of this container that leads to another container's, for trials on the stage.

Whatever is meant for trials is refused for an address that is not loopback, so that a real token never leaves by it.
In containers each service has a loopback of its own; this makes the stage part of it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

CHUNK: Final = 64 * 1024
"""Bytes that are carried at a time."""


@asynccontextmanager
async def relay(host: str, port: int, listen: int | None = None) -> AsyncGenerator[str]:
    """Lead 127.0.0.1:``listen`` (by default the same port; 0 is a free one) to ``host:port``; the address to use.

    Raises:
        OSError: The port is taken.
    """
    carried: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(_carry(reader, writer, host, port))
        carried[task] = writer
        task.add_done_callback(carried.pop)

    server = await asyncio.start_server(carry, "127.0.0.1", port if listen is None else listen)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task, writer in [*carried.items()]:
            writer.close()
            task.cancel()
        if carried:
            await asyncio.wait([*carried])


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
    try:
        there, back = await asyncio.open_connection(host, port)
    except OSError:
        writer.close()
        return
    try:
        async with asyncio.TaskGroup() as both:
            both.create_task(_pump(reader, back))
            both.create_task(_pump(there, writer))
    finally:
        back.close()
        writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes one way until that way ends, and say so on the other side; a lost connection ends both ways."""
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()
