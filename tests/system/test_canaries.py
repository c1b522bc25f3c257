"""What people write, and what providers say of it, is in the store and nowhere else."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from clankie_stage.client import StageClient
from clankie_stage.discord.scenery import ANN_ID
from clankie_stage.provider.beats import Call, Fail, Finish, Say, Step, Think
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.steps import broken_stream, call, calls, failed, overflow_error, step, text
from tests.captain.media.drawing import saved
from tests.ports import free_port
from tests.system.house import House, plain_environment
from tests.system.program import Program
from tests.system.scene import Scene

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

BIRD = "kanarek"
"""Stands in everything that must not be found again."""


def bird(kind: str) -> str:
    """A marked word of a kind."""
    return f"{BIRD}-{kind}"


def pixel() -> str:
    """A picture that says marked words about itself, in base64."""
    about = PngInfo()
    about.add_text("Comment", bird("comment"))
    return base64.b64encode(saved(Image.new("L", (1, 1)), pnginfo=about)).decode()


def failure(status: int) -> Fail:
    """A provider's error with marked words in each of its fields but its code."""
    return Fail(status, bird("type"), None, f"{bird('provider')} said https://{bird('host')}.example/{bird('path')}")


TURNS: tuple[tuple[Step, ...], ...] = (
    (text(bird("reply")),),
    (calls(call("send_text_update", {"text": bird("update")}), before=bird("aside")), text(bird("after-update"))),
    (calls(call("send_text_update", {"text": bird("x") * 200})), text(bird("after-refusal"))),
    (step(Call("send_text_update", ('{"text": "' + bird("half"),)), Finish("tool_calls")), text(bird("after-half"))),
    (calls(call(bird("tool"), {bird("key"): bird("argument")})), text(bird("after-unknown"))),
    (step(Think(bird("thought")), Say(bird("said")), Finish()),),
    (failed(failure(400)),),
    (failed(failure(404)),),
    (broken_stream(bird("begun"), error=failure(529)),),
    (failed(overflow_error()), failed(failure(400))),
    (step(Say(bird("filtered")), Finish("content_filter")),),
)
"""What the model does, a turn each."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A trial as anybody starts it: ``clankie up``."""
    folder = tmp_path_factory.mktemp("canaries")
    url, captain_url = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    env = plain_environment(folder) | {
        "CLANKIE_STATE": str(folder / "state"),
        "CLANKIE_STAGE_PORT": url.rpartition(":")[2],
        "CLANKIE_CAPTAIN_URL": captain_url,
    }
    async with AsyncExitStack() as ending:
        up = await Program.started("up", ["-m", "clankie_cli", "up"], env, folder)
        ending.push_async_callback(up.stop)
        await up.said("Clankie is up")
        stage = await ending.enter_async_context(StageClient(url))
        provider = await ending.enter_async_context(ProviderClient.connected(f"{url}/provider"))
        captain = await ending.enter_async_context(httpx.AsyncClient(base_url=captain_url, trust_env=False))
        yield House(folder, folder / "state" / "stage", env, stage, provider, captain, programs={"up": up})


async def say_everything(scene: Scene) -> str:
    """Let marked words pass through every part of Clankie; the last message's id."""
    stage = scene.house.stage
    author = {"id": ANN_ID, "username": bird("user"), "global_name": bird("name"), "avatar": None, "discriminator": "0"}
    picture = {
        "filename": f"{bird('file')}.png",
        "content": pixel(),
        "url": f"https://cdn.discordapp.com/attachments/1/2/{bird('url')}.png?ex={bird('query')}",
        "description": bird("description"),
    }
    # One whose address leads nowhere, and one that he sees.
    pictures = [picture, {"filename": f"{bird('shown')}.png", "content": pixel()}]
    said = ""
    for number, steps in enumerate(TURNS):
        await scene.script(*steps)
        said = await scene.say(
            f"Clankie, {bird('text')} {number}", overrides={"author": author}, attachments=pictures * (number % 2)
        )
        await scene.concluded(said)
    await stage.edit(said, f"Clankie, {bird('edit')}")
    await stage.fault(
        method="POST", route="/channels/*/messages", status=403, body={"code": 50013, "message": bird("discord")}
    )
    await scene.script(text(bird("unposted")))
    await scene.concluded(await scene.say(f"Clankie, {bird('text')}"))
    await stage.fault(method="POST", route="/channels/*/messages", status=502, body=bird("gateway"))
    await scene.script(text(bird("late")))
    last = await scene.say(f"Clankie, {bird('text')}")
    await scene.concluded(last)
    return last


async def ask_wrongly(house: House) -> list[str]:
    """Marked requests that the captain refuses; what it answers."""
    right = {"Authorization": f"Bearer {house.token()}", "Content-Type": "application/json"}
    marked = {"wire_version": 1, "delivery_id": bird("id with blanks"), "body": bird("body"), "kind": bird("kind")}
    tries = [
        (json.dumps(marked), right),
        (f'{{"body": "{bird("cut")}', right),
        (json.dumps({**marked, "wire_version": bird("version")}), right),
        (json.dumps(marked), {**right, "Authorization": f"Bearer {bird('token')}"}),
        (json.dumps(marked), {**right, "Prefer": f"wait={bird('wait')}"}),
    ]
    answers = [await house.captain.post("/v1/turns", content=body, headers=headers) for body, headers in tries]
    assert all(each.status_code in (401, 403, 422) for each in answers)
    return [f"{each.headers} {each.text}" for each in answers]


async def asked_about(house: House) -> list[str]:
    """What the command says meanwhile."""
    said: list[str] = []
    for arguments in (["status"], ["status", "--json"]):
        command = await Program.started("status", ["-m", "clankie_cli", *arguments], house.env, house.folder)
        assert await command.exit_code() == 0, command.tail
        said += command.lines
    return said


def files_with(folder: Path, words: str) -> set[str]:
    """The files that hold these words."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    return {str(each.relative_to(folder)) for each in files if words.encode() in each.read_bytes()}


@pytest.mark.requirement("SEC-2", "FAIL-4", "IMG-10")
async def test_nothing_but_the_store_holds_what_people_and_providers_said(scene: Scene) -> None:
    house = scene.house
    nest = await Scene.opened(house, bird("room"))
    last = await say_everything(nest)
    bot_token: str = (await house.stage.call("describe"))["token"]
    answers = await ask_wrongly(house)
    asked = [*await asked_about(house), (await house.captain.get("/metrics")).text]
    ids = [each["id"] for one in await house.stage.messages(nest.room) for each in one["attachments"]]
    up = house.programs["up"]
    assert await up.stop() == 0

    assert stores(files_with(house.folder, BIRD)) == {"captain.db"}
    for kind in ("text", "name", "file", "url", "shown", "update", "argument", "provider", "reply"):
        assert files_with(house.folder, bird(kind)), f"{kind} never came through"
    everything = "\n".join([*up.lines, *asked, *answers])
    assert [line for line in everything.splitlines() if BIRD in line] == []
    # The search reaches whatever is written: ids are in all of it.
    assert last in everything
    assert stores(files_with(house.folder, last)) == {"captain.db", "evidence.jsonl", "turn-settled.jsonl"}

    assert 'fate="shown"' in everything
    assert ids
    for attachment in ids:
        assert attachment not in everything
        assert stores(files_with(house.folder, attachment)) == {"captain.db"}

    assert bot_token not in everything
    assert files_with(house.folder, bot_token) == set()
    for name in ("captain-token", "operator-token"):
        token = house.token(name)
        assert token not in everything
        assert stores(files_with(house.folder, token)) == {name}


def stores(files: set[str]) -> set[str]:
    """The names of files, a database's own companions counted as the database."""
    return {Path(name).name.removesuffix("-wal").removesuffix("-shm") for name in files}
