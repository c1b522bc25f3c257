"""What people post is seen: through the stage's CDN, with Discord's real addresses, to a strict provider."""

import base64
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from clankie_captain.media.film_program import film_program
from clankie_stage.provider.records import Record
from clankie_stage.provider.steps import gated, text
from tests.captain.media.drawing import saved
from tests.captain.media.filming import Studio
from tests.system.house import PATIENT, House, whole_house
from tests.system.pictures import posted, seen
from tests.system.scene import Scene, prompt

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

LINK = "https://tenor.com/view/a-cat-123"
PREVIEW, FILM = "/external/aaaa/https/media.tenor.com/cat.png", "/external/bbbb/https/media.tenor.com/cat.mp4"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("pictures"), PATIENT) as running:
        yield running


def plain(colour: str, size: tuple[int, int] = (40, 30)) -> bytes:
    return saved(Image.new("RGB", size, colour))


async def shown(scene: Scene, *pictures: dict[str, Any], says: str = "Clankie, look", **how: Any) -> Record:
    """The request that a message with these pictures makes, once it was answered."""
    await scene.script(text("I see."))
    message = await scene.say(says, attachments=[*pictures], **how)
    assert await scene.concluded(message) == [["accepted", "replied"]]
    record = (await scene.requests(1))[-1]
    assert record.refused == ""
    return record


@pytest.mark.requirement("IMG-1", "IMG-6", "IMG-7", "WIRE-3")
async def test_a_picture_with_a_caption_is_seen_and_kept_once(scene: Scene) -> None:
    record = await shown(scene, posted(plain("red")))
    assert seen(record) == [(40, 30)]
    assert "The next message carries 1 picture, shown below it. You were addressed in the room:" in prompt(record)
    assert await scene.posted() == ["I see."]
    folder = scene.house.state / "attachments" / "pictures"
    before = sorted(each.name for each in folder.iterdir())
    again = await Scene.opened(scene.house, f"{scene.name}-again")
    await shown(again, posted(plain("red")))
    assert sorted(each.name for each in folder.iterdir()) == before


@pytest.mark.requirement("WIRE-2", "IMG-6", "LANE-13")
async def test_a_picture_without_a_caption_is_a_message(scene: Scene) -> None:
    """C15."""
    await scene.script(text("Show me."), text("Nice."), text("Yes."))
    await scene.concluded(await scene.say("Clankie, may I show you something?"))
    bare = await scene.house.stage.say("Ann", room=scene.room, attachments=[posted(plain("blue"))])
    assert await scene.concluded(bare["id"]) == [["accepted", "replied"]]
    await scene.concluded(await scene.say("Clankie, do you like it?"))
    records = await scene.requests(3)
    assert [seen(each) for each in records] == [[], [(40, 30)], [(40, 30)]]
    assert [each.refused for each in records] == ["", "", ""]


@pytest.mark.requirement("IMG-1", "IMG-4")
async def test_of_five_pictures_four_are_seen_and_one_is_counted(scene: Scene) -> None:
    sizes = [(10 + number, 20) for number in range(5)]
    record = await shown(scene, *(posted(plain("green", size), f"{size[0]}.png") for size in sizes))
    assert seen(record) == sizes[:4]
    assert (
        "carries 4 pictures, shown below it, and 1 attachment that you cannot see (more than are shown at once)"
        in prompt(record)
    )


@pytest.mark.requirement("IMG-2", "IMG-4")
async def test_an_address_that_leads_nowhere_any_more_is_counted(scene: Scene) -> None:
    gone = "https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&is=1&hm=1&"
    elsewhere = "https://cdn.discordapp.com.example.org/attachments/1/2/a.png"
    record = await shown(
        scene, posted(plain("red"), "gone.png", url=gone), posted(plain("red"), "else.png", url=elsewhere)
    )
    assert seen(record) == []
    assert "(1 not where pictures are fetched from, 1 no longer there)" in prompt(record)


def gif(films: bool) -> list[dict[str, Any]]:
    """A picker's embed, as Discord makes it."""
    host = "https://images-ext-1.discordapp.net"
    video = {"video": {"url": "https://media.tenor.com/cat.mp4", "proxy_url": f"{host}{FILM}"}} if films else {}
    thumbnail = {"url": "https://media.tenor.com/cat.png", "proxy_url": f"{host}{PREVIEW}"}
    return [{"type": "gifv", "url": LINK, "provider": {"name": "Tenor"}, "thumbnail": thumbnail, **video}]


async def lay(scene: Scene, preview: bytes, film: bytes | None) -> None:
    lain: Sequence[tuple[str, bytes | None, str]] = ((PREVIEW, preview, "image/png"), (FILM, film, "video/mp4"))
    for path, data, kind in lain:
        if data is not None:
            await scene.house.stage.call("lay", path=path, content=base64.b64encode(data).decode(), content_type=kind)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    program = film_program()
    assert program is not None, "install the machine's ffmpeg, or the captain's extra that carries one"
    return Studio(program, tmp_path_factory.mktemp("studio")).colours("red", "green", "blue", "white")


@pytest.mark.requirement("IMG-5", "IMG-9")
@pytest.mark.parametrize("late", [False, True])
async def test_a_picked_gif_is_seen_as_frames_early_and_late(scene: Scene, film: bytes, late: bool) -> None:
    """C22, C59."""
    await lay(scene, plain("red"), film)
    await scene.script(text("Go on."), text("A cat."))
    await scene.concluded(await scene.say("Clankie, may I show you something?"))
    embeds = gif(films=True)
    said = await scene.house.stage.say("Ann", f"Clankie, {LINK}", room=scene.room, embeds=[] if late else embeds)
    if late:
        await scene.house.stage.unfurl(said["id"], embeds)
    assert await scene.concluded(said["id"]) == [["accepted", "replied"]]
    record = (await scene.requests(2))[-1]
    assert record.refused == ""
    frames = seen(record)
    assert len(frames) == 4
    assert max(max(size) for size in frames) <= 1024
    assert "moves. 4 frames of it, in their order:" in prompt(record)


@pytest.mark.requirement("IMG-5")
async def test_a_picked_gif_whose_film_is_gone_is_seen_by_its_preview(scene: Scene) -> None:
    await lay(scene, plain("red"), b"no film at all")
    record = await shown(scene, says=f"Clankie, {LINK}", embeds=gif(films=True))
    assert seen(record) == [(40, 30)]
    assert "moves. Only one still of it is there:" in prompt(record)


@pytest.mark.requirement("CTX-5", "CTX-6")
async def test_an_answer_to_a_picture_shows_it_once(scene: Scene) -> None:
    """C57."""
    picture = await scene.say("my cat", "Bob", attachments=[posted(plain("red"))])
    await scene.say("something else", "Bob", attachments=[posted(plain("red", (5, 5)))])
    record = await shown(scene, says="Clankie, what is it?", reply_to=picture)
    assert seen(record) == [(40, 30)]
    assert f"The newest picture of the talk, in the message {picture}, is shown below as well." in prompt(record)
    await scene.script(text("Still a cat."))
    again = await scene.say("Clankie, sure?", reply_to=picture)
    await scene.concluded(again)
    record = (await scene.requests(2))[-1]
    assert seen(record) == [(40, 30)]
    assert f"The picture in the message {picture} was shown to you before." in prompt(record)


@pytest.mark.requirement("CTX-5")
async def test_the_newest_picture_of_the_talk_is_seen_and_no_older_one(scene: Scene) -> None:
    await scene.say("my dog", "Bob", attachments=[posted(plain("red", (5, 5)))])
    newest = await scene.say("my cat", "Bob", attachments=[posted(plain("red")), posted(plain("red", (6, 6)), "b.png")])
    record = await shown(scene, says="Clankie, see that?")
    assert seen(record) == [(40, 30)]
    said = prompt(record)
    assert f"in the message {newest}, is shown below as well." in said
    assert f"The message {newest} carries 1 more attachment that you cannot see" in said


@pytest.mark.requirement("LANE-3", "LANE-13", "IMG-6")
async def test_a_picture_that_is_posted_while_he_works_is_seen_before_he_answers(scene: Scene) -> None:
    await scene.script(gated("first", "Let me ", "see."), text("Both seen."))
    one = await scene.say("Clankie, what do you think?")
    await scene.requests(1)
    two = await scene.say("Clankie, of this", attachments=[posted(plain("blue"))])
    await scene.accepted(two)
    await scene.open("first")
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    records = await scene.requests(2)
    assert [seen(each) for each in records] == [[], [(40, 30)]]
    assert await scene.posted() == ["Both seen."]


@pytest.mark.requirement("IMG-10", "IMG-4")
async def test_records_count_pictures_and_name_none(scene: Scene) -> None:
    await shown(scene, posted(plain("red")), posted(b"<html>", "page.png", content_type="image/png"))
    metrics = (await scene.house.captain.get("/metrics")).text
    assert 'clankie_pictures_total{cause="",fate="shown"}' in metrics
    assert 'clankie_pictures_total{cause="unsupported",fate="omitted"}' in metrics
