"""``clankie up``: run what is configured, in one terminal, until it is told to stop."""

import asyncio
import os
import signal
import socket
from collections.abc import Awaitable, Mapping
from datetime import timedelta
from typing import Final

import httpx

from clankie_cli import guide, plan, screen
from clankie_cli.crew import Crew
from clankie_cli.errors import CannotRun
from clankie_cli.introduction import introduced
from clankie_cli.plan import Program, Stage
from clankie_cli.screen import Screen
from clankie_settings.clock import Clock, SystemClock
from clankie_settings.environment import bridge_settings, captain_settings, launch_settings
from clankie_settings.schema import CaptainSettings, LaunchSettings

LOOK_EVERY: Final = timedelta(milliseconds=100)
SAY_EVERY: Final = timedelta(seconds=15)
"""How often a wait that goes on says so."""

_STAGE_LINE: Final = "stage listening on "
_BRIDGE_READY: Final = "gateway_ready"


async def run(env: Mapping[str, str]) -> int:
    """Run until Ctrl-C, SIGTERM or a program's final word; the exit code.

    Raises:
        SettingsError: A setting is unusable.
        CannotRun: Something must be changed first.
    """
    settings = launch_settings(env)
    captain = captain_settings(env)
    bridge_settings(env)  # whatever is wrong is said before anything starts
    clock = SystemClock()
    launch = Launch(settings, captain, env, Screen(clock, env), clock)
    return await launch.run()


class Launch:
    """One run of the command."""

    def __init__(
        self, settings: LaunchSettings, captain: CaptainSettings, env: Mapping[str, str], shown: Screen, clock: Clock
    ) -> None:
        self._settings = settings
        self._captain = captain
        self._env = env
        self._screen = shown
        self._clock = clock
        self._heard: dict[str, asyncio.Future[str]] = {}
        self._crew = Crew(shown, clock, self._listen, settings.stop_within)
        self._signalled = False

    async def run(self) -> int:
        """Start, wait for the end, stop everything."""
        programs = self._first()
        opening = asyncio.create_task(self._open(programs))
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(each, self._asked_to_stop)
        try:
            await asyncio.wait([opening, self._crew.ended], return_when=asyncio.FIRST_COMPLETED)
            if opening.done():
                opening.result()
            return await self._crew.ended
        finally:
            opening.cancel()
            await asyncio.wait([opening])
            await self._crew.stop()
            if self._signalled:
                self._screen.say("everything has stopped; what was waiting is on disk")

    def _first(self) -> tuple[Program, ...]:
        if self._settings.discord_bot_token is not None:
            programs = plan.on_discord(self._settings, self._env)
        else:
            programs = (plan.stage(self._settings, self._env),)
            _refuse_taken("127.0.0.1", self._settings.stage_port, "CLANKIE_STAGE_PORT to a free port, for example 4321")
        bound = self._captain.captain_bind
        host, port = self._captain.captain_address
        if bound is not None:
            host, port = bound.rpartition(":")[0].strip("[]"), int(bound.rpartition(":")[2])
        named = "CLANKIE_CAPTAIN_BIND" if bound else "CLANKIE_CAPTAIN_URL"
        _refuse_taken(host, port, f"{named} to another port, for example {'' if bound else 'http://'}{host}:{port + 1}")
        if self._settings.discord_bot_token is None:
            # Last, so that nothing is left behind where anything else stands in the way.
            plan.make_trial_folder(self._settings.state)
        return programs

    def _asked_to_stop(self) -> None:
        if self._signalled:
            self._crew.kill()
            return
        self._signalled = True
        self._screen.say("stopping; what runs may end; once more kills")
        if not self._crew.ended.done():
            self._crew.ended.set_result(0)

    async def _open(self, programs: tuple[Program, ...]) -> None:
        told: Stage | None = None
        if programs[0].name == "stage":
            told = await self._open_stage(programs[0])
            programs = plan.on_stage(self._settings, self._env, told)
        captain, bridge = programs
        self._crew.start(captain)
        await self._step("captain", self._ready())
        heard = self._expect("bridge")
        self._crew.start(bridge)
        await self._step("bridge", heard)
        self._screen.show(guide.shown(self._settings, told, guide.called()))

    async def _open_stage(self, program: Program) -> Stage:
        heard = self._expect("stage")
        self._crew.start(program)
        url = (await self._step("stage", heard)).removeprefix(_STAGE_LINE).strip()
        return await introduced(url)

    async def _step(self, name: str, wait: Awaitable[str]) -> str:
        """Wait for a program to be ready, and say so; the wait ends with the crew, not by a clock."""
        before = self._clock.elapsed()
        self._screen.say(f"starting the {name}")
        waiting = asyncio.ensure_future(wait)
        try:
            while not waiting.done():
                await asyncio.wait([waiting], timeout=SAY_EVERY.total_seconds())
                if not waiting.done():
                    self._screen.say(f"still waiting for the {name}; what it says stands above")
            took = (self._clock.elapsed() - before).total_seconds()
            self._screen.say(f"{name} ready after {took:.1f} s")
            return waiting.result()
        finally:
            waiting.cancel()

    def _expect(self, name: str) -> asyncio.Future[str]:
        return self._heard.setdefault(name, asyncio.get_running_loop().create_future())

    def _listen(self, name: str, line: str) -> None:
        expected = self._heard.get(name)
        if expected is None or expected.done():
            return
        ready = (
            line.startswith(_STAGE_LINE) if name == "stage" else screen.record_of(line).get("event") == _BRIDGE_READY
        )
        if ready:
            expected.set_result(line)

    async def _ready(self) -> str:
        async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
            while True:
                try:
                    answer = await http.get(f"{self._settings.captain_url}/readyz")
                except httpx.HTTPError:
                    pass
                else:
                    if answer.is_success:
                        return answer.text
                await self._clock.sleep(LOOK_EVERY)


def _refuse_taken(host: str, port: int, remedy: str) -> None:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno is None or isinstance(error, socket.gaierror):
            said = f"{host} is no name of this machine"
        else:
            said = f"port {port} cannot be listened on ({os.strerror(error.errno).lower()})"
        raise CannotRun(f"{said}; another Clankie may be running (clankie status), else set {remedy}") from error
