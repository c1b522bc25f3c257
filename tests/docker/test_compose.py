"""``docker compose`` for real: what a clone, a browser and a killed captain see."""

import json
from collections.abc import Generator
from typing import Any

import pytest
from PIL import Image

from clankie_stage.client import StageClient
from clankie_stage.discord.scenery import GENERAL_ID, GUILD_ID
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.steps import call, calls, text
from tests.captain.media.drawing import saved
from tests.docker.engine import engine, until
from tests.docker.house import PATIENCE_S, House, cloned
from tests.system.pictures import posted
from tests.system.scene import told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.timeout(2_400)]

SERVICES = ("captain", "bridge", "stage")

OURS = """
import os, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("ours")

@server.tool()
def whose() -> str:
    return f"user {os.getuid()}, and {'a' if 'DISCORD_BOT_TOKEN' in os.environ else 'no'} token"

server.run(sys.argv[1])
"""
NEAR = {"command": "python", "args": ["/config/ours.py", "stdio"]}
FAR = {"url": "http://127.0.0.1:8000/mcp"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Generator[House]:
    with engine() as there, cloned(there, tmp_path_factory.mktemp("clone")) as made:
        yield made


@pytest.fixture
def trial(house: House) -> Generator[House]:
    """Everything up on the stage, with nothing set, as ``docker compose --profile stage up`` has it."""
    for each in (".env", "docker/config/mcp.json"):
        (house.folder / each).unlink(missing_ok=True)
    house.stage("up", "--detach", "--wait")
    yield house
    house.down()


def on_discord(house: House, *lines: str) -> None:
    """Captain and bridge up as ``.env`` says, without waiting for health."""
    (house.folder / ".env").write_text("".join(f"{line}\n" for line in lines))
    house.compose("up", "--detach")


async def test_a_captain_killed_in_mid_turn_and_started_again_gives_the_room_its_one_answer(trial: House) -> None:
    async with StageClient(f"http://127.0.0.1:{trial.stage_port}") as stage:
        await stage.say("Ann", "@Clankie good morning")
        (first,) = await replies(stage, 1)
        assert "good morning" in first["content"]

        before = await stage.mark()
        await stage.say("Ann", "@Clankie slow please, what is this?")
        # He has begun to write, and takes seconds for it.
        typing = {"kind": "rest", "method": "POST", "path": "/channels/*/typing"}
        await stage.wait(typing, after=before, within_s=PATIENCE_S)
        trial.docker("kill", trial.container("captain"))
        assert trial.inspected("captain")["State"]["Status"] == "exited"
        assert len(await replies(stage, 1)) == 1

        trial.stage("up", "--detach", "--wait")
        _, second = await replies(stage, 2)
        assert "what is this?" in second["content"]
        # Another message passes through the whole path behind it, so a second answer would have come before.
        await stage.say("Ann", "@Clankie thank you")
        assert len(await replies(stage, 3)) == 3


async def replies(stage: StageClient, count: int) -> list[dict[str, Any]]:
    return await stage.wait_messages(match={"author": {"bot": True}}, count=count, within_s=PATIENCE_S)


async def test_within_the_walls_he_draws_sees_and_asks_servers_and_has_no_shell(trial: House) -> None:
    config = trial.folder / "docker/config"
    (config / "ours.py").write_text(OURS)
    (config / "mcp.json").write_text(json.dumps({"mcpServers": {"near": NEAR, "far": FAR}}))
    (trial.folder / ".env").write_text("CLANKIE_TOOLS=draw_diagram,near_*,far_*\n")
    trial.stage("up", "--detach", "--wait")
    trial.stage("exec", "--detach", "captain", "python", "/config/ours.py", "streamable-http")
    assert until(lambda: sum('"server.up"' in line for line in trial.logs("captain")) == 2, PATIENCE_S)
    at = f"http://127.0.0.1:{trial.stage_port}"
    async with StageClient(at) as stage, ProviderClient.connected(f"{at}/provider") as provider:
        await stage.say("Ann", "@Clankie draw it")
        (drawn,) = (await replies(stage, 1))[0]["attachments"]
        assert drawn["content_type"] == "image/png"
        await stage.say("Ann", "@Clankie look", attachments=[posted(saved(Image.new("RGB", (40, 30), "red")))])
        # The one that came, and the one that he drew.
        assert "I was shown 2 pictures." in (await replies(stage, 2))[1]["content"]
        await provider.script(calls(call("near_whose"), call("far_whose")), text("Asked."))
        await stage.say("Ann", "@Clankie ask them")
        await replies(stage, 3)
        near, far = told_by_tools((await provider.records())[-1])[-2:]
        assert ("user 10001, and no token" in near, "user 10001" in far) == (True, True)
        await provider.script(calls(call("run_command", {"command": "id"})), text("No."))
        trial.inside("captain", "clankie", "send", "--conversation", "ops", "--wait", "run it")
        refused = told_by_tools((await provider.records())[-1])[-1]
        assert refused.startswith("Not run: this machine does not let a sandbox be made")


async def test_a_backup_comes_back_into_an_empty_volume(trial: House) -> None:
    """As docs/docker.md has it."""
    async with StageClient(f"http://127.0.0.1:{trial.stage_port}") as stage:
        await stage.say("Ann", "@Clankie good morning")
        await replies(stage, 1)
    trial.inside("captain", "clankie", "backup", "/var/lib/clankie/clankie.tar")
    trial.compose("cp", "captain:/var/lib/clankie/clankie.tar", ".")
    trial.down()
    back = "cd && cat > back.tar && clankie restore --replace back.tar; rm back.tar"
    with (trial.folder / "clankie.tar").open("rb") as given:
        said = trial.compose(
            *("run", "--rm", "--no-deps", "-T", "--entrypoint", "sh", "captain", "-c", back), given=given
        )
    assert "/var/lib/clankie/stage: restored as of" in said
    trial.stage("up", "--detach", "--wait")
    assert "good morning" in trial.inside("captain", "clankie", "trail", f"{GUILD_ID}:{GENERAL_ID}", "--text")


async def test_what_was_accepted_survives_new_containers(trial: House) -> None:
    token = trial.inside("captain", "clankie", "token", "captain")
    trial.stage("down")
    trial.stage("up", "--detach", "--wait")
    assert trial.inside("captain", "clankie", "token", "captain") == token


def test_a_service_that_falls_is_started_again(trial: House) -> None:
    fall = (
        "import os, pathlib, signal\n"
        "for each in pathlib.Path('/proc').glob('[0-9]*/cmdline'):\n"
        "    if each.read_bytes().endswith(b'\\0-m\\0clankie_captain\\0'):\n"
        "        os.kill(int(each.parent.name), signal.SIGKILL)\n"
    )
    trial.inside("captain", "python", "-c", fall)
    assert until(lambda: trial.inspected("captain")["RestartCount"] == 1, PATIENCE_S)
    assert trial.becomes("captain", "healthy")


def test_a_container_can_do_no_more_than_its_service_needs(trial: House) -> None:
    for service in SERVICES:
        seen = trial.inspected(service)
        held = seen["HostConfig"]
        assert seen["Config"]["User"] == "10001:10001"
        assert (held["ReadonlyRootfs"], held["CapDrop"], held["Privileged"]) == (True, ["ALL"], False)
        assert held["SecurityOpt"] == ["no-new-privileges:true"]
        published = [each for ports in held["PortBindings"].values() for each in ports]
        assert {each["HostIp"] for each in published} <= {"127.0.0.1"}
        assert bool(published) == (service != "bridge")


def test_an_image_holds_what_its_service_imports_and_nothing_to_build_with(trial: House) -> None:
    foreign = {
        "captain": ("hikari", "clankie_bridge", "clankie_stage"),
        "bridge": ("pydantic_ai", "fastapi", "sqlalchemy", "clankie_captain", "clankie_stage"),
        "stage": ("hikari", "pydantic_ai", "clankie_captain", "clankie_bridge"),
    }
    for service, modules in foreign.items():
        probe = f"import importlib.util as u; print([m for m in {(*modules, 'pip')!r} if u.find_spec(m)])"
        assert trial.inside(service, "python", "-c", probe).strip() == "[]"
        tools = "import shutil; print([t for t in ('gcc', 'cc', 'make', 'ffmpeg') if shutil.which(t)])"
        has = trial.inside(service, "python", "-c", tools).strip()
        assert has == ("['ffmpeg']" if service == "captain" else "[]")


def test_a_token_reaches_the_bridge_alone_and_a_model_key_the_captain_alone(house: House) -> None:
    on_discord(house, "DISCORD_BOT_TOKEN=canary-token", "ANTHROPIC_API_KEY=canary-key", "CLANKIE_NONSENSE=1")
    env = {name: "\n".join(house.inspected(name)["Config"]["Env"]) for name in ("captain", "bridge")}
    house.down()
    assert ("canary-token" in env["bridge"], "canary-key" in env["bridge"]) == (True, False)
    assert ("canary-token" in env["captain"], "canary-key" in env["captain"]) == (False, True)


def test_a_missing_token_keeps_the_bridge_up_unhealthy_and_saying_once_a_minute_what_to_do(house: House) -> None:
    # The folder is one of the owner's machine, and none of the container's.
    on_discord(house, "ANTHROPIC_API_KEY=unused", "CLANKIE_WORKSPACE=/home/me/work")
    assert house.becomes("bridge", "unhealthy")
    assert house.becomes("captain", "healthy")
    assert until(lambda: len(remedies(house, "bridge", "DISCORD_BOT_TOKEN is not set")) >= 2, PATIENCE_S)
    state = house.inspected("bridge")
    assert (state["State"]["Status"], state["RestartCount"]) == ("running", 0)
    house.compose("stop", "bridge")
    assert house.inspected("bridge")["State"]["ExitCode"] == 78
    house.down()


def test_a_misspelt_setting_keeps_both_up_and_unhealthy_until_it_is_mended(house: House) -> None:
    on_discord(house, "DISCORD_BOT_TOKEN=unused", "ANTHROPIC_API_KEY=unused", "CLANKIE_DISCORD_GILDS=1")
    for service in ("captain", "bridge"):
        assert house.becomes(service, "unhealthy")
        assert remedies(house, service, "did you mean CLANKIE_DISCORD_GUILDS?")
    on_discord(house, "ANTHROPIC_API_KEY=unused")
    assert house.becomes("captain", "healthy")
    house.down()


def remedies(house: House, service: str, part: str) -> list[str]:
    """The lines that say what is wrong, and what to do once it is mended."""
    said = f"docker compose up -d --force-recreate {service}"
    return [line for line in house.logs(service) if part in line and said in line]
