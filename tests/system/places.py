"""The test's side of a held captain: which places hold it, and when it goes on."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from tests.system.program import PATIENCE_S

Place = Literal["think", "request", "update", "settle", "settled"]
Answer = Literal["go", "deaf"]


@dataclass(slots=True)
class Hold:
    """One place, held for whoever comes there next."""

    place: Place
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Future[Answer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def reached(self) -> None:
        """Wait until the captain stands there.

        Raises:
            TimeoutError: It does not come.
        """
        async with asyncio.timeout(PATIENCE_S):
            await self.arrived.wait()

    def let_go(self, answer: Answer = "go") -> None:
        """Let it go on, with its check or without."""
        if not self.answer.done():
            self.answer.set_result(answer)


class Places:
    """Answers a held captain; where no hold was ordered it goes on at once."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._holds: list[Hold] = []

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncGenerator["Places"]:
        """Listen on a free port."""
        places = cls(0)
        async with await asyncio.start_server(places._asked, "127.0.0.1", 0) as server:
            places.port = server.sockets[0].getsockname()[1]
            try:
                yield places
            finally:
                places.clear()

    def hold(self, place: Place) -> Hold:
        """Hold the captain the next time that it comes to this place."""
        self._holds.append(hold := Hold(place))
        return hold

    def clear(self) -> None:
        """Hold it nowhere."""
        for each in self._holds:
            each.let_go()
        self._holds.clear()

    async def _asked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = (await reader.readline()).decode().strip()
        hold = next((each for each in self._holds if each.place == place and not each.arrived.is_set()), None)
        answer: Answer = "go"
        if hold is not None:
            hold.arrived.set()
            answer = await hold.answer
        writer.write(f"{answer}\n".encode())
        writer.close()
