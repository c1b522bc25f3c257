"""``python -m clankie_cli.keep captain|bridge``: one service in a container.

A container that ends is started again at once, which mends a fault and never a configuration. So where a setting has to
change first, this stays up and says once a minute what to do; every other end is passed on. Without a Discord token it
takes the service to the stage, where one runs beside it.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Final, TextIO

import httpx

from clankie_cli import plan
from clankie_cli.errors import CannotRun
from clankie_cli.introduction import introduced
from clankie_cli.leash import leash
from clankie_cli.plan import Program, Stage
from clankie_cli.relay import relay
from clankie_settings.clock import Clock, SystemClock
from clankie_settings.environment import SettingsError, launch_settings, process_environment
from clankie_settings.secrets import TokenFileError

SAY_EVERY: Final = timedelta(minutes=1)
"""How often what has to change is said."""

STAGE: Final = ("clankie-stage.", 4320)
"""Where the stage is among the containers; the dot keeps the name from being sought in somebody's own domain."""

LINE_BYTES: Final = 1024 * 1024
"""Longest line of a service that is passed on, in bytes."""

UNSET: Final = (
    "DISCORD_BOT_TOKEN is not set: copy it from https://discord.com/developers/applications, your application, Bot, "
    "into .env; to try Clankie without Discord run: docker compose down, then docker compose --profile stage up"
)


class Keeper:
    """Runs one service once, and stays where its configuration has to change.

    Attributes:
        stop: Set, it stops the service in good order, or ends the waiting.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[], Mapping[str, str]],
        clock: Clock,
        out: TextIO,
        stage: tuple[str, int] = STAGE,
    ) -> None:
        self._name = name
        self._read = read
        self._clock = clock
        self._out = out
        self._stage = stage
        self._last = ""
        self.stop = asyncio.Event()

    async def run(self) -> int:
        """Run the service; its exit code, or 128 and the signal's number where one killed it."""
        async with AsyncExitStack() as kept:
            try:
                code = await self._run(await self._program(kept))
            except (SettingsError, TokenFileError, CannotRun) as error:
                self._last, code = f"clankie {self._name}: {error}", os.EX_CONFIG
        if code == os.EX_CONFIG:
            await self._wait()
        return code if code >= 0 else 128 - code

    async def _program(self, kept: AsyncExitStack) -> Program:
        env = self._read()
        settings = launch_settings(env)
        if settings.discord_bot_token is None:
            told = await self._told(kept)
            if told is not None:
                plan.make_trial_folder(settings.state)
                return next(each for each in plan.on_stage(settings, env, told) if each.name == self._name)
            if self._name == "bridge":
                raise CannotRun(UNSET)
        return Program(self._name, f"clankie_{self._name}", env)

    async def _told(self, kept: AsyncExitStack) -> Stage | None:
        """What the stage says about itself, once it leads here; None where there is none."""
        try:
            await asyncio.get_running_loop().getaddrinfo(*self._stage)
        except OSError:
            return None
        url = await kept.enter_async_context(relay(*self._stage))
        try:
            return await introduced(url)
        except httpx.HTTPError as error:
            raise CannotRun("there is a stage, and it does not answer: docker compose logs stage") from error

    async def _run(self, program: Program) -> int:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            program.module,
            *program.arguments,
            cwd=program.folder,
            env=dict(program.env),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
            preexec_fn=leash(),  # no thread runs beside this loop
        )
        stopping = asyncio.create_task(self._stop_with(process))
        try:
            await self._pass_on(process)
            return await process.wait()
        finally:
            stopping.cancel()
            if process.returncode is None:
                process.kill()

    async def _stop_with(self, process: asyncio.subprocess.Process) -> None:
        await self.stop.wait()
        if process.returncode is None:
            process.terminate()

    async def _pass_on(self, process: asyncio.subprocess.Process) -> None:
        """Pass on what it logs, and remember the last line that is meant for a person."""
        if process.stderr is None:
            return
        while True:
            try:
                line = await process.stderr.readline()
            except ValueError:
                line = b"(a line too long to show)\n"
            if not line:
                return
            text = line.decode("utf-8", "replace").rstrip()
            self._say(text)
            if text and not text.startswith("{"):
                self._last = text

    async def _wait(self) -> None:
        after = f"Once that is done: docker compose up -d --force-recreate {self._name}"
        stopped = asyncio.create_task(self.stop.wait())
        while not stopped.done():
            self._say(f"{self._last.rstrip('.')}. {after}")
            minute = asyncio.create_task(self._clock.sleep(SAY_EVERY))
            await asyncio.wait([stopped, minute], return_when=asyncio.FIRST_COMPLETED)
            minute.cancel()

    def _say(self, text: str) -> None:
        print(text, file=self._out, flush=True)


async def _kept(name: str) -> int:
    keeper = Keeper(name, process_environment, SystemClock(), sys.stderr)
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, keeper.stop.set)
    return await keeper.run()


def main(arguments: Sequence[str] | None = None) -> int:
    """Keep the service that the command line names; its exit code."""
    parser = argparse.ArgumentParser("clankie_cli.keep", description="One service in a container.")
    parser.add_argument("service", choices=("captain", "bridge"))
    return asyncio.run(_kept(parser.parse_args(arguments).service))


if __name__ == "__main__":
    sys.exit(main())
