"""Another container's port on this one's loopback."""

import asyncio
import hashlib
import socket

from clankie_cli.relay import relay


async def test_bytes_go_both_ways_whole_and_each_end_is_passed_on() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = await reader.read()  # to its end, which has to arrive
        writer.write(hashlib.sha256(sent).digest())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    words = b"a line and another\n" * 50_000
    async with server, relay("127.0.0.1", port, listen=0) as url:
        here = int(url.rpartition(":")[2])
        assert (url, here != port) == (f"http://127.0.0.1:{here}", True)
        reader, writer = await asyncio.open_connection("127.0.0.1", here)
        writer.write(words)
        writer.write_eof()
        assert await reader.read() == hashlib.sha256(words).digest()
        writer.close()


async def test_a_connection_is_closed_where_nobody_listens_behind() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    async with relay("127.0.0.1", port, listen=0) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        assert await reader.read() == b""
        writer.close()


async def test_one_that_breaks_off_leaves_the_next_alone() -> None:
    gone = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not await reader.read(1):
            gone.set()
        else:
            writer.write(b"here")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server, relay("127.0.0.1", server.sockets[0].getsockname()[1], listen=0) as url:
        here = int(url.rpartition(":")[2])
        _, first = await asyncio.open_connection("127.0.0.1", here)
        first.transport.abort()
        await asyncio.wait_for(gone.wait(), 60)
        reader, second = await asyncio.open_connection("127.0.0.1", here)
        second.write(b"?")
        assert await reader.read() == b"here"
        second.close()


async def test_what_is_still_open_ends_with_it() -> None:
    asked = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        async with relay("127.0.0.1", server.sockets[0].getsockname()[1], listen=0) as url:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
            await asyncio.wait_for(asked.wait(), 60)
        assert await asyncio.wait_for(reader.read(), 60) == b""
        writer.close()
