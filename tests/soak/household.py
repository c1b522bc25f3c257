"""Captain and bridge as processes that are killed, frozen and started again."""

import asyncio
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Literal

import httpx

from clankie_settings.clock import Clock
from tests.system.house import BRIDGE, CAPTAIN, House
from tests.system.program import Program

Service = Literal["captain", "bridge"]

SERVICES: tuple[Service, ...] = ("captain", "bridge")
COMMANDS: Mapping[Service, Sequence[str]] = {"captain": CAPTAIN, "bridge": BRIDGE}

RESTART_AFTER = timedelta(seconds=1)
"""Before a program that ended by itself is started again, as ``clankie up`` does."""

_LOOK = timedelta(milliseconds=50)


class Household:
    """A house whose services come back whenever they end.

    Attributes:
        starts: How often each service was started.
        ends: Services that ended although nobody made them, with their last words.
    """

    def __init__(self, house: House, commands: Mapping[Service, Sequence[str]], clock: Clock) -> None:
        self.house = house
        self.starts: Counter[Service] = Counter()
        self.ends: list[str] = []
        self._commands = commands
        self._clock = clock
        self._ended: set[Program] = set()
        self._away: dict[Service, timedelta] = {}

    async def keep(self, service: Service) -> None:
        """Run a service for ever."""
        house = self.house
        while True:
            program = await Program.started(service, self._commands[service], house.env, house.folder)
            house.programs[service] = program
            self.starts[service] += 1
            code = await asyncio.shield(program.ended)
            house.past.append(program)
            if program not in self._ended:
                self.ends.append(f"{service} ended by itself with {code}: {program.tail[-400:]}")
            await self._clock.sleep(self._away.pop(service, RESTART_AFTER))

    async def kill(self, service: Service, away: timedelta) -> None:
        """Kill a service (SIGKILL); it is started again after ``away``."""
        program = self.house.programs[service]
        self._ended.add(program)
        self._away[service] = away
        await program.kill()

    async def freeze(self, service: Service, span: timedelta) -> None:
        """Stop a service where it stands (SIGSTOP), and let it go on after ``span``."""
        program = self.house.programs[service]
        program.send(signal.SIGSTOP)
        try:
            await self._clock.sleep(span)
        finally:
            program.send(signal.SIGCONT)

    async def ready(self, service: Service, within: timedelta) -> bool:
        """Whether a service is at work, waited for; one that ended by itself will not be."""
        deadline = self._clock.elapsed() + within
        while not await self._is_ready(service):
            if self.ends or self._clock.elapsed() > deadline:
                return False
            await self._clock.sleep(_LOOK)
        return True

    def lines(self) -> list[tuple[str, str]]:
        """Everything that captain and bridge ever wrote, with who wrote it."""
        programs = [*self.house.past, *self.house.programs.values()]
        known = dict.fromkeys(each for each in programs if each.name in SERVICES)
        return [(program.name, line) for program in known for line in program.lines]

    async def _is_ready(self, service: Service) -> bool:
        program = self.house.programs.get(service)
        if program is None or program.ended.done():
            return False
        if service == "bridge":
            return any("gateway_ready" in line for line in program.lines)
        try:
            return (await self.house.captain.get("/readyz", timeout=2)).is_success
        except httpx.HTTPError:
            return False
