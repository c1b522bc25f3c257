"""What a tool draws arrives in the room with the words, once; and whatever becomes of the file, the words arrive."""

import hashlib
import io
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from clankie_bridge.core import crash_points
from clankie_bridge.core.artifacts import LARGEST
from clankie_stage.discord.scenery import GUILD_ID
from clankie_stage.provider.beats import Step
from clankie_stage.provider.steps import call, calls, gated, text
from tests.system.house import BRIDGE, House, whole_house
from tests.system.scene import Scene, told_by_tools
from tests.system.test_crashes_bridge import CRASHING, settled

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

DRAWN = "drawn"


ROOMS = [str(1_310_000_000_000_009_000 + number) for number in range(40)]
QUIET = "".join(f'[rooms."{GUILD_ID}:{room}"]\ncard = false\n' for room in ROOMS)
"""No cards, which a slow drawing would have, and which are messages as well."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("artifacts"), toml=QUIET) as running:
        # Discord has forgotten every nonce: nothing here is saved by one.
        await running.stage.call("behave", nonce_window_s=-1)
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def free_rooms() -> Iterator[str]:
    return iter(ROOMS)


@pytest_asyncio.fixture(loop_scope="module")
async def scene(house: House, free_rooms: Iterator[str]) -> Scene:
    """A room of the test's own, without cards."""
    await house.provider.reset()
    await house.provider.habits(default="unscripted")
    room = next(free_rooms)
    await house.stage.call("create_room", name=f"drawings-{room}", room_id=room)
    return Scene(house, room, f"drawings-{room}")


def drawing(about: str) -> Step:
    """The model draws; each drawing is about something else, so that none is the same file as another."""
    steps = [{"id": "a", "label": about}, {"id": "b", "label": "The room"}]
    diagram = {"kind": "flow", "steps": steps, "links": [{"source": "a", "target": "b"}]}
    return calls(call("draw_diagram", {"title": "Who says what", "diagram": diagram}))


def files(house: House) -> set[Path]:
    folder = house.state / "attachments" / "diagrams"
    return {each for each in folder.iterdir() if each.suffix == ".png"} if folder.is_dir() else set()


async def drawn(scene: Scene) -> tuple[str, Path]:
    """Let him draw, and hold his words back; the message that asked, and the file."""
    before = files(scene.house)
    await scene.script(drawing(f"Room {scene.room}"), gated(DRAWN, "Here it is."))
    asked = await scene.say("Clankie, draw it")
    await scene.requests(2)
    (made,) = files(scene.house) - before
    return asked, made


async def own(scene: Scene) -> list[dict[str, Any]]:
    return [each for each in await scene.house.stage.messages(scene.room) if each["author"].get("bot")]


@pytest.mark.requirement("ART-1", "ART-2", "ART-3", "ART-4")
async def test_a_diagram_arrives_with_its_words_as_one_message(scene: Scene) -> None:
    asked, file = await drawn(scene)
    await scene.open(DRAWN)
    assert await scene.concluded(asked) == [["accepted", "replied"]]
    (reply,) = await own(scene)
    assert (reply["content"], reply["message_reference"]["message_id"]) == ("Here it is.", asked)
    (attachment,) = reply["attachments"]
    data = file.read_bytes()
    assert (attachment["content_type"], attachment["size"]) == ("image/png", len(data))
    assert attachment["filename"].startswith("who-says-what-")
    assert attachment["filename"] in told_by_tools((await scene.requests(2))[1])[0]
    (post,) = await scene.posts()
    assert [each["sha256"] for each in post["what"]["files"]] == [hashlib.sha256(data).hexdigest()]
    with Image.open(io.BytesIO(data)) as image:
        assert (attachment["width"], attachment["height"]) == image.size


def _gone(file: Path) -> None:
    file.unlink()


def _altered(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1] + b"!")


def _linked(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/hostname")


def _piped(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _grown(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(LARGEST + 1)


@pytest.mark.requirement("ART-3")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_gone, "its file is gone"),
        (_altered, "its file is not the one that I made"),
        (_linked, "its file is not where my pictures belong"),
        (_piped, "its file is not where my pictures belong"),
        (_grown, "it is too large for Discord"),
    ],
)
async def test_a_picture_that_cannot_be_had_costs_no_words(
    scene: Scene, change: Callable[[Path], None], reason: str
) -> None:
    asked, file = await drawn(scene)
    change(file)
    await scene.open(DRAWN)
    await scene.concluded(asked)
    assert await scene.posted() == [f"Here it is.\n\n(I could not attach a picture: {reason}.)"]
    assert scene.codes(asked)[-1] == "pictures_left_out"
    assert scene.house.settled()[-1]["outcome"] == "replied"


@pytest.mark.requirement("ART-3")
async def test_discords_413_costs_the_picture_and_not_the_words(scene: Scene) -> None:
    """C31."""
    asked, _ = await drawn(scene)
    refusal = {"message": "Request entity too large", "code": 40005}
    route = f"/channels/{scene.room}/messages"
    await scene.house.stage.call("fault", method="POST", route=route, status=413, body=refusal)
    await scene.open(DRAWN)
    await scene.concluded(asked)
    assert await scene.posted() == ["Here it is.\n\n(I could not attach a picture: it is too large for Discord.)"]
    assert [each["what"]["status"] for each in await scene.posts()] == [413, 200]


@pytest.mark.requirement("ART-3")
async def test_a_room_where_he_may_not_attach_files_gets_the_words(scene: Scene) -> None:
    """C31: 50013."""
    asked, _ = await drawn(scene)
    await scene.house.stage.call("set_access", room=scene.room, access="words")
    await scene.open(DRAWN)
    await scene.concluded(asked)
    assert await scene.posted() == ["Here it is.\n\n(I could not attach a picture: I may not attach files here.)"]


@pytest.mark.requirement("ART-3", "OUT-1")
@pytest.mark.parametrize("point", [crash_points.STORED, crash_points.PART_POSTED])
@pytest.mark.parametrize("change", [None, _gone])
async def test_words_and_picture_arrive_once_where_the_bridge_is_killed_behind_the_upload(
    scene: Scene, point: str, change: Callable[[Path], None] | None
) -> None:
    house = scene.house
    asked, file = await drawn(scene)
    await house.stop("bridge")
    house.bridge_program = (CRASHING, point, "1")
    await house.start_bridge()
    await scene.open(DRAWN)
    assert await house.died("bridge") == -signal.SIGKILL
    if change is not None:
        change(file)
    house.bridge_program = BRIDGE
    await house.start_bridge()
    await house.until_async(lambda: settled(house, asked), "the reply is receipted")
    assert [(each["content"], len(each["attachments"])) for each in await own(scene)] == [("Here it is.", 1)]
    assert len(await scene.posts()) == 1


@pytest.mark.requirement("ART-3", "OUT-1")
async def test_a_bridge_that_is_killed_before_the_upload_leaves_words_and_picture_to_the_next(scene: Scene) -> None:
    house = scene.house
    asked, _ = await drawn(scene)
    await house.kill("bridge")
    await scene.open(DRAWN)
    await scene.runs(1)
    await house.start_bridge()
    await house.until_async(lambda: settled(house, asked), "the reply is receipted")
    assert [(each["content"], len(each["attachments"])) for each in await own(scene)] == [("Here it is.", 1)]


@pytest.mark.requirement("ART-2", "ART-3")
async def test_several_pictures_arrive_in_their_order_and_a_later_reply_has_none_of_them(scene: Scene) -> None:
    await scene.script(drawing("first"), drawing("second"), text("Both."), text("No more."))
    await scene.concluded(await scene.say("Clankie, draw both"))
    await scene.concluded(await scene.say("Clankie, anything else?"))
    both, later = await own(scene)
    assert [each["attachments"] != [] for each in (both, later)] == [True, False]
    assert len({each["filename"] for each in both["attachments"]}) == 2
