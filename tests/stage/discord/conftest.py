"""A stage in this process, and real hikari bots that connect to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, cast

import aiohttp
import hikari
import pytest

from clankie_stage.app import Stage
from clankie_stage.client import StageClient
from clankie_stage.discord.changes import Changes

INTENTS = (
    hikari.Intents.GUILDS | hikari.Intents.GUILD_MESSAGES | hikari.Intents.DM_MESSAGES | hikari.Intents.MESSAGE_CONTENT
)

PATIENCE_S = 60.0


class Listener:
    """A hikari bot that keeps what it hears."""

    def __init__(self, stage: Stage, intents: hikari.Intents, token: str | None, max_rate_limit: float) -> None:
        components = hikari.api.CacheComponents
        self.bot = hikari.GatewayBot(
            token or stage.token,
            rest_url=stage.rest_url,
            http_settings=hikari.impl.HTTPSettings(force_close_transports=False),
            intents=intents,
            cache_settings=hikari.impl.CacheSettings(
                components=components.ME | components.GUILD_CHANNELS | components.GUILD_THREADS
            ),
            auto_chunk_members=False,
            max_rate_limit=max_rate_limit,
            max_retries=3,
            banner=None,
            logs=None,
            suppress_optimization_warning=True,
        )
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self._changes = Changes()
        self.bot.subscribe(hikari.ShardPayloadEvent, self._keep)

    async def _keep(self, event: hikari.ShardPayloadEvent) -> None:
        self.heard.append((event.name, dict(cast("dict[str, Any]", event.payload))))
        self._changes.announce()

    def of(self, name: str) -> list[dict[str, Any]]:
        """The payloads of one kind of event, in the order of their arrival."""
        return [payload for heard, payload in self.heard if heard == name]

    def texts(self) -> list[str]:
        """The texts of created messages, in the order of their arrival."""
        return [payload["content"] for payload in self.of("MESSAGE_CREATE")]

    async def until(self, name: str, count: int = 1) -> list[dict[str, Any]]:
        """The payloads of one kind of event once there are ``count``."""
        return await self._changes.until(lambda: self.of(name) if len(self.of(name)) >= count else None, PATIENCE_S)


Connect = Callable[..., Awaitable[Listener]]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with Stage.running() as running:
        yield running


@pytest.fixture
async def connect(stage: Stage) -> AsyncIterator[Connect]:
    """Connects a hikari bot; it is closed when the test ends."""
    async with AsyncExitStack() as ending:

        async def start(
            intents: hikari.Intents = INTENTS, token: str | None = None, max_rate_limit: float = 30.0
        ) -> Listener:
            listener = Listener(stage, intents, token, max_rate_limit)
            ending.push_async_callback(_close, listener.bot)
            await listener.bot.start(check_for_updates=False)
            return listener

        yield start


async def _close(bot: hikari.GatewayBot) -> None:
    if bot.is_alive:
        await bot.close()


@pytest.fixture
async def http(stage: Stage) -> AsyncIterator[aiohttp.ClientSession]:
    """A plain HTTP client that carries the bot's token."""
    headers = {"Authorization": f"Bot {stage.token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        yield session


@pytest.fixture
async def remote(stage: Stage) -> AsyncIterator[StageClient]:
    """The control over HTTP, as another process has it."""
    async with StageClient(stage.base_url) as client:
        yield client
