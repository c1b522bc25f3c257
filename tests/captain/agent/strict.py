"""The stage's provider, which refuses what real ones refuse, asked in either shape."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.model import build_loop
from clankie_settings.schema import CaptainSettings
from clankie_stage.provider.brain import Brain, Habits
from clankie_stage.provider.records import Record
from clankie_stage.provider.server import Provider
from tests.captain.agent.lane import StillClock
from tests.captain.agent.provider import Protocol

SHAPES: tuple[Protocol, ...] = ("openai", "anthropic")


class Strict:
    """The provider with loops on it; each loop is made anew, as a captain that has just started."""

    def __init__(self, provider: Provider, shape: Protocol, folder: Path, stack: AsyncExitStack) -> None:
        self.brain: Brain = provider.brain
        self.clock = StillClock()
        self._provider = provider
        self._shape = shape
        self._folder = folder
        self._stack = stack

    def loop(self, *fallbacks: str) -> PydanticLoop:
        """A loop on the model ``first``, with fallbacks of the same provider by name."""
        loop = build_loop(self.settings(*fallbacks), self.clock)
        self._stack.push_async_callback(loop.aclose)
        return loop

    def settings(self, *fallbacks: str) -> CaptainSettings:
        """What such a loop is built from."""
        openai = self._shape == "openai"
        return CaptainSettings(
            state=self._folder,
            discord_attachment_root=self._folder,
            model=f"{self._shape}:first",
            model_fallbacks=tuple(f"{self._shape}:{name}" for name in fallbacks),
            model_base_url=self._provider.base_url if openai else self._provider.url,
        )

    async def ended(self, count: int) -> list[Record]:
        """All requests, once so many have ended, and no more."""
        records = await self.brain.wait_ended(count)
        assert len(records) == count
        return records


@asynccontextmanager
async def strict_provider(shape: Protocol, folder: Path) -> AsyncGenerator[Strict]:
    """A strict provider of one shape on a free port."""
    async with Provider.running(Habits(default="unscripted", pace=0)) as provider, AsyncExitStack() as stack:
        yield Strict(provider, shape, folder, stack)


def refusals(records: Sequence[Record]) -> list[str]:
    """What the strict rules found; nothing is as it should be."""
    return [record.refused for record in records if record.refused]
