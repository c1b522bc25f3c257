"""Services that search the web, asked on real sockets: what they are told, what is read of them, and nobody else."""

import gzip
import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from clankie_captain.core.run import Usage
from clankie_captain.core.searching import Found, Hit
from clankie_captain.errors import ConfigurationError
from clankie_captain.media.guard import GuardedTransport
from clankie_captain.media.searching import ServiceSearch
from clankie_captain.media.web import equipped
from clankie_captain.ports import NotFoundError, Searcher
from clankie_settings import bounds
from clankie_settings.schema import CaptainSettings
from tests.captain.media.listening import Answer, Listener, listening, never, response
from tests.captain.media.test_guard import PUBLIC, REFUSED, Lookups, Recorded

pytestmark = pytest.mark.requirement("SEC-3")

KEY = "canary-key"
SOON = timedelta(seconds=0.4)
RESULTS = [{"title": "Boats", "url": "https://boats.example/a", "description": "float", "content": "float"}]
HITS = (Hit("Boats", "https://boats.example/a", "float"),)


def told(status: str, body: bytes = b"{}", **headers: str) -> bytes:
    return response(body, status, content_type="application/json", **headers)


SAYS = {
    "brave": told("200 OK", json.dumps({"type": "search", "web": {"type": "search", "results": RESULTS}}).encode()),
    "searxng": told("200 OK", json.dumps({"query": "q", "results": RESULTS, "answers": []}).encode()),
}


def service(kind: str) -> bytes:
    """What a service answers, in its own form."""
    return SAYS[kind]


def parts(head: str) -> tuple[str, dict[str, list[str]], dict[str, str]]:
    """Path, query and headers of a request."""
    first, *lines = head.strip().split("\r\n")
    split = urlsplit(first.split()[1])
    headers = dict(each.lower().split(": ", 1) for each in lines)
    return split.path, parse_qs(split.query), headers


async def searched(search: Searcher, words: str = "boats & ships") -> Found:
    steps: list[int] = []
    costs: list[Usage] = []
    try:
        found = await search.search(words, lambda: steps.append(1), costs.append)
    finally:
        await search.aclose()
    assert (len(steps), costs) == (2, [])
    return found


def brave(
    door: Listener, names: dict[str, list[str]] | None = None, within: timedelta = bounds.SEARCH_TIME
) -> ServiceSearch:
    lookups = Lookups(names or {"api.search.brave.com": [PUBLIC]})
    return ServiceSearch.brave(KEY, within, GuardedTransport(Recorded(door.address), lookups))


async def test_brave_is_asked_as_it_wants_to_be_and_through_the_guard() -> None:
    async with listening(service("brave")) as door:
        assert await searched(brave(door)) == Found(HITS)
        path, query, headers = parts(door.heads[0])
        assert (path, query["q"], query["count"]) == (
            "/res/v1/web/search",
            ["boats & ships"],
            [str(bounds.SEARCH_HITS)],
        )
        assert (headers["host"], headers["x-subscription-token"]) == ("api.search.brave.com", KEY)


async def test_a_searxng_of_the_owners_may_be_on_this_machine() -> None:
    async with listening(service("searxng")) as door:
        assert await searched(ServiceSearch.searxng(f"{door.address}/below", bounds.SEARCH_TIME)) == Found(HITS)
        path, query, headers = parts(door.heads[0])
        assert (path, query) == ("/below/search", {"q": ["boats & ships"], "format": ["json"]})
        assert "x-subscription-token" not in headers


@pytest.mark.parametrize("names", [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], [PUBLIC, "::1"]])
async def test_a_service_whose_name_turns_private_is_not_connected_to(names: list[str]) -> None:
    async with listening(service("brave")) as door:
        with pytest.raises(NotFoundError, match="not on the public web"):
            await searched(brave(door, {"api.search.brave.com": names}))
        assert door.connections == 0


async def test_no_words_and_no_redirect_lead_anywhere_but_to_the_service() -> None:
    async with listening(service("brave")) as beyond:
        for place in (f"{beyond.address}/", *REFUSED):
            moved = response(b"", "302 Found", Location=place)
            async with listening(moved) as door:
                for search in (brave(door), ServiceSearch.searxng(door.address, bounds.SEARCH_TIME)):
                    with pytest.raises(NotFoundError, match="status 302"):
                        await searched(search, place)
                assert (door.connections, beyond.connections) == (2, 0), place


async def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        listening(service("brave")) as door,
        listening(service("searxng")) as other,
        listening(b"") as proxy,
    ):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.address)
        assert await searched(brave(door)) == Found(HITS)
        assert await searched(ServiceSearch.searxng(other.address, bounds.SEARCH_TIME)) == Found(HITS)
        assert proxy.connections == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (told("401 Unauthorized"), "does not let me in"),
        (told("403 Forbidden"), "does not let me in"),
        (told("429 Too Many Requests"), "no more now"),
        (told("500 Oh"), "a fault"),
        (told("404 Not Found"), "status 404"),
        (told("200 OK", b"<html>"), "something else than JSON"),
        (told("200 OK", b'{"results": 5}'), "something else than JSON"),
        (told("200 OK", b"[" * 100_000), "something else than JSON"),
        (told("200 OK", gzip.compress(b'{"results": []}'), Content_Encoding="gzip"), "something else than JSON"),
        (told("200 OK", b" " * (bounds.SEARCH_BYTES + 1)), "too much"),
        (b"", "does not answer"),
        (never, "does not answer"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_a_service_that_fails_says_what_can_be_done(answer: Answer | bytes, said: str) -> None:
    async with listening(answer) as door:
        with pytest.raises(NotFoundError, match=said) as error:
            await searched(ServiceSearch.searxng(door.address, SOON if answer is never else bounds.SEARCH_TIME))
        assert "127.0.0.1" not in str(error.value)


class Own(Searcher):
    """A provider's search."""

    closed = 0

    async def search(self, query: str, progress: Any, spent: Any) -> Found:
        return Found((), f"found {query}")

    async def aclose(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("chosen", "own", "found"),
    [
        ({}, True, "found words"),
        ({}, False, None),
        ({"brave_api_key": SecretStr(KEY)}, True, "found words"),
        ({"search": "off"}, True, None),
        ({"search": "provider"}, True, "found words"),
        ({"search": "brave"}, True, "BRAVE_API_KEY"),
        ({"search": "searxng"}, True, "CLANKIE_SEARCH_URL"),
        ({"search": "provider"}, False, "no search of its own"),
    ],
)
async def test_the_search_that_the_settings_ask_for_is_offered_or_the_captain_says_what_lacks(
    chosen: dict[str, Any], own: bool, found: str | None, tmp_path: Path
) -> None:
    settings = CaptainSettings(state=tmp_path, discord_attachment_root=tmp_path, **chosen)
    provider = Own()
    if found is not None and not found.startswith("found"):
        with pytest.raises(ConfigurationError, match=found):
            equipped(settings, provider if own else None)
        return
    web = equipped(settings, provider if own else None)
    assert web.tools == ({"read_page"} if found is None else {"read_page", "search_web"})
    if found is not None:
        assert found in await web.search("words", lambda: None, lambda usage: None)
    await web.aclose()
    assert provider.closed == (found is not None)


async def test_a_searxng_that_is_named_is_asked_before_everybody_else(tmp_path: Path) -> None:
    async with listening(service("searxng")) as door:
        settings = CaptainSettings(
            state=tmp_path, discord_attachment_root=tmp_path, search_url=door.address, brave_api_key=SecretStr(KEY)
        )
        web = equipped(settings, Own())
        assert "https://boats.example/a" in await web.search("words", lambda: None, lambda usage: None)
        await web.aclose()
        assert door.connections == 1
