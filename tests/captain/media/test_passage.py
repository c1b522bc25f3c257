"""A browser's only way out, asked as a browser would ask it, and as one would that has been taken over."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from clankie_captain.core.addresses import IpAddress
from clankie_captain.errors import RefusedAddressError
from clankie_captain.media.passage import Passage
from clankie_settings import bounds
from tests.captain.media.listening import Answer, Listener, listening, never, response
from tests.captain.media.test_guard import EVERYWHERE, PUBLIC, Lookups

pytestmark = pytest.mark.requirement("SEC-3")

HTML = response(b"<p>hello", content_type="text/html")
WITHIN_S = 60.0


@dataclass
class Dialled:
    """Connects to the listener instead of to the address that was judged, and keeps which that was."""

    listener: Listener
    calls: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    dead: frozenset[str] = frozenset()

    async def __call__(self, address: IpAddress, port: int) -> tuple[StreamReader, StreamWriter]:
        self.calls.append((str(address), port))
        if str(address) in self.dead:
            raise ConnectionRefusedError
        return await asyncio.open_connection("127.0.0.1", self.listener.port)


@dataclass
class Way:
    """A passage, whoever listens behind it, and its address."""

    passage: Passage
    listener: Listener
    dialled: Dialled
    port: int

    async def ask(self, sent: str | bytes) -> bytes:
        """All that comes back until the connection ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            async with asyncio.timeout(WITHIN_S):
                with suppress(ConnectionError):
                    writer.write(sent.encode() if isinstance(sent, str) else sent)
                    await writer.drain()
                    return await reader.read()
                return b""
        finally:
            writer.transport.abort()

    async def get(self, url: str, *headers: str) -> bytes:
        lines = [f"GET {url} HTTP/1.1", "Host: elsewhere.example", *headers, "", ""]
        return await self.ask("\r\n".join(lines))


@asynccontextmanager
async def opened(
    answer: Answer | bytes = HTML,
    names: dict[str, list[str]] = EVERYWHERE,
    most: int = bounds.PAGE_BYTES,
    in_all: int = bounds.PAGE_REQUESTS,
) -> AsyncGenerator[Way]:
    async with listening(answer) as listener:
        dialled = Dialled(listener)
        passage = Passage(Lookups(names), connect=dialled, most=most, in_all=in_all)
        async with passage.opened() as address:
            yield Way(passage, listener, dialled, int(address.rpartition(":")[2]))


REFUSED = [
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "169.254.169.254", "10.1.2.3",
    "192.168.0.1", "172.16.0.1", "100.64.0.1", "localhost", "localhost.", "here.example", "here6.example",
    "mapped.example", "metadata.example", "private.example", "mixed.example",
]  # fmt: skip


@pytest.mark.parametrize("host", REFUSED)
async def test_no_private_host_is_connected_to_whichever_way_it_is_asked_for(host: str) -> None:
    async with opened() as way:
        for asked in (
            f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n",
            f"CONNECT {host}:80 HTTP/1.1\r\nHost: {host}:80\r\n\r\n",
            f"GET http://{host}/ HTTP/1.1\r\nHost: public.example\r\n\r\n",
        ):
            assert await way.ask(asked) == b""
        assert (way.dialled.calls, way.listener.connections, way.passage.refusals) == ([], 0, 3)


@pytest.mark.parametrize(
    "asked",
    [
        "CONNECT public.example:22 HTTP/1.1",
        "CONNECT public.example:8443 HTTP/1.1",
        "CONNECT public.example HTTP/1.1",
        "CONNECT name:word@public.example:443 HTTP/1.1",
        "CONNECT public.example@here.example:443 HTTP/1.1",
        "GET http://public.example:8080/ HTTP/1.1",
        "GET http://name:word@public.example/ HTTP/1.1",
        "GET file:///etc/passwd HTTP/1.1",
        "GET ftp://public.example/ HTTP/1.1",
        "GET /etc/passwd HTTP/1.1",
        "GET http://public.example\\@here.example/ HTTP/1.1",
        "NONSENSE",
    ],
)
async def test_nothing_but_the_ports_of_the_web_is_connected_to(asked: str) -> None:
    async with opened() as way:
        assert b"200 " not in await way.ask(f"{asked}\r\nHost: public.example\r\n\r\n")
        assert (way.dialled.calls, way.listener.connections) == ([], 0)


async def test_a_request_goes_to_the_address_that_was_judged_and_says_who_was_meant() -> None:
    async with opened() as way:
        answer = await way.get("http://public.example/a?b=c", "Proxy-Connection: keep-alive", "X-Own: 1")
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.endswith(b"<p>hello")
        assert way.dialled.calls == [(PUBLIC, 80)]
        head = way.listener.heads[0].lower()
        assert head.startswith("get /a?b=c http/1.1\r\nhost: public.example\r\n")
        assert "x-own: 1" in head
        assert not {"proxy", "elsewhere"} & set(head.replace("-", " ").replace(".", " ").split())


async def test_a_tunnel_goes_to_the_address_that_was_judged() -> None:
    async with opened() as way:
        sent = b"CONNECT public.example:443 HTTP/1.1\r\nHost: public.example\r\n\r\nGET / HTTP/1.1\r\n\r\n"
        answer = await way.ask(sent)
        assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n" + HTML
        assert way.dialled.calls == [(PUBLIC, 443)]


async def test_a_name_is_judged_by_the_look_up_that_is_used() -> None:
    names = {"public.example": [PUBLIC]}
    async with opened(names=names) as way:
        assert await way.get("http://public.example/") != b""
        names["public.example"] = ["127.0.0.1"]
        assert await way.get("http://public.example/") == b""
        assert way.dialled.calls == [(PUBLIC, 80)]


async def test_a_second_request_on_one_connection_goes_nowhere() -> None:
    async with opened() as way:
        twice = "".join(
            f"GET http://{host}/ HTTP/1.1\r\nHost: x\r\n\r\n" for host in ("public.example", "here.example")
        )
        answer = await way.ask(twice)
        assert answer.count(b"HTTP/1.1 200") == 1
        assert b"connection: close" in answer.lower()
        assert len(way.listener.heads) == 1


async def test_the_next_address_of_a_host_is_tried_where_one_does_not_answer() -> None:
    async with opened(names={"public.example": ["1.0.0.1", PUBLIC]}) as way:
        way.dialled.dead = frozenset({"1.0.0.1"})
        assert await way.get("http://public.example/") != b""
        assert way.dialled.calls == [("1.0.0.1", 80), (PUBLIC, 80)]


async def test_what_a_page_sends_arrives_whole() -> None:
    got = bytearray()

    async def taking(reader: StreamReader, writer: StreamWriter) -> None:
        got.extend(await reader.readexactly(100_000))
        writer.write(HTML)
        await writer.drain()

    async with opened(taking) as way:
        head = "POST http://public.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
        assert (await way.ask(head.encode() + b"x" * 100_000)).endswith(b"<p>hello")
        assert bytes(got) == b"x" * 100_000


async def endless(_: StreamReader, writer: StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


@pytest.mark.parametrize("asked", ["GET http://public.example/ HTTP/1.1", "CONNECT public.example:443 HTTP/1.1"])
async def test_nothing_passes_beyond_the_bound_and_nothing_is_asked_for_afterwards(asked: str) -> None:
    async with opened(endless, most=1_000_000) as way:
        answer = await way.ask(f"{asked}\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        assert 500_000 < len(answer) < 1_100_000
        assert await way.get("http://public.example/") == b""
        assert way.listener.connections == 1


async def test_connections_beyond_the_bound_are_refused() -> None:
    async with opened(in_all=3) as way:
        answers = [await way.get("http://public.example/") for _ in range(5)]
        assert [answer != b"" for answer in answers] == [True, True, True, False, False]
        assert way.listener.connections == 3


async def test_nothing_of_a_passage_is_left_when_it_is_closed() -> None:
    asked_for = asyncio.Event()

    async def silent(reader: StreamReader, writer: StreamWriter) -> None:
        asked_for.set()
        await never(reader, writer)

    before = asyncio.all_tasks()
    async with opened(silent) as way:
        asked = asyncio.ensure_future(way.get("http://public.example/"))
        async with asyncio.timeout(WITHIN_S):
            await asked_for.wait()
    assert await asked == b""
    assert asyncio.all_tasks() - before <= {asked}


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b"\x00\x01nonsense\r\n\r\n"]
)
async def test_an_answer_that_is_none_ends_the_connection(answer: bytes) -> None:
    async with opened(answer) as way:
        assert not (await way.get("http://public.example/")).endswith(b"abcdefghi")


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "chrome://crash",
        "data:text/html,x",
        "about:blank",
        "view-source:http://public.example/",
        "http://here.example/",
        "javascript:1",
    ],
)
async def test_an_address_is_judged_before_any_browser_is_started(address: str) -> None:
    passage = Passage(Lookups(EVERYWHERE))
    with pytest.raises(RefusedAddressError):
        await passage.admit(address)
    await passage.admit("https://public.example/")
    with pytest.raises(OSError, match="no such host"):
        await passage.admit("https://unknown.example/")
