"""Servers of tools with real processes, public, odd and at an address: used where they were granted."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from clankie_stage.discord.scenery import ANN_ID, GENERAL_ID, GUILD_ID, RANDOM_ID
from clankie_stage.provider.records import Record
from clankie_stage.provider.steps import call, calls, text
from tests.captain.mcp.conftest import ODD, lives
from tests.captain.mcp.http_server import Hands, served, server
from tests.system.house import House, bare_house
from tests.system.scene import Scene, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

TOML = f"""
[actors."{ANN_ID}"]
tools = ["time_*", "odd_*"]

[rooms."{GUILD_ID}:{GENERAL_ID}"]
tools = ["ours_*"]

[rooms."{GUILD_ID}:{RANDOM_ID}"]
tools = ["time_*"]
"""
TIME = str(Path(sys.executable).with_name("mcp-server-time"))
CANARY = "CANARY-server"


@dataclass(frozen=True, slots=True)
class Ours:
    """The server at an address: what its tools touch, and its port."""

    hands: Hands
    port: int


def write_servers(folder: Path, odd: str, port: int) -> None:
    """``mcp.json`` as its owner has it, with a secret that only one server is told."""
    servers = {
        "time": {"command": TIME},
        "ours": {"url": f"http://127.0.0.1:{port}/mcp"},
        "odd": {"command": odd, "args": [ODD, str(folder / "tools")], "env": {"KEY": f"${{MISSING:-{CANARY}}}"}},
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")


async def up(house: House, *servers: str, times: int = 1) -> None:
    """Wait until the captain that runs now has said of each of these servers so many times that it is up."""
    lines = house.programs["captain"].lines

    def said(name: str) -> int:
        return sum("server.up" in line and f'"{name}"' in line for line in lines)

    await house.until(lambda: all(said(each) >= times for each in servers) or None, f"{', '.join(servers)} are up")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ours() -> AsyncIterator[Ours]:
    hands = Hands()
    async with served(server(hands).streamable_http_app()) as port:
        yield Ours(hands, port)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory, ours: Ours) -> AsyncIterator[House]:
    folder = tmp_path_factory.mktemp("servers")
    (folder / "tools").write_text("environment die child")
    (folder / "tools.stays").touch()
    async with bare_house(folder, toml=TOML) as running:
        write_servers(folder, sys.executable, ours.port)
        await asyncio.gather(running.start_captain(), running.start_bridge())
        await up(running, "time", "ours", "odd")
        yield running
        await running.check_pings()


def offered(record: Record) -> bytes:
    """The bytes of a request from its tools on, up to whatever follows them."""
    start = record.raw.index(b'"tools":')
    _, end = json.JSONDecoder().raw_decode(record.raw[start + len(b'"tools":') :].decode())
    return record.raw[start:][:end]


@pytest.mark.requirement("GRANT-1", "GRANT-5", "SEC-2", "LANE-13", "DUR-2")
async def test_servers_serve_whom_they_were_granted_to_and_leave_nothing_behind(scene: Scene, ours: Ours) -> None:
    house = scene.house
    now = call("time_get_current_time", {"timezone": "UTC"})
    await scene.script(calls(now, call("odd_environment")), text("It is."), calls(now), text("I may not."))
    anns = await scene.say("Clankie, what time is it")
    assert await scene.concluded(anns) == [["accepted", "replied"]]
    bobs = await scene.say("Clankie, and for me", "Bob")
    assert await scene.concluded(bobs) == [["accepted", "replied"]]
    first, second, third, fourth = await scene.requests(4)
    assert b'"name":"time_get_current_time"' in first.raw
    time, environment = told_by_tools(second)
    assert '"timezone": "UTC"' in time
    held = json.loads(environment.split("\n")[2])
    assert held["KEY"] == CANARY
    assert not [name for name in held if name.startswith(("CLANKIE_", "DISCORD_"))]
    assert "Not done: nobody has said that the person" in told_by_tools(fourth)[-1]
    await scene.script(calls(call("odd_die")), text("It broke off."), calls(call("odd_child")), text("Two."))
    broken = await scene.say("Clankie, break it")
    assert await scene.concluded(broken) == [["accepted", "replied"]]
    await up(house, "odd", times=2)
    children = await scene.say("Clankie, have children")
    assert await scene.concluded(children) == [["accepted", "replied"]]
    *_, sixth, _, eighth = await scene.requests(8)
    assert "the server odd broke off" in told_by_tools(sixth)[-1]
    pids = [int(each) for each in told_by_tools(eighth)[-1].split("\n")[2].split()]
    assert all(lives(each) for each in pids)
    await house.kill("captain")
    await house.until(lambda: not any(lives(each) for each in pids), "no server is left")
    write_servers(house.folder, "no-such-program", ours.port)
    await house.start_captain()
    await house.programs["captain"].said("server.down")
    await scene.script(calls(call("odd_environment")), text("It is away."))
    later = await scene.say("Clankie, and now")
    assert await scene.concluded(later) == [["accepted", "replied"]]
    records = await scene.requests(10)
    assert "Not done: the server odd does not answer now." in told_by_tools(records[-1])[-1]
    assert {offered(each) for each in records} == {offered(first)}
    assert not [line for program in house.past for line in program.lines if CANARY in line or "time_get" in line]
    assert third.raw


@pytest.mark.requirement("GRANT-1")
async def test_a_server_at_an_address_serves_the_room_it_was_granted_to_and_no_other(scene: Scene, ours: Ours) -> None:
    granted, other = Scene(scene.house, GENERAL_ID, "granted"), Scene(scene.house, RANDOM_ID, "other")
    await up(scene.house, "ours")
    for room in (granted, other):
        await room.script(calls(call("ours_echo", {"words": f"CANARY-{room.name}"})), text("Well."))
        assert await room.concluded(await room.say("Clankie, have it said", "Bob")) == [["accepted", "replied"]]
    (offer, answered), (another, refused) = await granted.requests(2), await other.requests(2)
    assert [b'"name":"ours_echo"' in offered(each) for each in (offer, another)] == [True, False]
    assert "\nCANARY-granted\n" in told_by_tools(answered)[0]
    assert "Unknown tool name: 'ours_echo'" in told_by_tools(refused)[0]
    assert ours.hands.echoed == ["CANARY-granted"]
