"""A program on a leash: a group of its own, none of the captain's environment, and no trace of it afterwards."""

import asyncio
import os
import signal
from asyncio import StreamReader, StreamWriter, subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from types import MappingProxyType
from typing import Final, cast

GRACE: Final = timedelta(seconds=1)
"""How long a program may take to end what it started, before its group is killed."""

PIECE: Final = 256 * 1024
"""Bytes that are read from it at a time."""

_ENVIRONMENT: Final = {"LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "2"}


class ProgramError(Exception):
    """A program failed, or said more than it may."""


@asynccontextmanager
async def leashed(
    command: Sequence[str], environment: Mapping[str, str] = MappingProxyType({})
) -> AsyncGenerator[subprocess.Process]:
    """A program with pipes for stdin and stdout, nothing but ``environment``, and the end of its whole group.

    Raises:
        OSError: It cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Nothing of the captain's is anything to it: no key, no token, no folder.
        env={**_ENVIRONMENT, **environment},
        cwd="/",
        start_new_session=True,
    )
    try:
        yield process
    finally:
        await _ended(process)


async def output(command: Sequence[str], given: bytes, most: int, within: timedelta) -> bytes:
    """What a program writes when it is given some bytes.

    Raises:
        OSError: It cannot be started.
        ProgramError: It failed, or wrote more than ``most`` bytes.
        TimeoutError: It was not done in time.
    """
    async with asyncio.timeout(within.total_seconds()), leashed(command) as process:
        to_it, from_it = cast("StreamWriter", process.stdin), cast("StreamReader", process.stdout)
        with suppress(ConnectionError):
            to_it.write(given)
            await to_it.drain()
        to_it.close()
        said = bytearray()
        while piece := await from_it.read(PIECE):
            said += piece
            if len(said) > most:
                raise ProgramError("it says too much")
        if await process.wait() != 0:
            raise ProgramError("it failed")
        return bytes(said)


async def _ended(process: subprocess.Process) -> None:
    """End a program and everything that it started; what it still says is thrown away."""
    to_it = cast("StreamWriter", process.stdin).transport
    if not to_it.is_closing():
        to_it.abort()
    try:
        if process.returncode is None:
            _tell(process, signal.SIGTERM)
            async with asyncio.timeout(GRACE.total_seconds()):
                await _gone(process)
    except TimeoutError:
        pass
    finally:
        _tell(process, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE.total_seconds()):
            await _gone(process)


def _tell(process: subprocess.Process, what: signal.Signals) -> None:
    # Its number is its group's; one that is gone and reaped has left nobody behind.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, what)


async def _gone(process: subprocess.Process) -> None:
    # Only who has read to the end of the pipe learns of the process's end.
    while await cast("StreamReader", process.stdout).read(PIECE):
        pass
    await process.wait()
