"""A captain of its own for each test, and as many further lives on its state as the test wants."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.captain.api.running import RunningCaptain

Restart = Callable[[], Awaitable[RunningCaptain]]


@pytest.fixture
async def captain(tmp_path: Path) -> AsyncIterator[RunningCaptain]:
    running = await RunningCaptain.start(tmp_path / "state")
    yield running
    running.loop.free.set()
    await running.stop()


@pytest.fixture
async def restart(captain: RunningCaptain) -> AsyncIterator[Restart]:
    """Stops the captain and gives the next one on the same state."""
    async with AsyncExitStack() as stack:

        async def restarted() -> RunningCaptain:
            again = await captain.restarted()
            stack.push_async_callback(again.stop)
            return again

        yield restarted
