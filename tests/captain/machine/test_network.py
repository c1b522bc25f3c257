"""Commands that were granted the web reach it, and nothing nearer; each attempt gets there where its judge is gone."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.machine import sandbox, walls
from clankie_captain.machine.walls import PATH, PROXY_PORT
from clankie_captain.media import passage as ways
from clankie_captain.media.passage import Passage
from tests.captain.machine.ground import Ground, needs_a_sandbox, said
from tests.captain.media.listening import Listener, listening, response
from tests.captain.media.test_guard import EVERYWHERE, Lookups

pytestmark = [
    pytest.mark.requirement("GRANT-4", "SEC-3"),
    needs_a_sandbox,
    pytest.mark.skipif(shutil.which("python3", path=PATH) is None, reason="NO WEB IS TRIED: no python3 in /usr"),
]

PAGE = response(b"the page", content_type="text/html")
REST = r"/ HTTP/1.1\r\nHost: x\r\n\r\n"
ASKS = f'exec 3<>/dev/tcp/127.0.0.1/{PROXY_PORT}; printf "GET http://%s{REST}" @host@ >&3; cat <&3'
DIRECTLY = f'exec 3<>/dev/tcp/127.0.0.1/@port@; printf "GET {REST}" >&3; cat <&3'
NEAR = ["127.0.0.1", "localhost", "169.254.169.254", "10.1.2.3", "private.example", "[::1]"]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground.laid(tmp_path)


def gate(listener: Listener) -> Callable[[], Passage]:
    """A way that is judged as ever, and leads to the listener wherever it was let through to."""

    async def dial(*_: object) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", listener.port)

    return lambda: Passage(Lookups({**EVERYWHERE, "localhost": ["127.0.0.1"]}), connect=dial)


async def printed(ground: Ground, listener: Listener, command: str, *hosts: str) -> list[str]:
    tools = ground.workbench(gate=gate(listener))
    commands = (command.replace("@host@", f"'{host}'").replace("@port@", str(listener.port)) for host in hosts or ("",))
    return [said(await tools.run(each, lambda: None, timedelta(seconds=60))) for each in commands]


async def test_a_command_reaches_the_public_web_by_the_proxy_that_it_is_told_of(ground: Ground) -> None:
    async with listening(PAGE) as listener:
        page, names = await printed(ground, listener, ASKS, "public.example"), await printed(ground, listener, "env")
    assert page[0].endswith("the page\n")
    assert f"https_proxy=http://127.0.0.1:{PROXY_PORT}\n" in names[0]


async def test_no_command_reaches_this_machine_its_network_or_a_service_of_metadata(ground: Ground) -> None:
    async with listening(PAGE) as listener:
        assert not [each for each in await printed(ground, listener, ASKS, *NEAR) if "the page" in each]
        assert "Connection refused" in (await printed(ground, listener, DIRECTLY))[0]
    assert listener.connections == 0


async def test_each_of_them_is_reached_where_nobody_judges(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "judge", _nobody)
    monkeypatch.setattr(ways, "places", _anywhere)
    async with listening(PAGE) as listener:
        assert all("the page" in each for each in await printed(ground, listener, ASKS, *NEAR))


async def test_without_a_python_that_commands_see_nothing_is_run(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walls, "PATH", "/nowhere")
    tried = sandbox.Sandbox(sandbox.Place(ground.workspace), gate=Passage)
    assert await tried.lack() == "python"


def _nobody(*_: object) -> None:
    return None


async def _anywhere(*_: object) -> Sequence[str]:
    return ["anywhere"]
