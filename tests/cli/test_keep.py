"""A service in a container: what is waited for, what is passed on, and when it goes to the stage."""

import asyncio
import io
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from clankie_cli.keep import SAY_EVERY, Keeper
from clankie_cli.pulse import alive
from clankie_settings.clock import SystemClock
from clankie_stage.app import Stage
from tests.cli.launching import environment, until
from tests.ports import free_ports

NOWHERE = ("::1%nowhere", 4320)
"""A place that cannot be found, as the stage's name where no stage runs."""

STOPPED = 0
"""How a captain ends that was stopped: in order, since that was asked of it."""


class Minutes:
    """A clock whose sleeps end when a minute is let pass."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def elapsed(self) -> timedelta:
        return timedelta()

    async def sleep(self, duration: timedelta) -> None:
        assert duration == SAY_EVERY == timedelta(minutes=1)
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await self.asked.put(ended)
        await ended

    async def waited_for(self) -> asyncio.Future[None]:
        return await asyncio.wait_for(self.asked.get(), 60)


def keeper(
    name: str, env: dict[str, str], clock: Minutes, stage: tuple[str, int] = NOWHERE
) -> tuple[Keeper, io.StringIO]:
    out = io.StringIO()
    return Keeper(name, lambda: env, clock, out, stage), out


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("bridge", {}, "clankie bridge: DISCORD_BOT_TOKEN is not set"),
        ("captain", {}, "clankie captain: no model is configured"),
        ("captain", {"CLANKIE_MODLE": "rehearsal"}, "clankie captain: CLANKIE_MODLE: is no variable of Clankie"),
        ("bridge", {"DISCORD_BOT_TOKEN": "t", "CLANKIE_REPLY_POLICY": "some"}, "clankie bridge: CLANKIE_REPLY_POLICY"),
    ],
)
async def test_a_configuration_fault_is_said_once_a_minute_until_it_is_stopped(
    tmp_path: Path, name: str, settings: dict[str, str], said: str
) -> None:
    clock = Minutes()
    # Another captain may be running on this machine.
    (port,) = free_ports(1)
    address = {"CLANKIE_CAPTAIN_URL": f"http://127.0.0.1:{port}"}
    kept, out = keeper(name, environment(tmp_path, **address, **settings), clock)
    running = asyncio.create_task(kept.run())
    for minute in range(1, 4):
        ended = await clock.waited_for()
        lines = [line for line in out.getvalue().splitlines() if f"up -d --force-recreate {name}" in line]
        assert len(lines) == minute
        assert all(line.startswith(said) for line in lines)
        ended.set_result(None)
    kept.stop.set()
    assert await running == os.EX_CONFIG


async def test_without_a_token_a_captain_that_has_a_model_runs_for_whoever_asks_it(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    env = environment(tmp_path, ANTHROPIC_API_KEY="unused", CLANKIE_CAPTAIN_URL=f"http://127.0.0.1:{port}")
    kept, _ = keeper("captain", env, Minutes())
    running = asyncio.create_task(kept.run())
    assert await asyncio.to_thread(until, lambda: is_ready(port))
    kept.stop.set()
    assert await running == STOPPED


async def test_without_a_token_a_service_goes_to_the_stage_that_runs_beside_it(tmp_path: Path) -> None:
    # As among containers, where each has the port for itself: the stage on one address, the relay on another.
    async with Stage.running("127.0.0.2") as stage:
        place = ("127.0.0.2", int(stage.base_url.rpartition(":")[2]))
        (port,) = free_ports(1)
        env = environment(tmp_path, CLANKIE_CAPTAIN_URL=f"http://127.0.0.1:{port}", CLANKIE_DISCORD_GUILDS="1" * 18)
        kept, _ = keeper("captain", env, Minutes(), place)
        running = asyncio.create_task(kept.run())
        assert await asyncio.to_thread(until, lambda: is_ready(port))
        assert (tmp_path / "state/stage").stat().st_mode & 0o777 == 0o700
        assert [each.name for each in (tmp_path / "state").iterdir()] == ["stage"]
        kept.stop.set()
        assert await running == STOPPED


async def test_a_stage_that_does_not_answer_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.2", 0)) as door:
        place: tuple[str, int] = door.getsockname()
    clock = Minutes()
    kept, out = keeper("bridge", environment(tmp_path), clock, place)
    running = asyncio.create_task(kept.run())
    await clock.waited_for()
    kept.stop.set()
    assert await running == os.EX_CONFIG
    assert "does not answer: docker compose logs stage" in out.getvalue()


def test_a_stop_reaches_the_service_and_its_exit_code_comes_back(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with kept_process(tmp_path, port) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == STOPPED


def test_a_service_that_was_killed_ends_its_keeper_so_that_the_container_starts_again(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with kept_process(tmp_path, port) as process:
        (service,) = psutil.Process(process.pid).children()
        service.kill()
        assert process.wait(60) == 128 + signal.SIGKILL


def test_a_service_does_not_outlive_its_keeper(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with kept_process(tmp_path, port) as process:
        (service,) = psutil.Process(process.pid).children()
        process.kill()
        assert until(lambda: not service.is_running() or service.status() == psutil.STATUS_ZOMBIE)


@contextmanager
def kept_process(folder: Path, port: int) -> Generator[subprocess.Popen[bytes]]:
    """The entry of the captain's container as a process, once it is ready."""
    env = environment(
        folder, DISCORD_BOT_TOKEN="held", ANTHROPIC_API_KEY="unused", CLANKIE_CAPTAIN_URL=f"http://127.0.0.1:{port}"
    )
    command = [sys.executable, "-m", "clankie_cli.keep", "captain"]
    with subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.DEVNULL) as process:
        try:
            assert until(lambda: is_ready(port))
            yield process
        finally:
            process.kill()


def is_ready(port: int) -> bool:
    return alive(f"http://127.0.0.1:{port}/readyz", SystemClock())
