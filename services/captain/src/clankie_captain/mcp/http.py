"""A server at an address: one client for it, that goes nowhere else and reads no more than it may."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from clankie_captain.mcp.weighing import Scales
from clankie_settings import bounds
from clankie_settings.servers import HttpServer

_WITHIN: Final = httpx2.Timeout(10, read=2 * bounds.SERVER_CALL_TIME.total_seconds())
LET_GO_S: Final = 2
"""How long a server may take to hear that its session is over, in seconds."""

_STREAM: Final = "text/event-stream"


def http(server: HttpServer) -> Transport:
    """Speak with a server at its address.

    It follows a redirect within that address's origin alone, and takes no proxy, cookie or password from elsewhere.
    """
    return _connected(server)


@asynccontextmanager
async def _connected(server: HttpServer) -> AsyncGenerator[Any]:
    headers = {**server.headers, "accept-encoding": "identity"}
    transport = _Bounded(httpx2.AsyncHTTPTransport(trust_env=False))
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=_WITHIN, transport=transport) as client,
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=bounds.SERVER_MESSAGE_BYTES
        ) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    """Lets an answer through as long as each message in it is no larger, and no more work, than one may be."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # Nothing but a farewell is sent so.
        async with asyncio.timeout(LET_GO_S if request.method == "DELETE" else None):
            response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            # Nobody asked for it, and what it grows to is not known before.
            await response.aclose()
            raise httpx2.RemoteProtocolError("an answer is packed", request=request)
        kind = _Events if response.headers.get("content-type", "").lower().startswith(_STREAM) else _Document
        response.stream = kind(response.stream, request)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Watched(httpx2.AsyncByteStream):
    def __init__(self, inner: object, request: httpx2.Request) -> None:
        assert isinstance(inner, httpx2.AsyncByteStream)
        self._inner = inner
        self._request = request

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _refused(self) -> Exception:
        return httpx2.RemoteProtocolError("an answer is too large", request=self._request)


class _Document(_Watched):
    """An answer that is one message."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        scales, whole = Scales(), bytearray()
        async for chunk in self._inner:
            whole += chunk
            if not scales.has_room(whole):
                raise self._refused()
        if not scales.takes(bytes(whole)):
            raise self._refused()
        yield bytes(whole)


class _Events(_Watched):
    """An answer that goes on, a message an event: lines up to a blank one."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        scales, rest = Scales(), b""
        async for chunk in self._inner:
            rest += chunk
            ready = len(rest) - rest.endswith(b"\r")
            *lines, last = rest[:ready].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            rest = last + rest[ready:]
            for line in lines:
                if not line:
                    scales.clear()
                elif not scales.takes(line):
                    raise self._refused()
            if not scales.has_room(rest):
                raise self._refused()
            yield chunk
