"""Pages of the web as bytes: the guard before each address, and a bound on all that comes back. Source: SEC-3."""

import asyncio
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote

import httpx2

from clankie_captain.core.addresses import unreadable
from clankie_captain.core.pages import HEAD_BYTES, PageForm, charset_of, form_of
from clankie_captain.errors import RefusedAddressError
from clankie_captain.media.guard import guarded_client, read_address
from clankie_captain.media.page_text import PageError
from clankie_settings import bounds

PRIVATE: Final = (
    "the address, or one that it leads to, is not on the public web; only http and https at their own ports are read"
)
UNKNOWN: Final = "there is no host of this name, or it does not answer"
_SLOW: Final = "the page did not come in time"
_LARGE: Final = f"the page is too large; at most {bounds.READ_PAGE_BYTES // 1024 // 1024} MiB are read"
_KIND: Final = "the address leads to something that is no text; web pages, plain text, JSON, Markdown and PDF are read"

_HEADERS: Final = {
    "Accept": "text/html, application/xhtml+xml, text/plain, text/markdown, application/json, application/pdf",
    # What unpacks without a bound is not asked for; what comes packed otherwise is refused.
    "Accept-Encoding": "gzip",
    "Accept-Language": "*",
    "User-Agent": "clankie",
}
_OK: Final = 200
_PIECE: Final = 256 * 1024
_GZIP: Final = 32 + zlib.MAX_WBITS
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_BEHIND_HOST: Final = re.compile(r"([^/?#]*//[^/?#]*)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page's bytes, what it is, the encoding that its server names, and its address in the end."""

    data: bytes
    form: PageForm
    charset: str
    address: str


class PageFetch:
    """Fetches pages and follows redirects, each of which is judged anew."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, within: timedelta = bounds.READ_PAGE_FETCH) -> None:
        self._client = guarded_client(transport, within, _HEADERS)
        self._within = within.total_seconds()

    async def fetch(self, address: str, progress: Callable[[], None]) -> Fetched:
        """The page at an address; ``progress`` is told of whatever comes.

        Raises:
            PageError: It is not to be had.
        """
        try:
            async with asyncio.timeout(self._within):
                return await self._followed(read_address(spelled(address)), progress)
        except RefusedAddressError:
            raise PageError(PRIVATE) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise PageError(_SLOW) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError):
            raise PageError(UNKNOWN) from None

    async def aclose(self) -> None:
        """Close what is open."""
        await self._client.aclose()

    async def _followed(self, url: httpx2.URL, progress: Callable[[], None]) -> Fetched:
        for _ in range(bounds.READ_PAGE_REDIRECTS + 1):
            async with self._client.stream("GET", url) as response:
                progress()
                if response.has_redirect_location:
                    url = _next(url, spelled(response.headers["Location"]))
                    continue
                return await _page(response, progress)
        raise PageError("the address leads from one to the next without an end")


def spelled(address: str) -> str:
    """An address whose path and query hold ASCII alone, as browsers send it; its host stays as it is."""
    found = _BEHIND_HOST.fullmatch(address.strip())
    if found is None:
        return quote(address.strip(), safe="%/:?#[]@!$&'()*+,;=~")
    return found[1] + quote(found[2], safe="%/:?#[]@!$&'()*+,;=~\\")


def _next(url: httpx2.URL, place: str) -> httpx2.URL:
    """Where a redirect leads; it is read and judged as if somebody had named it."""
    refusal = unreadable(place)
    if refusal is not None:
        raise RefusedAddressError(refusal)
    return read_address(str(url.join(place)))


async def _page(response: httpx2.Response, progress: Callable[[], None]) -> Fetched:
    if response.status_code != _OK:
        raise PageError(f"its server answers with status {response.status_code}")
    served = response.headers.get("Content-Type", "")
    body = _Body(response.headers.get("Content-Encoding", "").strip().lower())
    judged = False
    async for piece in response.aiter_raw():
        progress()
        await body.take(piece)
        if not judged and len(body.data) >= HEAD_BYTES:
            _form(body.data, served)
            judged = True
    body.end()
    address = str(response.url.copy_with(fragment=None))
    return Fetched(bytes(body.data), _form(body.data, served), charset_of(served), address)


def _form(data: bytes | bytearray, served: str) -> PageForm:
    form = form_of(bytes(data[:HEAD_BYTES]), served)
    if form is None:
        raise PageError(_KIND)
    return form


class _Body:
    """Bytes as they come, unpacked a piece at a time, so that few of them never become many at once."""

    def __init__(self, packed: str) -> None:
        if packed not in ("", "identity", *_PACKED):
            raise PageError("its server sends it packed in a way that was not asked for")
        self.data = bytearray()
        self._unpacking = zlib.decompressobj(_GZIP) if packed in _PACKED else None

    async def take(self, piece: bytes) -> None:
        """Add what came."""
        unpacking = self._unpacking
        if unpacking is None:
            self._add(piece)
            return
        try:
            while piece and not unpacking.eof:
                # Little may become much: the others have their turn meanwhile.
                self._add(await asyncio.to_thread(unpacking.decompress, piece, _PIECE))
                piece = unpacking.unconsumed_tail
        except zlib.error:
            raise PageError("what its server sends cannot be unpacked") from None

    def end(self) -> None:
        """Nothing more comes."""
        if self._unpacking is not None and not self._unpacking.eof and self.data:
            raise PageError("its server ended in the middle")

    def _add(self, data: bytes) -> None:
        self.data += data
        if len(self.data) > bounds.READ_PAGE_BYTES:
            raise PageError(_LARGE)
