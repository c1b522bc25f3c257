"""Bytes that come from a provider, told to the run that waits for them. Source: FAIL-3."""

from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

import httpx2


class Pulse:
    """Tells each run about the bytes of its own responses; one is shared by all clients of a captain."""

    def __init__(self) -> None:
        # The tasks of a run inherit this, and those of another run do not see it.
        self._listener: ContextVar[Callable[[], None] | None] = ContextVar("listener", default=None)

    @contextmanager
    def heard_by(self, listener: Callable[[], None]) -> Generator[None]:
        """While this is open, bytes of responses to this task's requests are told to ``listener``."""
        token = self._listener.set(listener)
        try:
            yield
        finally:
            self._listener.reset(token)

    async def watch(self, response: httpx2.Response) -> None:
        """A response hook of an HTTP client: from here on every chunk of the body is told."""
        listener = self._listener.get()
        if listener is not None and isinstance(response.stream, httpx2.AsyncByteStream):
            listener()
            response.stream = _Watched(response.stream, listener)


class _Watched(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, listener: Callable[[], None]) -> None:
        self._stream = stream
        self._listener = listener

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._listener()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
