"""The guard at the door: only programs and pages of this machine drive the stage."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})

CDN_NAMES = frozenset(
    {"cdn.discordapp.com", "media.discordapp.net", "images-ext-1.discordapp.net", "images-ext-2.discordapp.net"}
)
"""Hosts that a fetch of a real address carries in its ``Host`` header while it is led here."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def guard() -> Middleware:
    """Refuses what a web page from elsewhere could send through a browser.

    A foreign ``Host`` is a rebound DNS name, a foreign ``Origin`` or ``Sec-Fetch-Site`` another site's page.
    """

    @web.middleware
    async def judge(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = _name(f"//{request.host}")
        led_here = request.path.startswith("/cdn/") and host in CDN_NAMES
        if host not in LOOPBACK_NAMES and not led_here:
            raise web.HTTPForbidden(text="The stage answers to loopback names only.")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="The stage takes nothing from pages of other origins.")
        if request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"} and request.path != "/":
            raise web.HTTPForbidden(text="The stage takes nothing from pages of other sites.")
        return await handler(request)

    return judge


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
