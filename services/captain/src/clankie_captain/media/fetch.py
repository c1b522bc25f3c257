"""The fetch boundary: the only code that turns an outside address into the bytes of a picture. Source: IMG-2."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import httpx2

from clankie_captain.core.addresses import judge_picture
from clankie_captain.core.pictures import Cause
from clankie_captain.errors import RefusedAddressError
from clankie_captain.media.guard import GuardedTransport, Resolve, guarded_client, read_address, web_address
from clankie_settings import bounds

_HEADERS: Final = {
    "Accept": "image/png, image/jpeg, image/gif, image/webp, video/mp4, video/webm",
    # Packed bytes would be unpacked beyond every bound, and a picture gains nothing by it.
    "Accept-Encoding": "identity",
    "User-Agent": "clankie",
}
_UNSAID: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})
_OK: Final = 200
_GONE: Final = frozenset({401, 403, 404, 410})


@dataclass(frozen=True, slots=True)
class Unfetched:
    """A picture that was not fetched, and why."""

    cause: Cause


class LoopbackTransport(httpx2.AsyncBaseTransport):
    """For trials on this machine: asks ``base`` instead of Discord's hosts, once the real address has been judged.

    Path and query are appended to ``base``; the real host goes along in the ``Host`` header.
    """

    def __init__(self, base: str) -> None:
        self._base = base.encode("ascii")
        # Reading the machine's certificates takes a while, and plain HTTP needs none.
        self._inner = httpx2.AsyncHTTPTransport(verify=base.startswith("https:"), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask the stand-in."""
        there = httpx2.URL((self._base + request.url.raw_path).decode("ascii"))
        moved = httpx2.Request(request.method, there, headers=request.headers, stream=request.stream)
        return await self._inner.handle_async_request(moved)

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()


class PictureFetch:
    """Fetches from Discord's own hosts, bounded in bytes and time, and follows nothing."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, within: timedelta = bounds.FETCH_TIME) -> None:
        self._client = guarded_client(transport, within, _HEADERS)
        self._within = within.total_seconds()

    @classmethod
    def over(cls, loopback: str | None, resolve: Resolve | None = None) -> "PictureFetch":
        """Over the guard to the real hosts, or to their stand-in on this machine."""
        return cls(GuardedTransport(resolve=resolve) if loopback is None else LoopbackTransport(loopback))

    async def fetch(self, address: str) -> bytes | Unfetched:
        """The bytes at an address, or why they are not to be had. Never raises for what the other side does.

        Source: IMG-2, IMG-4.
        """
        try:
            async with asyncio.timeout(self._within):
                return await self._fetch(address)
        except RefusedAddressError:
            return Unfetched("refused")
        except (TimeoutError, httpx2.TimeoutException):
            return Unfetched("timed_out")
        except (httpx2.HTTPError, httpx2.StreamError, OSError):
            return Unfetched("unreachable")

    async def aclose(self) -> None:
        """Close what is open."""
        await self._client.aclose()

    async def _fetch(self, address: str) -> bytes | Unfetched:
        url = read_address(address)
        refusal = judge_picture(web_address(url))
        if refusal is not None:
            raise RefusedAddressError(refusal)
        async with self._client.stream("GET", url) as response:
            cause = _unacceptable(response)
            return Unfetched(cause) if cause is not None else await _body(response)


def _unacceptable(response: httpx2.Response) -> Cause | None:
    """Why an answer's body is not even read."""
    if response.status_code in _GONE:
        return "expired"
    if response.is_redirect:
        return "refused"
    if response.status_code != _OK or response.headers.get("Content-Encoding", "identity") != "identity":
        return "unreachable"
    served = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if served not in _UNSAID and not served.startswith(("image/", "video/")):
        return "unsupported"
    declared = response.headers.get("Content-Length", "")
    return "too_large" if declared.isdecimal() and int(declared) > bounds.ATTACHMENT_BYTES else None


async def _body(response: httpx2.Response) -> bytes | Unfetched:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > bounds.ATTACHMENT_BYTES:
            return Unfetched("too_large")
    return bytes(body) or Unfetched("broken")
