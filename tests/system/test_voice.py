"""A voice client in a room: the reference client as a real process beside captain and bridge."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from clankie_stage.discord.scenery import GUILD_ID
from clankie_stage.provider.easel import plain_png
from clankie_stage.provider.steps import gated, text
from tests.rules.sources import ROOT
from tests.system.house import House, whole_house
from tests.system.pictures import posted
from tests.system.program import PATIENCE_S, Program
from tests.system.scene import Scene

TOKEN = "the-token-of-an-ear"
CLIENT = str(ROOT / "docs" / "examples" / "voice_client.py")

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.requirement("VOX-2")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    toml = f'[presences.ear]\ntoken = "{TOKEN}"\n'
    async with whole_house(tmp_path_factory.mktemp("voice"), toml=toml) as running:
        yield running


@asynccontextmanager
async def voice(scene: Scene, room: str | None = None) -> AsyncGenerator[Program]:
    """The client, once it holds the room; another than the scene's where one is named."""
    env = scene.house.env | {"CLANKIE_VOICE_TOKEN": TOKEN}
    client = await Program.started(
        "voice", [CLIENT, f"{GUILD_ID}:{room or scene.room}"], env, scene.house.folder, reads=True
    )
    try:
        await client.said("holding")
        yield client
    finally:
        await client.kill()


def spoken(client: Program) -> list[str]:
    return [line.removeprefix("speaks: ") for line in client.lines if line.startswith("speaks: ")]


@pytest.mark.requirement("VOX-1")
async def test_typed_words_are_answered_aloud_and_a_picture_in_text(scene: Scene) -> None:
    async with voice(scene) as client:
        await scene.script(text("Nine."), text("A blue one."), text("Ten."))
        one = await scene.say("Clankie, what time is it?")
        await client.said("speaks: Nine.")
        assert await scene.concluded(one) == [["accepted", "absorbed"]]
        two = await scene.say("Clankie, and this?", attachments=[posted(plain_png(40, 30, 0x0000FF))])
        assert await scene.concluded(two) == [["accepted", "replied"]]
        client.tell(f"and now? ({scene.name})")
        await client.said("speaks: Ten.")
        assert (spoken(client), await scene.posted()) == (["Nine.", "Ten."], ["A blue one."])

        await scene.script(text("In text."))
        client.hush()
        assert await client.exit_code() == 0
        await scene.concluded(await scene.say("Clankie, still there?"))
        assert (await scene.posted())[1:] == ["In text."]
    lanes = [run["lane"].partition("/")[0] for run in await scene.runs(4)]
    assert lanes == ["voice", "rooms", "voice", "rooms"]


async def test_lines_of_a_file_are_said_as_those_of_a_pipe_are(scene: Scene) -> None:
    await scene.script(text("Twelve."))
    lines = scene.house.folder / "lines"
    lines.write_text(f"what time is it? ({scene.name})\n", "utf-8")
    env = scene.house.env | {"CLANKIE_VOICE_TOKEN": TOKEN}
    with lines.open("rb") as given:
        client = await asyncio.create_subprocess_exec(
            sys.executable, CLIENT, f"{GUILD_ID}:{scene.room}", stdin=given, stdout=asyncio.subprocess.PIPE, env=env
        )
    async with asyncio.timeout(PATIENCE_S):
        said, _ = await client.communicate()
    assert (client.returncode, said) == (0, b"speaks: Twelve.\n")


async def test_typed_words_that_join_what_is_being_said_are_answered_with_it(scene: Scene) -> None:
    async with voice(scene) as client:
        await scene.script(gated("thinking", "One."), text("Both."))
        client.tell(f"what is that? ({scene.name})")
        await scene.requests(1)
        one = await scene.say("Clankie, and that?")
        await scene.accepted(one)
        await scene.open("thinking")
        await client.said("speaks: Both.")
        assert await scene.concluded(one) == [["accepted", "absorbed"]]
        assert (spoken(client), await scene.posted()) == (["Both."], [])


async def test_typed_words_are_answered_in_text_once_where_the_voice_that_they_joined_hangs(scene: Scene) -> None:
    async with voice(scene) as client:
        await scene.script(gated("thinking", "One."), text("Both."), text("Ten."))
        client.tell(f"what is that? ({scene.name})")
        await scene.requests(1)
        one = await scene.say("Clankie, and that?")
        await scene.accepted(one)
        client.suspend()
        await scene.open("thinking")
        assert await scene.concluded(one) == [["accepted", "absorbed"]]
        (reply,) = await scene.replies(1)
        assert (reply["content"], reply["message_reference"]["message_id"]) == ("Both.", one)
        client.wake()
        await client.said("holding", 2)
        client.tell(f"and now? ({scene.name})")
        await client.said("speaks: Ten.")
        assert (spoken(client), await scene.posted()) == (["Ten."], ["Both."])


async def test_a_live_text_run_keeps_its_steers_and_posts_while_a_voice_comes(scene: Scene) -> None:
    await scene.script(gated("thinking", "One."), text("Both, in text."))
    one = await scene.say("Clankie, what is that?")
    await scene.requests(1)
    async with voice(scene) as client:
        two = await scene.say("Clankie, and that?")
        await scene.accepted(two)
        await scene.open("thinking")
        assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
        assert (spoken(client), await scene.posted()) == ([], ["Both, in text."])


@pytest.mark.parametrize("killed", [True, False])
async def test_words_that_a_voice_leaves_unspoken_are_posted_once_when_its_lease_ends(
    scene: Scene, killed: bool
) -> None:
    async with voice(scene) as client:
        await scene.script(text("Nine."), text("Ten."))
        await (client.kill() if killed else _frozen(client))
        one = await scene.say("Clankie, what time is it?")
        assert await scene.concluded(one) == [["accepted", "absorbed"]]
        (reply,) = await scene.replies(1)
        assert (reply["content"], reply["message_reference"]["message_id"]) == ("Nine.", one)
        if killed:
            await scene.concluded(await scene.say("Clankie, and now?"))
        else:
            client.wake()
            await client.said("holding", 2)
            two = await scene.say("Clankie, and now?")
            await client.said("speaks: Ten.")
            assert await scene.concluded(two) == [["accepted", "absorbed"]]
        assert spoken(client) == ([] if killed else ["Ten."])
        assert await scene.posted() == (["Nine.", "Ten."] if killed else ["Nine."])


async def test_what_one_room_is_owed_is_never_heard_in_another(scene: Scene) -> None:
    await scene.script(gated("thinking", "Nine."), text("Ten."))
    async with voice(scene) as client:
        client.tell(f"what time is it? ({scene.name})")
        await scene.requests(1)
    await scene.open("thinking")
    await scene.runs(1)
    async with voice(scene, str(int(scene.room) + 1)) as elsewhere:
        elsewhere.tell(f"and now? ({scene.name})")
        await elsewhere.said("speaks: Ten.")
        assert spoken(elsewhere) == ["Ten."]
    async with voice(scene) as client:
        await client.said("speaks: Nine.")
        assert spoken(client) == ["Nine."]


async def _frozen(client: Program) -> None:
    client.suspend()


async def test_a_captain_that_starts_again_keeps_the_lease(scene: Scene) -> None:
    async with voice(scene) as client:
        await scene.house.kill("captain")
        await scene.house.start_captain()
        await scene.script(text("Nine."))
        one = await scene.say("Clankie, what time is it?")
        await client.said("speaks: Nine.")
        assert await scene.concluded(one) == [["accepted", "absorbed"]]
        assert await scene.posted() == []
