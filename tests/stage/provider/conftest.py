from collections.abc import AsyncGenerator

import pytest
from openai import AsyncOpenAI

from clankie_stage.provider.brain import Habits
from clankie_stage.provider.server import Provider


@pytest.fixture
async def provider() -> AsyncGenerator[Provider]:
    """A provider that answers only what a test scripts."""
    async with Provider.running(Habits(default="unscripted", pace=0)) as running:
        yield running


@pytest.fixture
async def openai(provider: Provider) -> AsyncGenerator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key="sk-test", base_url=provider.base_url, max_retries=0) as client:
        yield client
