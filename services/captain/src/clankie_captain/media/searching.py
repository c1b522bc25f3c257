"""Services that search the web, asked for one page of JSON each. Source: SEC-3."""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final, Self

import httpx2
import structlog

from clankie_captain.core.run import Usage
from clankie_captain.core.searching import Found, Hit, brave_hits, fault, searxng_hits
from clankie_captain.errors import RefusedAddressError
from clankie_captain.media.guard import GuardedTransport, direct, guarded_client
from clankie_captain.ports import NotFoundError, Progress, Searcher
from clankie_settings import bounds

BRAVE: Final = "https://api.search.brave.com/res/v1/web/search"
"""Where Brave's search is asked."""

_OK: Final = 200
_NO_ANSWER: Final = "the search service does not answer; try again later"

_log = structlog.get_logger()


class ServiceSearch(Searcher):
    """Asks one service, and follows nothing that it says.

    Args:
        transport: The way to it.
        address: Where it is asked.
        query: What is sent besides the words themselves.
        headers: What it is told, its key among it.
        hits: Reads its answer; None for what is no answer of it.
        within: Wall time of one search.
    """

    def __init__(
        self,
        transport: httpx2.AsyncBaseTransport,
        address: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        hits: Callable[[object], tuple[Hit, ...] | None],
        within: timedelta,
    ) -> None:
        # What comes packed would be unpacked beyond every bound, and a page of results gains little by it.
        own = {"User-Agent": "clankie", "Accept": "application/json", "Accept-Encoding": "identity"}
        self._client = guarded_client(transport, within, {**own, **headers})
        self._address = address
        self._query = query
        self._hits = hits
        self._within = within.total_seconds()

    @classmethod
    def brave(cls, key: str, within: timedelta, transport: httpx2.AsyncBaseTransport | None = None) -> Self:
        """Brave's search, which lies on the public web."""
        query = {"count": str(bounds.SEARCH_HITS), "result_filter": "web", "text_decorations": "false"}
        return cls(transport or GuardedTransport(), BRAVE, query, {"X-Subscription-Token": key}, brave_hits, within)

    @classmethod
    def searxng(cls, address: str, within: timedelta) -> Self:
        """A SearXNG of the owner's: its address is a setting, and may lie on this machine or in the owner's network."""
        # Reading the machine's certificates takes a while, and plain HTTP needs none; nothing else is ever asked.
        way = direct(verify=address.startswith("https:"))
        return cls(way, f"{address}/search", {"format": "json"}, {}, searxng_hits, within)

    async def search(self, query: str, progress: Progress, spent: Callable[[Usage], None]) -> Found:
        """The pages that the service finds; it costs no tokens."""
        try:
            async with asyncio.timeout(self._within):
                return Found(await self._asked(query, progress))
        except RefusedAddressError:
            raise NotFoundError("the search service is not on the public web; tell whoever runs me") from None
        except (TimeoutError, httpx2.HTTPError, httpx2.StreamError, OSError):
            raise NotFoundError(_NO_ANSWER) from None

    async def aclose(self) -> None:
        """Close what is open."""
        await self._client.aclose()

    async def _asked(self, query: str, progress: Progress) -> tuple[Hit, ...]:
        async with self._client.stream("GET", self._address, params={"q": query, **self._query}) as response:
            progress()
            if response.status_code != _OK:
                _log.warning("search.refused", status=response.status_code)
                raise NotFoundError(fault(response.status_code))
            said = bytearray()
            async for piece in response.aiter_raw():
                said += piece
                if len(said) > bounds.SEARCH_BYTES:
                    raise NotFoundError("the search service says too much; ask for something else")
        progress()
        try:
            hits = self._hits(json.loads(said))
        except (ValueError, RecursionError):
            hits = None
        if hits is None:
            raise NotFoundError("the search service answers with something else than JSON; tell whoever runs me")
        return hits
