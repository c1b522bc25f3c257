"""The HTTP response under an answer."""

from collections.abc import Callable, Mapping

from aiohttp import web

from clankie_stage.provider.beats import Fail
from clankie_stage.provider.chunks import dumps
from clankie_stage.provider.refusals import Refusal

HEADERS: Mapping[str, str] = {"openai-version": "2020-10-01", "cache-control": "no-cache"}


class ConnectionCutError(Exception):
    """The script aborted the connection."""


class Sink:
    """The HTTP response under an answer; it can abort after a number of body bytes."""

    def __init__(self, request: web.Request, cut_after: int | None, first_byte: Callable[[], None]) -> None:
        self._request = request
        self._cut_after = cut_after
        self._first_byte = first_byte
        self._sent = 0
        self.response: web.StreamResponse | None = None

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        """Send status and headers, unless they are gone already."""
        if self.response is None:
            self.response = web.StreamResponse(status=status, headers=headers)
            await self.response.prepare(self._request)
            self._first_byte()

    async def write(self, data: bytes) -> None:
        """Send body bytes after ``open``.

        Raises:
            ConnectionCutError: The byte at which the script aborts was reached.
        """
        if self.response is None:
            raise RuntimeError("write before open")
        left = len(data) if self._cut_after is None else self._cut_after - self._sent
        await self.response.write(data[:left])
        self._sent += len(data)
        if left < len(data):
            if self._request.transport is not None:
                self._request.transport.abort()
            raise ConnectionCutError

    async def close(self) -> None:
        """End the body properly."""
        if self.response is not None:
            await self.response.write_eof()


def refusal_of(fail: Fail) -> Refusal:
    """A scripted error as the wire's error."""
    headers = {"retry-after": fail.retry_after} if fail.retry_after is not None else {}
    return Refusal(fail.status, fail.message, fail.type, None, fail.code, headers)


async def answer_refusal(sink: Sink, refusal: Refusal) -> None:
    """Send an error as the HTTP answer."""
    await sink.open(refusal.status, {**HEADERS, **refusal.headers, "content-type": "application/json"})
    await sink.write(dumps(refusal.body()))
    await sink.close()
