"""Threads that look names up: bounded for all ways out together, and no place is lost for whatever goes wrong."""

import asyncio
import socket
import threading

import httpx2
import pytest

from clankie_captain.media.fetch import PictureFetch, Unfetched
from clankie_captain.media.furnishing import command_passage
from clankie_captain.media.guard import GuardedTransport, SystemResolver, guarded_client
from clankie_settings import bounds

pytestmark = pytest.mark.requirement("SEC-3")


@pytest.mark.parametrize(
    "fault", [OSError("none"), ValueError("no name"), UnicodeError("no name"), MemoryError(), RuntimeError("no thread")]
)
async def test_whatever_ends_a_look_up_its_place_comes_free(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def fails(*_: object, **__: object) -> None:
        raise fault

    lookups, starts = SystemResolver(1), isinstance(fault, RuntimeError)
    with monkeypatch.context() as patched:
        patched.setattr(*(threading.Thread, "start") if starts else (socket, "getaddrinfo"), fails)
        with pytest.raises(OSError if starts else type(fault)):
            await lookups.resolve("one.example", 443)
    async with asyncio.timeout(60):
        assert await lookups.resolve("127.0.0.1", 443)


async def test_all_ways_out_that_share_a_resolver_share_its_places(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, asked, began = threading.Event(), list[str](), asyncio.Semaphore(0)
    loop = asyncio.get_running_loop()

    def slow(host: str, *_: object, **__: object) -> None:
        asked.append(host)
        loop.call_soon_threadsafe(began.release)
        go_on.wait(60)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    resolve = SystemResolver(2).resolve
    pictures = PictureFetch.over(None, resolve)
    async with guarded_client(GuardedTransport(resolve=resolve), bounds.FETCH_TIME) as pages, asyncio.timeout(60):
        page = asyncio.ensure_future(pages.get("https://page.example/"))
        command = asyncio.ensure_future(command_passage(resolve).admit("https://command.example/"))
        picture = asyncio.ensure_future(pictures.fetch("https://cdn.discordapp.com/a.png"))
        for _ in range(2):
            await began.acquire()
        for _ in range(100):
            # Long enough for a third thread to begin, where nothing bounds them.
            await asyncio.sleep(0)
        at_once = len(asked)
        go_on.set()
        await asyncio.wait([page, command, picture])
    await pictures.aclose()
    assert (at_once, len(asked)) == (2, 3)
    assert isinstance(page.exception(), httpx2.ConnectError)
    assert isinstance(command.exception(), OSError)
    assert picture.result() == Unfetched("unreachable")
