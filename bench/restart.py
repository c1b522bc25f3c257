"""How long a bridge takes to be back: it reads what was written in many rooms meanwhile, and hands it over."""

import asyncio
import json
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

from bench.figures import Row
from bench.house import House
from bench.programs import PATIENCE_S, until
from clankie_stage.discord.scenery import GUILD_ID

TARGET: Final = 10.0
"""Seconds of processor time from its start until the captain has everything that was missed."""

A_ROOM: Final = 5
"""Messages that are missed in each room; the last one calls him."""

CALLS: Final = 2
"""Messages that call him in each room: one before the restart, one of those that are missed."""

STATE: Final = "coming-and-going"
"""The state folder of both lives."""


class Town:
    """A stage with many rooms, each with somebody of its own, and a bridge that comes and goes."""

    def __init__(self, house: House, rooms: int) -> None:
        self._house = house
        self._stage = house.stage
        self._rooms = range(rooms)

    async def measure(self) -> tuple[float, float]:
        """Wall and processor seconds of the second life; both lives are over then."""
        for each in self._rooms:
            await self._stage.call("create_user", name=f"user-{each}")
            await self._stage.call("create_room", name=f"room-{each}")
        async with self._house.bridge("bridge", STATE, GUILD_ID) as bridge:
            await self._stage.wait_connected(within_s=PATIENCE_S)
            known = [await self._say(each, "Clankie, hello") for each in self._rooms]
            await until(lambda: self._happened(known, "replied"), bridge)
            bridge.process.kill()
            await bridge.process.wait()
        missed = [await self._say(each, f"talk {number}") for number in range(A_ROOM - 1) for each in self._rooms]
        missed += [await self._say(each, "Clankie, where are you?") for each in self._rooms]
        began = time.monotonic()
        async with self._house.bridge("bridge-again", STATE, GUILD_ID) as bridge:
            await until(lambda: self._happened(missed, "accepted"), bridge)
            back, spent = time.monotonic() - began, bridge.cpu_s()
            await until(lambda: self._happened(missed, "replied", "absorbed"), bridge)
        return back, spent

    async def doubled(self) -> int:
        """How many of his messages are more than one for each call."""
        rooms = [await self._stage.messages(f"room-{each}") for each in self._rooms]
        own = [sum(bool(each["author"].get("bot")) for each in room) for room in rooms]
        return sum(max(0, answers - CALLS) for answers in own)

    async def limited(self) -> int:
        """How many requests the loopback Discord has answered with 429."""
        return len(await self._stage.recorded({"kind": "rest", "status": HTTPStatus.TOO_MANY_REQUESTS}))

    async def _say(self, room: int, words: str) -> str:
        said = await self._stage.say(f"user-{room}", words, room=f"room-{room}")
        return said["id"]

    async def _happened(self, messages: list[str], *events: str) -> bool:
        lines = await asyncio.to_thread(_read, self._house.evidence(STATE))
        return set(messages) <= {each["message_id"] for each in lines if each.get("event") in events}


async def measure(house: House, rooms: int, say: Callable[[str], None]) -> Row:
    """A bridge that was killed and started again, with the messages of its rooms in between."""
    town = Town(house, rooms)
    back, spent = await town.measure()
    doubled, limited = await town.doubled(), await town.limited()
    shown = (
        f"{spent:.1f} CPU-seconds, {back:.1f} s in all: {rooms * A_ROOM} messages of {rooms} rooms, "
        f"{doubled} doubled answers, {limited} times 429"
    )
    say(f"back after a restart: {shown}")
    return Row("back after a restart", spent, shown, TARGET, " s", missed=doubled + limited > 0)


def _read(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    whole = file.read_text("utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in whole if line.endswith("\n")]
