"""The guard before everything that is fetched from outside: only the public web is reached. Source: SEC-3."""

import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from http.cookiejar import DefaultCookiePolicy
from ipaddress import ip_address
from typing import Final

import httpx2

from clankie_captain.core.addresses import IpAddress, WebAddress, judge, pinned, unreadable
from clankie_captain.errors import RefusedAddressError
from clankie_captain.threads import Threads
from clankie_settings import bounds

Resolve = Callable[[str, int], Awaitable[Sequence[IpAddress]]]
"""Looks up a host for a port; raises ``OSError`` where there is none of that name."""

Pin = Callable[[Sequence[IpAddress]], Sequence[IpAddress]]
"""Which of the addresses that a host resolved to may be connected to; none at all where they are not trusted."""

CONNECT_WITHIN: Final = timedelta(seconds=4)
"""How long one of a host's addresses may take to accept a connection before the next one is tried."""


def read_address(text: str) -> httpx2.URL:
    """An address as the reader that will connect has read it.

    Raises:
        RefusedAddressError: It is none, or another reader would read it differently.
    """
    refusal = unreadable(text)
    if refusal is not None:
        raise RefusedAddressError(refusal)
    try:
        return httpx2.URL(text)
    except httpx2.InvalidURL as error:
        raise RefusedAddressError("malformed") from error


def web_address(url: httpx2.URL) -> WebAddress:
    """The parts of an address that are judged."""
    return WebAddress(url.scheme, bool(url.userinfo), url.host, url.port)


class SystemResolver:
    """The machine's own resolver, on threads of its own: where names are slow, nothing but names is held up.

    One serves many ways out, so that its threads are bounded, however many there are.
    """

    def __init__(self, most: int = bounds.LOOKUPS) -> None:
        self._threads = Threads(most, "lookup")

    async def resolve(self, host: str, port: int) -> Sequence[IpAddress]:
        """The addresses of a host.

        Raises:
            OSError: There is none of that name, or no thread to look it up.
            ValueError: It cannot be a host's name.
        """
        return await self._threads.run(lambda: _looked_up(host, port))


def _looked_up(host: str, port: int) -> Sequence[IpAddress]:
    return [ip_address(str(place[0])) for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


async def places(host: str, port: int, resolve: Resolve, pin: Pin) -> Sequence[IpAddress]:
    """Where a host that was judged may be connected to, each address once.

    Raises:
        RefusedAddressError: Not all that it resolves to is public.
        OSError: There is no such host.
        ValueError: It cannot be a host's name.
    """
    found = tuple(dict.fromkeys(pin(await resolve(host, port))))
    if not found:
        raise RefusedAddressError("private")
    return found


def direct(verify: ssl.SSLContext | bool = True) -> httpx2.AsyncBaseTransport:
    """Connects without any proxy, and uses no connection twice.

    Connections to one address are alike to the pool: one that was proven for a host would carry another's request.
    """
    return httpx2.AsyncHTTPTransport(verify=verify, trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Connects to public addresses alone, and to those that it has judged.

    Each request is judged by itself, so that a redirect which is followed is judged as well. A host is looked up once:
    the connection goes to the address that was judged, while certificate and ``Host`` header stay the host's.

    Raises (from requests):
        RefusedAddressError: The address is not reached; nothing was connected to.

    Source: SEC-3.
    """

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport | None = None,
        resolve: Resolve | None = None,
        pin: Pin = pinned,
    ) -> None:
        self._inner = inner or direct()
        self._resolve = resolve or SystemResolver().resolve
        self._pin = pin

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Judge the address, look its host up, and ask the address that was judged."""
        refusal = judge(web_address(request.url))
        if refusal is not None:
            raise RefusedAddressError(refusal)
        return await self._first_to_answer(request, await self._places(request.url))

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()

    async def _places(self, url: httpx2.URL) -> Sequence[IpAddress]:
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            return await places(url.host, port, self._resolve, self._pin)
        except (OSError, ValueError) as error:
            raise httpx2.ConnectError("the host is not known") from error

    async def _first_to_answer(self, request: httpx2.Request, places: Sequence[IpAddress]) -> httpx2.Response:
        for place in places[:-1]:
            try:
                return await self._inner.handle_async_request(_to(request, place))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_to(request, places[-1]))


def guarded_client(
    transport: httpx2.AsyncBaseTransport, within: timedelta, headers: Mapping[str, str] | None = None
) -> httpx2.AsyncClient:
    """A client whose every request goes through ``transport``: no proxy of the environment, no redirect, no cookie.

    A caller that follows redirects asks again with the next address, which is judged anew.
    """
    client = httpx2.AsyncClient(
        transport=transport,
        trust_env=False,
        follow_redirects=False,
        headers=headers,
        timeout=httpx2.Timeout(within.total_seconds(), connect=CONNECT_WITHIN.total_seconds()),
    )
    # One client serves every room: what a host gave in one of them must not come along from another.
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return client


def _to(request: httpx2.Request, place: IpAddress) -> httpx2.Request:
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=str(place)),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
