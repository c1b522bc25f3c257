"""A stage and a captain that live on it; bridges between the two come and go."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.programs import Program, program
from bench.subjects import TOKEN, Captain
from clankie_stage.client import StageClient


@dataclass(frozen=True, slots=True)
class House:
    """Both of them, and the folder in which everything lies.

    Attributes:
        folder: Where programs run.
        address: The stage's.
        captain: Asked over HTTP.
        stage: The stage's control.
    """

    folder: Path
    address: str
    captain: Captain
    stage: StageClient

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncGenerator["House"]:
        """Everything but a bridge runs until the block is left."""
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            async with program(folder, "stage", "-m", "clankie_stage", "--port", "0") as theatre:
                address = await theatre.address()
                async with Captain.running(folder, f"{address}/provider") as captain, StageClient(address) as stage:
                    yield cls(folder, address, captain, stage)

    def evidence(self, state: str) -> Path:
        """What a bridge with this state folder writes down."""
        return self.folder / state / "bridge" / "evidence.jsonl"

    @asynccontextmanager
    async def bridge(self, name: str, state: str, guild: str) -> AsyncGenerator[Program]:
        """A bridge that one server has admitted runs until the block is left."""
        settings = {
            "CLANKIE_STATE": str(self.folder / state),
            "CLANKIE_CAPTAIN_URL": self.captain.address,
            "CLANKIE_CAPTAIN_TOKEN": TOKEN,
            "CLANKIE_DISCORD_GUILDS": guild,
            "CLANKIE_DISCORD_REST_URL": f"{self.address}/api/v10",
            "DISCORD_BOT_TOKEN": (await self.stage.call("describe"))["token"],
        }
        async with program(self.folder, name, "-m", "clankie_bridge", **settings) as bridge:
            yield bridge
