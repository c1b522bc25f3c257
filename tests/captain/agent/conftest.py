"""A provider of each protocol, and loops on it that a test may make anew as a restarted captain would."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.model import build_loop
from clankie_settings.schema import CaptainSettings
from tests.captain.agent.lane import Lane, Line, StillClock
from tests.captain.agent.provider import Protocol, Provider, serving
from tests.captain.agent.strict import SHAPES, Strict, strict_provider

NewLoop = Callable[[], PydanticLoop]


@pytest.fixture
def protocol() -> Protocol:
    """Overridden by parameters where both are tried."""
    return "openai"


@pytest.fixture
async def provider(protocol: Protocol) -> AsyncIterator[Provider]:
    async with serving(protocol) as provider:
        yield provider


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def new_loop(provider: Provider, clock: StillClock, tmp_path: Path) -> AsyncIterator[NewLoop]:
    settings = CaptainSettings(
        state=tmp_path,
        discord_attachment_root=tmp_path,
        model="openai:m" if provider.protocol == "openai" else "anthropic:claude-sonnet-4-6",
        model_base_url=provider.address,
        anthropic_api_key=SecretStr("k"),
    )
    async with AsyncExitStack() as stack:

        def make() -> PydanticLoop:
            loop = build_loop(settings, clock)
            stack.push_async_callback(loop.aclose)
            return loop

        yield make


@pytest.fixture
def loop(new_loop: NewLoop) -> PydanticLoop:
    return new_loop()


@pytest.fixture
def lane() -> Lane:
    return Lane()


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture(params=SHAPES)
async def strict(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Strict]:
    """The strict provider, in each shape."""
    shape: Protocol = request.param
    async with strict_provider(shape, tmp_path) as running:
        yield running
