"""What the guard lets through, asserted on a real listening socket. Every refused request would have reached it."""

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncGenerator, Sequence
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
import trustme

from clankie_captain.core.addresses import IpAddress
from clankie_captain.errors import RefusedAddressError
from clankie_captain.media.fetch import LoopbackTransport
from clankie_captain.media.guard import GuardedTransport, SystemResolver, direct, guarded_client, read_address
from clankie_settings import bounds
from tests.captain.media.listening import Listener, listening, response

pytestmark = pytest.mark.requirement("SEC-3")

PUBLIC = "1.1.1.1"
EVERYWHERE = {
    "public.example": [PUBLIC],
    "private.example": ["10.0.0.1"],
    "here.example": ["127.0.0.1"],
    "here6.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "mixed.example": [PUBLIC, "127.0.0.1"],
    "127.1": ["127.0.0.1"],
    "2130706433": ["127.0.0.1"],
    "0x7f000001": ["127.0.0.1"],
    "0177.0.0.1": ["127.0.0.1"],
    "localhost": ["127.0.0.1"],
    "localhost.": ["127.0.0.1"],
}


REFUSED = [
    "file:///etc/passwd",
    "ftp://public.example/",
    "gopher://public.example/",
    "data:image/png;base64,AAAA",
    "public.example/a.png",
    "//public.example/a.png",
    "https:///a.png",
    "https://name:word@public.example/",
    "https://@public.example/",
    "https://public.example\\@here.example/",
    "https://public.example:8443/",
    "http://public.example:22/",
    "https://public.example%2ehere.example/",
    "https://public.example /",
    "https://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1%25eth0]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://localhost/",
    "http://localhost./",
    "http://here.example/",
    "http://here6.example/",
    "http://mapped.example/",
    "http://metadata.example/",
    "http://private.example/",
    "http://mixed.example/",
]
"""Addresses that are not of the public web, each spelled by somebody who tries something."""


class Lookups:
    """A resolver that says what a test wants, and counts how often it is asked."""

    def __init__(self, names: dict[str, list[str]]) -> None:
        self._names = names
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[IpAddress]:
        self.asked.append(host)
        if host not in self._names:
            raise OSError("no such host")
        return [ip_address(each) for each in self._names[host]]


class Recorded(LoopbackTransport):
    """Sends whatever gets through to the listener, and keeps what it was asked."""

    def __init__(self, base: str) -> None:
        super().__init__(base)
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return await super().handle_async_request(request)


@pytest_asyncio.fixture
async def door() -> AsyncGenerator[Listener]:
    async with listening(response()) as listener:
        yield listener


async def ask(address: str, listener: Listener, lookups: Lookups | None = None) -> httpx2.Request:
    """Ask for an address through the guard; whatever passes goes to the listener. The request as it passed."""
    recorded = Recorded(listener.address)
    transport = GuardedTransport(recorded, lookups or Lookups(EVERYWHERE))
    async with guarded_client(transport, bounds.FETCH_TIME) as client:
        answer = await client.get(read_address(address))
        answer.raise_for_status()
    return recorded.requests[-1]


@pytest.mark.parametrize("address", REFUSED)
async def test_nothing_but_the_public_web_is_connected_to(address: str, door: Listener) -> None:
    with pytest.raises(RefusedAddressError) as refused:
        await ask(address, door)
    assert door.connections == 0
    assert "example" not in str(refused.value)


async def test_a_public_address_is_connected_to_where_it_was_judged(door: Listener) -> None:
    request = await ask("https://public.example/a.png?b=c", door)
    assert (request.url.host, request.headers["Host"]) == (PUBLIC, "public.example")
    assert request.extensions["sni_hostname"] == "public.example"
    assert door.heads[0].startswith("GET /a.png?b=c HTTP/1.1\r\nHost: public.example\r\n")


async def test_a_name_that_changes_after_it_was_judged_changes_nothing(door: Listener) -> None:
    names = {"public.example": [PUBLIC]}
    lookups = Lookups(names)

    class Changing(Recorded):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            names["public.example"] = ["127.0.0.1"]
            return await super().handle_async_request(request)

    recorded = Changing(door.address)
    async with guarded_client(GuardedTransport(recorded, lookups), bounds.FETCH_TIME) as client:
        await client.get("https://public.example/")
        assert [each.url.host for each in recorded.requests] == [PUBLIC]
        with pytest.raises(RefusedAddressError):
            await client.get("https://public.example/")
    assert lookups.asked == ["public.example"] * 2
    assert door.connections == 1


async def test_a_redirect_that_is_followed_is_judged_as_well() -> None:
    to_itself = response(b"", "302 Found", Location="http://here.example/secret")
    async with listening(to_itself) as door:
        transport = GuardedTransport(Recorded(door.address), Lookups(EVERYWHERE))
        async with guarded_client(transport, bounds.FETCH_TIME) as client:
            assert (await client.get("http://public.example/")).is_redirect
            with pytest.raises(RefusedAddressError):
                await client.get("http://public.example/", follow_redirects=True)
        assert all("secret" not in head for head in door.heads)


async def test_a_host_that_nobody_knows_is_a_failed_connection(door: Listener) -> None:
    with pytest.raises(httpx2.ConnectError):
        await ask("https://unknown.example/", door)
    assert door.connections == 0


async def test_the_next_address_of_a_host_is_tried_where_one_does_not_answer(door: Listener) -> None:
    class Half(Recorded):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if request.url.host == "1.0.0.1":
                raise httpx2.ConnectError("nobody there")
            return await super().handle_async_request(request)

    inner = Half(door.address)
    transport = GuardedTransport(inner, Lookups({"public.example": ["1.0.0.1", "1.0.0.1", PUBLIC]}))
    async with guarded_client(transport, bounds.FETCH_TIME) as client:
        assert (await client.get("https://public.example/")).status_code == 200
    assert [each.url.host for each in inner.requests] == [PUBLIC]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def on_this_machine(found: Sequence[IpAddress]) -> Sequence[IpAddress]:
    """Stands in for the judgement of addresses, so that a real handshake can be tried on loopback."""
    return found


class Moved(httpx2.AsyncBaseTransport):
    """Connects as the guard does, at the listener's port."""

    def __init__(self, verify: ssl.SSLContext, port: int) -> None:
        self._inner = direct(verify)
        self._port = port

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(port=self._port)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


def secure(authority: trustme.CA, door: Listener) -> GuardedTransport:
    """The guard as it is used, with the test's own authority."""
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)  # pyright: ignore[reportUnknownMemberType] -- it also knows another library's
    return GuardedTransport(Moved(trusting, door.port), Lookups(EVERYWHERE), on_this_machine)


def serving(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)  # pyright: ignore[reportUnknownMemberType] -- as above
    return context


async def test_the_certificate_must_be_the_hosts_though_the_connection_goes_to_its_address(
    authority: trustme.CA,
) -> None:
    async with listening(response(), serving(authority, "here.example")) as door:
        async with guarded_client(secure(authority, door), bounds.FETCH_TIME) as client:
            assert (await client.get("https://here.example/a")).status_code == 200
        assert door.heads[0].startswith("GET /a HTTP/1.1\r\nHost: here.example\r\n")


async def test_anothers_certificate_is_refused(authority: trustme.CA) -> None:
    async with listening(response(), serving(authority, "public.example")) as door:
        async with guarded_client(secure(authority, door), bounds.FETCH_TIME) as client:
            with pytest.raises(httpx2.ConnectError):
                await client.get("https://here.example/a")
        assert door.heads == []


async def again_and_again(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(response(Connection="keep-alive"))
        await reader.readuntil(b"\r\n\r\n")


async def test_a_connection_that_was_proven_for_one_host_never_carries_anothers_request(
    authority: trustme.CA,
) -> None:
    async with (
        listening(again_and_again, serving(authority, "here.example")) as door,
        guarded_client(secure(authority, door), bounds.FETCH_TIME) as client,
    ):
        assert (await client.get("https://here.example/")).status_code == 200
        with pytest.raises(httpx2.ConnectError):
            await client.get("https://localhost/")


async def test_a_proxy_of_the_environment_is_never_asked(
    door: Listener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, door.address)
    (tmp_path / "netrc").write_text("machine public.example login a password b")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with listening(response()) as beyond:
        request = await ask("http://public.example/", beyond)
    assert (door.connections, beyond.connections) == (0, 1)
    assert "Authorization" not in request.headers

    async with guarded_client(GuardedTransport(), bounds.FETCH_TIME) as client:
        with pytest.raises(RefusedAddressError):
            await client.get("http://127.0.0.1/")
    assert door.connections == 0


async def test_names_that_take_long_hold_up_nothing_but_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, asked = threading.Event(), list[str]()
    loop, both = asyncio.get_running_loop(), asyncio.Event()

    def slow(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        if len(asked) == 2:
            loop.call_soon_threadsafe(both.set)
        if host != "quick.example":
            go_on.wait(60)
        if host == "none.example":
            raise OSError("no such host")
        return [(2, 1, 6, "", (PUBLIC, port))]

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    lookups = SystemResolver(2)
    given_up = [asyncio.create_task(lookups.resolve(f"{n}.example", 443)) for n in range(2)]
    async with asyncio.timeout(60):
        await both.wait()
        for each in given_up:
            each.cancel()
        await asyncio.wait(given_up)
        waiting = asyncio.create_task(lookups.resolve("quick.example", 443))
        assert await asyncio.to_thread(lambda: "other work goes on") == "other work goes on"
        assert not waiting.done()
        assert "quick.example" not in asked
        go_on.set()
        assert await waiting == [ip_address(PUBLIC)]
        with pytest.raises(OSError, match="no such host"):
            await lookups.resolve("none.example", 443)
