"""The provider on a loopback port of its own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Self

from aiohttp import web

from clankie_stage.provider.app import new_brain, provider_app
from clankie_stage.provider.brain import Brain, Habits
from clankie_stage.provider.easel import Easel

HOST = "127.0.0.1"
_SHUTDOWN_S = 2.0


class Provider:
    """A running provider and the brain behind it.

    Attributes:
        url: The root, such as ``http://127.0.0.1:40123``; what an Anthropic client takes as its base URL.
        brain: Steers and observes it in this process.
        easel: The same for pictures that it generates.
    """

    def __init__(self, url: str, brain: Brain, easel: Easel) -> None:
        self.url = url
        self.brain = brain
        self.easel = easel

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return f"{self.url}/v1"

    @classmethod
    @asynccontextmanager
    async def running(cls, habits: Habits | None = None, port: int = 0) -> AsyncGenerator[Self]:
        """Serve on ``port`` of 127.0.0.1 (0: any free one) until the block is left."""
        brain = new_brain(habits)
        easel = Easel(brain)
        runner = web.AppRunner(provider_app(brain, easel), access_log=None, shutdown_timeout=_SHUTDOWN_S)
        await runner.setup()
        try:
            site = web.TCPSite(runner, HOST, port)
            await site.start()
            bound: int = runner.addresses[0][1]
            yield cls(f"http://{HOST}:{bound}", brain, easel)
        finally:
            await runner.cleanup()
