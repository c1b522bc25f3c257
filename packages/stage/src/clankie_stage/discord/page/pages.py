"""Serves the page and tells it what it may say about itself."""

from dataclasses import dataclass
from importlib import resources

from aiohttp import web

from clankie_stage.discord.world import Json

FILES = {
    "/": ("index.html", "text/html"),
    "/stage.css": ("stage.css", "text/css"),
    "/stage.js": ("stage.js", "text/javascript"),
    "/message.js": ("message.js", "text/javascript"),
    "/text.js": ("text.js", "text/javascript"),
}

POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
    "media-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """The page. ``model`` is the captain's model if the stage was told, ``rules`` the rehearsal model's."""

    model: str | None
    rules: tuple[str, ...]

    def mount(self, app: web.Application) -> None:
        """Add the page's routes."""
        for path in FILES:
            app.router.add_get(path, self.file)
        app.router.add_get("/_stage/about", self.about)

    async def file(self, request: web.Request) -> web.Response:
        """One of the page's files."""
        name, content_type = FILES[request.path]
        text = resources.files("clankie_stage.discord.page").joinpath(name).read_text("utf-8")
        headers = {
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        return web.Response(text=text, content_type=content_type, charset="utf-8", headers=headers)

    async def about(self, request: web.Request) -> web.Response:
        """Which model answers, and what its rules are if it is the rehearsal model."""
        del request
        about: Json = {"model": self.model, "rules": list(self.rules)}
        return web.json_response(about)
