"""Works that go on beside something, none of which may end unseen."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any


class SoakError(Exception):
    """The soak could not be carried through; the message says how far it came."""


@asynccontextmanager
async def together(works: Iterable[Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Works that go on beside the block and end with it; the fault of one of them ends the block."""
    running: Sequence[Coroutine[Any, Any, None]] = [_unbroken(each) for each in works]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in running]
            try:
                yield
            finally:
                for each in tasks:
                    each.cancel()
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


async def _unbroken(work: Coroutine[Any, Any, None]) -> None:
    """A work that ends when it is told to; a group would take one that was called off from within for done."""
    try:
        await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise SoakError(f"{work.__qualname__} was called off from within") from None
