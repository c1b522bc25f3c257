"""The house that is soaked: rooms, two of which think in loops, a narrow window, and a captain behind the crossing."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clankie_stage.discord.scenery import GUILD_ID, OWNER_ID
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.steps import slow, when
from tests.soak.crossing import Crossing
from tests.soak.speakers import Place, opened_places
from tests.system.house import House, bare_house

WINDOW: Final = 3_000
"""The model's window in tokens: a lane comes near it with some twenty messages, and is compacted."""

GRANTED: Final = frozenset({OWNER_ID})
"""Who may do more than the others, and has a loop of their own in a room that thinks in loops. Source: LOOP-3."""

NOTES: Final = ("What people ", "asked for ", "so far, in short.")
NOTES_EVERY_S: Final = 2.0
"""Seconds before each piece of notes, on the model's own clock: long enough for a captain to die amid them."""

COMPACTIONS: Final = 400
"""Notes that are written so; any more are the rehearsal model's, which repeats all it has read."""

_TOML: Final = f'[actors."{OWNER_ID}"]\ntools = ["fork"]\n'


@dataclass(frozen=True, slots=True)
class Premises:
    """A stage that runs, and settings by which the bridge finds the captain over the crossing alone."""

    house: House
    crossing: Crossing
    places: tuple[Place, ...]

    @property
    def looped(self) -> frozenset[str]:
        """The rooms that think in one loop for each grant."""
        return frozenset(each.id for each in self.places if each.looped)


@asynccontextmanager
async def opened(folder: Path, window: int, pace: float) -> AsyncGenerator[Premises]:
    """Premises in which neither captain nor bridge runs yet."""
    # What is started here is what is imported here.
    settings = {
        "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
        "CLANKIE_ACTOR_MESSAGES": "1000000",
        "CLANKIE_STALL_SECONDS": "12",
        "CLANKIE_MODEL_WINDOW": str(window),
        "CLANKIE_TOOLS": "draw_diagram",
    }
    async with bare_house(folder, toml=_TOML, **settings) as house:
        port = house.captain.base_url.port or 0
        places = await opened_places(house.stage)
        async with Crossing.open(port) as crossing:
            house.env["CLANKIE_CAPTAIN_BIND"] = f"127.0.0.1:{port}"
            house.env["CLANKIE_CAPTAIN_URL"] = f"http://127.0.0.1:{crossing.port}"
            house.env["CLANKIE_ROOM_LOOP"] = ",".join(f"{GUILD_ID}:{each.id}" for each in places if each.looped)
            await house.provider.habits(pace=pace)
            await _take_notes(house.provider)
            yield Premises(house, crossing, places)


async def _take_notes(provider: ProviderClient) -> None:
    notes = when(slow(*NOTES, every_s=NOTES_EVERY_S), last_user="Write the notes.")
    await provider.script(*[notes] * COMPACTIONS)
