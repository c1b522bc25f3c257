"""A server as a program of ours: what goes over its standard streams, and its end."""

import asyncio
import os
import sys
from asyncio import StreamReader, StreamWriter, subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from clankie_captain.mcp.weighing import Scales
from clankie_settings import bounds
from clankie_settings.servers import StdioServer

GRACE: Final = timedelta(seconds=1)
"""How long a program may take to end once its input has."""

BURIAL: Final = timedelta(seconds=4)
"""How long its warden may take to end it then, with all that it started."""

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


def stdio(server: StdioServer, gone: Callable[[], None]) -> Transport:
    """Start a server's program; ``gone`` is called when it ends by itself.

    Raises:
        OSError: It cannot be started.
    """
    return _started(server, gone)


@asynccontextmanager
async def _started(server: StdioServer, gone: Callable[[], None]) -> AsyncGenerator[Streams]:
    ours, lifeline = os.pipe()
    try:
        process = await _process(server, ours)
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(ours)
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks, to_session, from_server, to_server, from_session:
            tasks.start_soon(_heard, process, to_session, gone)
            tasks.start_soon(_told, process, from_session)
            try:
                yield from_server, to_server
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, lifeline)


async def _process(server: StdioServer, lifeline: int) -> subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", "clankie_captain.mcp.warden", str(lifeline), server.command, *server.args,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # What programs write there holds what they were asked; nobody keeps it.
        stderr=subprocess.DEVNULL,
        env=server.env,
        cwd=server.cwd,
        pass_fds=(lifeline,),
        start_new_session=True,
        limit=bounds.SERVER_MESSAGE_BYTES,
    )  # fmt: skip


async def _heard(
    process: subprocess.Process,
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
    gone: Callable[[], None],
) -> None:
    from_it = cast("StreamReader", process.stdout)
    async with to_session:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while line := await _line(from_it):
                if message := _parsed(line):
                    await to_session.send(message)
    gone()


async def _line(from_it: StreamReader) -> bytes:
    """A line; nothing at the end, which a line is that is more than any message may be."""
    try:
        line = await from_it.readline()
    except (ValueError, ConnectionError):
        return b""
    return line if Scales().takes(line) else b""


def _parsed(line: bytes) -> SessionMessage | None:
    # Many a program says a word on starting; what is no message is none of ours.
    with suppress(ValueError):
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    return None


async def _told(process: subprocess.Process, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    to_it = cast("StreamWriter", process.stdin)
    async with from_session:
        with suppress(ConnectionError):
            async for each in from_session:
                to_it.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await to_it.drain()


async def _end(process: subprocess.Process, lifeline: int) -> None:
    """End it as the protocol has it, by the end of its input; then its warden sees to it."""
    to_it = cast("StreamWriter", process.stdin).transport
    if not to_it.is_closing():
        to_it.abort()
    try:
        gone = await _gone(process, GRACE)
    finally:
        # Its warden ends it from now on, and must not be killed before, even where nobody waits any more.
        os.close(lifeline)
    if not gone and not await _gone(process, BURIAL):
        with suppress(ProcessLookupError):
            process.kill()
        await _gone(process, GRACE)


async def _gone(process: subprocess.Process, within: timedelta) -> bool:
    try:
        async with asyncio.timeout(within.total_seconds()):
            while await cast("StreamReader", process.stdout).read(bounds.SERVER_MESSAGE_BYTES):
                pass
            await process.wait()
    except TimeoutError:
        return False
    return True
