"""The web as tools see it: pages that are read, and searches. Source: SEC-3, GRANT-1."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import httpx2
import structlog

from clankie_captain.core import pages, searching, stall
from clankie_captain.core.run import Usage
from clankie_captain.core.searching import Way, way
from clankie_captain.errors import ConfigurationError
from clankie_captain.media.guard import GuardedTransport
from clankie_captain.media.page_fetch import PageFetch
from clankie_captain.media.page_text import PageError, PageReader
from clankie_captain.media.searching import ServiceSearch
from clankie_captain.ports import NotFoundError, Progress, Searcher, Web
from clankie_settings import bounds
from clankie_settings.clock import Ids, RandomIds
from clankie_settings.schema import CaptainSettings

UNOFFERED: Final = "no search is set up here; tell whoever runs me"
"""What the model is told where the tool is called that is not offered."""

_log = structlog.get_logger()


class MediaWeb(Web):
    """The web of a captain; without a searcher, ``search_web`` is not offered."""

    def __init__(
        self,
        fetch: PageFetch,
        reader: PageReader,
        searcher: Searcher | None,
        ids: Ids,
        within: timedelta = bounds.READ_PAGE_TIME,
        at_once: int = bounds.READ_PAGES,
    ) -> None:
        self._fetch = fetch
        self._reader = reader
        self._searcher = searcher
        self._ids = ids
        self._within = within.total_seconds()
        # Each holds its page's bytes until they are read.
        self._places = asyncio.Semaphore(at_once)

    @property
    def tools(self) -> frozenset[str]:
        """Tools that can work here."""
        return frozenset({"read_page"} if self._searcher is None else {"read_page", "search_web"})

    async def aclose(self) -> None:
        """Close what is open."""
        await self._fetch.aclose()
        if self._searcher is not None:
            await self._searcher.aclose()

    async def read(self, url: str, start: int, progress: Progress) -> str:
        """Read a stretch of a page."""
        try:
            async with asyncio.timeout(self._within), self._places:
                found = await self._fetch.fetch(url, progress)
                progress()
                enough = pages.enough(start)
                page = await self._reader.read(found.data, found.form, found.charset, found.address, enough)
        except PageError as error:
            raise NotFoundError(str(error)) from None
        except TimeoutError:
            raise NotFoundError("the page takes too long; other pages are being read") from None
        progress()
        if start >= len(page.text):
            raise NotFoundError(f"the page has only {len(page.text)} characters now; ask with a smaller start")
        # Elsewhere: to look at each character takes longer than the others may wait.
        return await asyncio.to_thread(pages.shown, page, start, self._fresh)

    async def search(self, query: str, progress: Progress, spent: Callable[[Usage], None]) -> str:
        """Search the web."""
        if self._searcher is None:
            raise NotFoundError(UNOFFERED)
        found = await self._searcher.search(query, progress, spent)
        return searching.shown(query, found, self._fresh)

    def _fresh(self) -> str:
        return self._ids.new("k").removeprefix("k_")[:12]


def equipped(
    settings: CaptainSettings, own: Searcher | None, transport: httpx2.AsyncBaseTransport | None = None
) -> MediaWeb:
    """The web that the settings ask for; close it with ``aclose``.

    Args:
        settings: What the captain reads.
        own: The search of the model's provider; None where it has none.
        transport: The way to pages and to services on the public web.

    Raises:
        ConfigurationError: A search is named that cannot be had.
    """
    guard = transport or GuardedTransport()
    whole = stall.share(bounds.READ_PAGE_TIME, settings.stall_after)
    fetch = PageFetch(guard, min(bounds.READ_PAGE_FETCH, whole))
    return MediaWeb(fetch, PageReader(), _searcher(settings, own, guard), RandomIds(), whole)


def chosen(settings: CaptainSettings, *, provider: bool) -> Way | None:
    """Who searches by these settings; ``provider`` is whether the model's provider has a search of its own."""
    server, key = settings.search_url is not None, settings.brave_api_key is not None
    return way(settings.search, server=server, provider=provider, key=key)


async def tried(settings: CaptainSettings) -> str | None:
    """Ask the service that searches by these settings for one word; why it does not work, or None."""
    guard = GuardedTransport()
    service = _searcher(settings, None, guard)
    if service is None:
        return None
    try:
        await service.search("clankie", lambda: None, lambda usage: None)
    except NotFoundError as error:
        return str(error)
    finally:
        await service.aclose()
        await guard.aclose()
    return None


def _searcher(settings: CaptainSettings, own: Searcher | None, transport: httpx2.AsyncBaseTransport) -> Searcher | None:
    who, within = chosen(settings, provider=own is not None), stall.share(bounds.SEARCH_TIME, settings.stall_after)
    if who == "provider":
        return own
    if who == "searxng" and settings.search_url is not None:
        return ServiceSearch.searxng(settings.search_url, within)
    if who == "brave" and settings.brave_api_key is not None:
        return ServiceSearch.brave(settings.brave_api_key.get_secret_value(), within, transport)
    if settings.search not in ("auto", "off"):
        raise ConfigurationError(f"CLANKIE_SEARCH={settings.search}: {searching.remedy(settings.search)}")
    if settings.search == "auto":
        _log.info("search.unavailable", remedy=searching.remedy("auto"))
    return None
