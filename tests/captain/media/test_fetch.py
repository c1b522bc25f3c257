"""The fetch boundary against a real socket that stands in for Discord's hosts."""

import asyncio
import gzip
import socket
from datetime import timedelta
from ipaddress import ip_address

import pytest

from clankie_captain.core.addresses import IpAddress
from clankie_captain.media.fetch import LoopbackTransport, PictureFetch, Unfetched
from clankie_captain.media.guard import GuardedTransport
from clankie_settings import bounds
from tests.captain.media.listening import PNG, Answer, Listener, listening, never, response

pytestmark = pytest.mark.requirement("IMG-2")

URL = "https://cdn.discordapp.com/attachments/300/700/a.png?ex=1&is=2&hm=3&"
MOST = bounds.ATTACHMENT_BYTES


async def fetched(
    answer: Answer | bytes, url: str = URL, within: timedelta = bounds.FETCH_TIME
) -> tuple[bytes | Unfetched, Listener]:
    async with listening(answer) as cdn:
        fetch = PictureFetch(LoopbackTransport(f"{cdn.address}/cdn"), within)
        try:
            return await fetch.fetch(url), cdn
        finally:
            await fetch.aclose()


async def test_the_bytes_are_fetched_as_they_are_and_nobody_is_told_more_than_the_host_and_path() -> None:
    data, cdn = await fetched(response())
    assert data == PNG
    head, *rest = cdn.heads[0].split("\r\n")
    assert head == "GET /cdn/attachments/300/700/a.png?ex=1&is=2&hm=3& HTTP/1.1"
    sent = dict(line.split(": ", 1) for line in rest if line)
    assert {name.title() for name in sent} == {"Host", "Accept", "Accept-Encoding", "User-Agent", "Connection"}
    assert (sent["Host"], sent["Accept-Encoding"]) == ("cdn.discordapp.com", "identity")


@pytest.mark.parametrize(
    "url",
    [
        "https://media.discordapp.net/attachments/1/2/a.gif?width=2&height=2",
        "https://images-ext-1.discordapp.net/external/sig/%3Fa%3Db/https/example.org/a.mp4",
        "https://images-ext-2.discordapp.net/external/sig/https/example.org/a.mp4",
        "https://CDN.discordapp.com:443/a.png",
    ],
)
async def test_discords_other_hosts_are_asked_as_well(url: str) -> None:
    data, cdn = await fetched(response(), url)
    assert (data, cdn.connections) == (PNG, 1)


@pytest.mark.requirement("SEC-3")
@pytest.mark.parametrize(
    "url",
    [
        "http://cdn.discordapp.com/a.png",
        "https://cdn.discordapp.com:8443/a.png",
        "https://cdn.discordapp.com:80/a.png",
        "https://user@cdn.discordapp.com/a.png",
        "https://cdn.discordapp.com@example.org/a.png",
        "https://cdn.discordapp.com\\@example.org/a.png",
        "https://cdn.discordapp.com.example.org/a.png",
        "https://cdn.discordapp.com./a.png",
        "https://xn--cdn-discordapp-com.example.org/a.png",
        "https://cdn.dlscordapp.com/a.png",
        "https://cdn\u3002discordapp\u3002com/a.png",
        "https://evilcdn.discordapp.com/a.png",
        "https://images-ext-1.discordapp.net.example.org/a.png",
        "https://images-ext-x.discordapp.net/a.png",
        "https://example.org/cdn.discordapp.com/a.png",
        "https://example.org/?https://cdn.discordapp.com/a.png",
        "https://example.org#@cdn.discordapp.com/",
        "https://discord.com/api/v10/users/@me",
        "https://162.159.130.233/a.png",
        "https://127.0.0.1/a.png",
        "https://127.1/a.png",
        "https://2130706433/a.png",
        "https://0x7f.1/a.png",
        "https://[::1]/a.png",
        "https://[::ffff:127.0.0.1]/a.png",
        "https://localhost/a.png",
        "https://169.254.169.254/latest",
        "file:///etc/passwd",
        "ftp://cdn.discordapp.com/a.png",
        "//cdn.discordapp.com/a.png",
        "cdn.discordapp.com/a.png",
        "https://",
        "https://cdn.discordapp.com/ a.png",
        "https://cdn.discordapp.com/a.png\r\nX-Injected: yes",
        "",
    ],
)
async def test_nobody_else_is_connected_to(url: str) -> None:
    result, cdn = await fetched(response(), url)
    assert result == Unfetched("refused")
    assert cdn.connections == 0


@pytest.mark.requirement("SEC-3")
async def test_a_host_of_discords_that_leads_into_a_private_network_is_refused() -> None:
    async with listening(response()) as cdn:

        async def astray(host: str, port: int) -> list[IpAddress]:
            return [ip_address("127.0.0.1")]

        fetch = PictureFetch(GuardedTransport(LoopbackTransport(cdn.address), astray))
        assert await fetch.fetch(URL) == Unfetched("refused")
        await fetch.aclose()
        assert cdn.connections == 0


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (response(b"gone", "404 Not Found", "text/plain"), "expired"),
        (response(PNG, "404 Not Found"), "expired"),
        (response(b"", "403 Forbidden"), "expired"),
        (response(b"", "410 Gone"), "expired"),
        (response(b"", "302 Found", Location="https://cdn.discordapp.com/b.png"), "refused"),
        (response(b"", "301 Moved", Location="https://example.org/b.png"), "refused"),
        (response(b"", "204 No Content", None), "unreachable"),
        (response(PNG, "206 Partial Content"), "unreachable"),
        (response(b"busy", "503 Service Unavailable"), "unreachable"),
        (response(b"slow down", "429 Too Many Requests"), "unreachable"),
        (response(gzip.compress(bytes(MOST)), Content_Encoding="gzip"), "unreachable"),
        (response(b"<html>log in</html>", content_type="text/html; charset=utf-8"), "unsupported"),
        (response(b"{}", content_type="application/json"), "unsupported"),
        (response(b"%PDF-1.7", content_type="application/pdf"), "unsupported"),
        (response(b""), "broken"),
        (response(bytes(MOST + 1)), "too_large"),
        (response(PNG, Content_Length=str(MOST + 1)), "too_large"),
        (response(bytes(MOST + 1), Content_Length=""), "too_large"),
        (response(PNG, Content_Length="400"), "unreachable"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n\x89PNG\r", "unreachable"),
        (b"no HTTP at all\r\n\r\n", "unreachable"),
        (b"", "unreachable"),
    ],
)
async def test_an_answer_that_is_no_picture_is_a_cause_and_never_bytes(answer: bytes, cause: str) -> None:
    """C13, C55."""
    result, cdn = await fetched(answer)
    assert result == Unfetched(cause)  # pyright: ignore[reportArgumentType] -- one of the causes
    assert cdn.connections == 1


@pytest.mark.parametrize(
    "served",
    ["image/png", "IMAGE/PNG; q=1", "image/jpeg", "video/mp4", "application/octet-stream", "text/plain", None],
)
async def test_a_served_type_that_may_be_a_picture_leaves_the_judgement_to_the_bytes(served: str | None) -> None:
    """C03."""
    data, _ = await fetched(response(content_type=served))
    assert data == PNG


async def test_a_picture_of_just_the_largest_size_is_fetched() -> None:
    data, _ = await fetched(response(bytes(MOST)))
    assert isinstance(data, bytes)
    assert len(data) == MOST


async def test_a_body_without_end_is_cut_off_and_not_kept() -> None:
    written = 0

    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nConnection: close\r\n\r\n")
        while not writer.is_closing():
            writer.write(bytes(65_536))
            written += 65_536
            await writer.drain()

    result, _ = await fetched(endless)
    assert result == Unfetched("too_large")
    assert written < 4 * MOST


async def slow_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100\r\n\r\n\x89PNG")
    await reader.read()


@pytest.mark.parametrize("answer", [never, slow_body])
async def test_headers_and_body_together_have_their_time_and_no_more(answer: Answer) -> None:
    result, _ = await fetched(answer, within=timedelta(milliseconds=200))
    assert result == Unfetched("timed_out")
    assert timedelta(seconds=10) == bounds.FETCH_TIME


async def test_a_fetch_that_is_given_up_closes_its_connection() -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def waiting(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        closed.set()

    async with listening(waiting) as cdn:
        fetch = PictureFetch(LoopbackTransport(cdn.address))
        task = asyncio.create_task(fetch.fetch(URL))
        await asyncio.wait_for(asked.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(closed.wait(), 60)
        await fetch.aclose()


async def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(response()) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)
        data, cdn = await fetched(response())
        assert (data, cdn.connections, proxy.connections) == (PNG, 1, 0)


async def test_without_the_trial_setting_the_guard_stands_before_the_real_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def nowhere(host: str, port: int, **kind: object) -> list[object]:
        asked.append(host)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    fetch = PictureFetch.over(None)
    assert await fetch.fetch(URL) == Unfetched("unreachable")
    await fetch.aclose()
    assert asked == ["cdn.discordapp.com"]
