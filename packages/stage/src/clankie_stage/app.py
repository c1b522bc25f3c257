"""The stage as one process on one port: Discord, its page, its control, and the provider."""

import ipaddress
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from clankie_settings.clock import Clock, Ids, RandomIds, SystemClock
from clankie_stage.discord.building import LoopbackDiscord, mount_discord
from clankie_stage.discord.control import Control
from clankie_stage.discord.guard import guard
from clankie_stage.discord.page.pages import Page
from clankie_stage.discord.snowflakes import bot_token
from clankie_stage.discord.world import World
from clankie_stage.provider.app import provider_app
from clankie_stage.provider.rehearsal import RULES

LARGEST_REQUEST = 128 * 1024 * 1024
"""Bytes of one request; the narrower limits of each interface apply before it."""

STOP_WITHIN_S = 2.0
"""Seconds that open requests get when the stage stops."""

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 4320

CONTAINER_MARKS = (".dockerenv", "run/.containerenv")
"""Files that Docker and Podman put into every container, below its root."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A running stage.

    Attributes:
        base_url: where it listens, without a trailing slash.
        control: every verb, as a Python object.
    """

    base_url: str
    control: Control

    @property
    def rest_url(self) -> str:
        """The root of the REST interface, as ``CLANKIE_DISCORD_REST_URL`` takes it."""
        return f"{self.base_url}/api/v10"

    @property
    def gateway_url(self) -> str:
        """The websocket's address."""
        return self.base_url.replace("http://", "ws://", 1) + "/gateway"

    @property
    def cdn_url(self) -> str:
        """What ``CLANKIE_CDN_LOOPBACK`` takes."""
        return f"{self.base_url}/cdn"

    @property
    def provider_url(self) -> str:
        """The root of the model provider, as an OpenAI-compatible client takes it."""
        return f"{self.base_url}/provider/v1"

    @property
    def token(self) -> str:
        """The bot's token."""
        return bot_token(self.world.bot_id)

    @property
    def world(self) -> World:
        """Everything that exists on the stage."""
        return self.control.world

    @staticmethod
    @asynccontextmanager
    async def running(
        host: str = DEFAULT_HOST,
        port: int = 0,
        *,
        model: str | None = None,
        in_container: bool = False,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> AsyncGenerator["Stage", None]:
        """Run a stage in this event loop.

        Args:
            host: a loopback address.
            port: 0 takes a free one.
            model: what the page says about which model answers.
            in_container: listen on every address of this container, which only its network and what is published of
                it reach; it answers to loopback names all the same, and ``host`` does not matter.
            clock: the machine's, unless given.
            ids: random ones, unless given.

        Raises:
            ValueError: the host is not loopback, or this is no container.
            OSError: the port is taken.
        """
        listener = _container_listener(port) if in_container else _listener(host, port)
        base_url = _address(listener)
        app = web.Application(middlewares=[guard()], client_max_size=LARGEST_REQUEST)
        discord = mount_discord(app, base_url, clock or SystemClock(), ids or RandomIds())
        app.add_subapp("/provider", provider_app())
        Page(model, RULES).mount(app)
        app.on_shutdown.append(_ending(discord))
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=STOP_WITHIN_S)
        try:
            await runner.setup()
            await web.SockSite(runner, listener).start()
            yield Stage(base_url, discord.control)
        finally:
            await runner.cleanup()
            listener.close()


def _listener(host: str, port: int) -> socket.socket:
    address = "127.0.0.1" if host == "localhost" else host
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError as error:
        raise ValueError(f"the stage listens on loopback only, and {host!r} is no address; use 127.0.0.1") from error
    if not parsed.is_loopback:
        raise ValueError(f"the stage listens on loopback only, not on {host}; use 127.0.0.1")
    family = socket.AF_INET6 if parsed.version == 6 else socket.AF_INET
    return socket.create_server((address, port), family=family, backlog=512)


def _container_listener(port: int, root: Path = Path("/")) -> socket.socket:
    if not any((root / mark).exists() for mark in CONTAINER_MARKS):
        raise ValueError("--in-container is for the stage's image: outside a container it would listen to the network")
    return socket.create_server(("0.0.0.0", port), backlog=512)  # noqa: S104 -- the container's own network alone


def _address(listener: socket.socket) -> str:
    """Where the stage is for whoever it answers to, which are programs and pages on loopback."""
    host, port = listener.getsockname()[:2]
    host = DEFAULT_HOST if host == "0.0.0.0" else host  # noqa: S104 -- compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _ending(discord: LoopbackDiscord):
    async def end(app: web.Application) -> None:
        del app
        discord.end()

    return end
