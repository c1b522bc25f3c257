"""A server at an address: one client for it, that goes nowhere else and reads no more than it may."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from clankie_settings import bounds
from clankie_settings.servers import HttpServer

_WITHIN: Final = httpx2.Timeout(10, read=2 * bounds.SERVER_CALL_TIME.total_seconds())
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
    """Lets an answer through as long as it is no larger than a message; streams are bounded by the event."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            # Nobody asked for it, and what it grows to is not known before.
            await response.aclose()
            raise httpx2.RemoteProtocolError("an answer is packed", request=request)
        if not response.headers.get("content-type", "").lower().startswith(_STREAM):
            response.stream = _Counted(response.stream, request)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: object, request: httpx2.Request) -> None:
        assert isinstance(inner, httpx2.AsyncByteStream)
        self._inner = inner
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._inner:
            read += len(chunk)
            if read > bounds.SERVER_MESSAGE_BYTES:
                raise httpx2.RemoteProtocolError("an answer is too large", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
