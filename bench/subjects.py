"""Who is measured: the bare loop and the captain, asked for the same turns."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import aiohttp

from bench import history
from bench.programs import BenchError, Program, free_port, program, until
from bench.triggers import KEPT_ROOM, trigger
from clankie_settings.clock import SystemClock

TOKEN: Final = "the-token-of-the-bench"
BARE: Final = Path(__file__).with_name("bare.py")
MOST_LANES: Final = 32


@dataclass(frozen=True, slots=True)
class Timing:
    """When one turn began and ended, in seconds on the clock that all processes of a host share."""

    words: str
    began: float
    ended: float


class Subject(Protocol):
    """Something that takes turns."""

    name: str
    program: Program

    async def take(self, lanes: Sequence[Sequence[str]], *, kept: bool) -> list[Timing]:
        """Take the turns of each lane one by one, the lanes at once; ``kept`` continues the long history."""
        ...


class Bare:
    """The bare loop in a process of its own."""

    name = "bare"

    def __init__(self, program: Program) -> None:
        self.program = program

    @classmethod
    @asynccontextmanager
    async def running(cls, folder: Path, provider: str) -> AsyncGenerator["Bare"]:
        """Start it on a provider."""
        file = folder / "history.json"
        history.write(file)
        async with program(folder, "bare", str(BARE), f"{provider}/v1", str(file)) as started:
            yield cls(started)

    async def take(self, lanes: Sequence[Sequence[str]], *, kept: bool) -> list[Timing]:
        """Take the turns."""
        self.program.tell(json.dumps([kept, lanes]))
        return [Timing(*each) for lane in json.loads(await self.program.line()) for each in lane]


class Captain:
    """The captain as it ships, asked over HTTP as a presence asks it."""

    name = "captain"

    def __init__(self, program: Program, address: str, client: aiohttp.ClientSession) -> None:
        self.program = program
        self.address = address
        self._client = client
        self._now = SystemClock().elapsed

    @classmethod
    @asynccontextmanager
    async def running(cls, folder: Path, provider: str, **more: str) -> AsyncGenerator["Captain"]:
        """Start it on a provider, with the long history in one of its lanes and with ``more`` settings."""
        state, address = folder / "state", f"http://127.0.0.1:{free_port()}"
        state.mkdir()
        await history.settle_into(state)
        settings = {
            "CLANKIE_STATE": str(state),
            "CLANKIE_CAPTAIN_URL": address,
            "CLANKIE_CAPTAIN_TOKEN": TOKEN,
            "CLANKIE_LIVE_RUNS": str(MOST_LANES),
            "CLANKIE_MODEL": "openai:bench",
            "CLANKIE_MODEL_BASE_URL": f"{provider}/v1",
            **more,
        }
        async with (
            program(folder, "captain", "-m", "clankie_captain", **settings) as started,
            # Shorter than the captain's own five seconds, or a turn might meet a connection that is just being closed.
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(keepalive_timeout=2, limit=0),
                headers={"Authorization": f"Bearer {TOKEN}"},
                trust_env=False,
            ) as client,
        ):
            captain = cls(started, address, client)
            await until(captain.ready, started)
            yield captain

    async def ready(self) -> bool:
        """Whether it takes turns."""
        try:
            async with self._client.get(f"{self.address}/readyz") as answer:
                return answer.status == 200
        except aiohttp.ClientConnectionError:
            return False

    async def take(self, lanes: Sequence[Sequence[str]], *, kept: bool) -> list[Timing]:
        """Take the turns, each in a fresh room unless the long history is continued."""

        async def lane(said: Sequence[str]) -> list[Timing]:
            return [await self._turn(words, KEPT_ROOM if kept else "") for words in said]

        return [each for done in await asyncio.gather(*map(lane, lanes)) for each in done]

    async def _turn(self, words: str, room: str) -> Timing:
        mark = words.partition(" ")[0]
        document = trigger(mark, room or mark, words)
        began = self._now()
        try:
            async with self._client.post(f"{self.address}/v1/turns", data=document) as response:
                answer = await response.read()
        except aiohttp.ClientError:
            raise self.program.fault() from None
        ended = self._now()
        if json.loads(answer).get("state") != "replied":
            raise BenchError(f"the captain answered {answer[:500]!r}")
        return Timing(words, began.total_seconds(), ended.total_seconds())
