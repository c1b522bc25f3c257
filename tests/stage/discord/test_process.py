"""The stage as a process of its own."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from clankie_stage.app import CONTAINER_MARKS
from clankie_stage.client import StageClient


async def run(*arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "clankie_stage", *arguments, stdout=pipe, stderr=pipe
    )


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
async def test_it_says_where_it_listens_and_stops_cleanly(stop: signal.Signals) -> None:
    process = await run("--port", "0")
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    assert line.startswith("stage listening on http://127.0.0.1:")
    async with StageClient(line.split()[-1]) as stage:
        assert (await stage.call("describe"))["connected"] == 0
    process.send_signal(stop)
    out, errors = await process.communicate()
    assert (process.returncode, out, errors) == (0, b"", b"")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "stage.example.com"])
async def test_it_refuses_to_listen_beyond_loopback(host: str) -> None:
    process = await run("--host", host)
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().startswith("the stage listens on loopback only")


async def test_outside_a_container_it_does_not_listen_as_in_one() -> None:
    if any((Path("/") / mark).exists() for mark in CONTAINER_MARKS):
        pytest.skip("this runs in a container itself, where the stage may listen so")
    process = await run("--in-container", "--port", "0")
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().startswith("--in-container is for the stage's image")


async def test_a_taken_port_is_said_plainly() -> None:
    first = await run("--port", "0")
    assert first.stdout is not None
    port = (await first.stdout.readline()).decode().strip().rsplit(":", 1)[-1]
    second = await run("--port", port)
    _, errors = await second.communicate()
    first.terminate()
    await first.communicate()
    assert (second.returncode, b"Traceback" in errors) == (2, False)
    assert f"cannot listen on port {port}" in errors.decode()
