"""Pictures of web pages and generated ones, and what pages say, arrive by real processes and a real browser."""

import io
import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web
from PIL import Image

from clankie_stage.provider.steps import call, calls, text
from tests.captain.media.pages import Site, html, serving, usable
from tests.system.house import GUILD_ID, OWNER_ID, House, Json, bare_house
from tests.system.scene import Scene, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module"), pytest.mark.requirement("ART-2", "ART-3")]

SEEING = str(Path(__file__).with_name("seeing_captain.py"))
KEY = "sk-canary-of-the-house"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    async with serving() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory, site: Site) -> AsyncIterator[House]:
    folder = tmp_path_factory.mktemp("made")
    sandbox = "on" if os.geteuid() else "off"
    settings = {
        "CLANKIE_TOOLS": "screenshot_page,generate_image,search_web,read_page",
        "CLANKIE_SEARCH_URL": f"http://127.0.0.1:{site.port}/searxng",
        "CLANKIE_BROWSER_SANDBOX": sandbox,
        "CLANKIE_IMAGE_MODEL": "openai:gpt-image-1",
        "OPENAI_API_KEY": KEY,
    }
    async with bare_house(folder, (SEEING, str(site.port)), **settings) as running:
        running.env["CLANKIE_IMAGE_BASE_URL"] = running.env["CLANKIE_MODEL_BASE_URL"]
        await running.start_captain()
        await running.start_bridge()
        yield running


async def reply(scene: Scene) -> Json:
    (own,) = [each for each in await scene.house.stage.messages(scene.room) if each["author"].get("bot")]
    return own


async def picture(scene: Scene) -> Image.Image:
    (attachment,) = (await reply(scene))["attachments"]
    path = attachment["url"].partition("/attachments/")[2]
    base = scene.house.env["CLANKIE_CDN_LOOPBACK"]
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{base}/attachments/{path}", headers={"Host": "cdn.discordapp.com"}) as answer,
    ):
        image = Image.open(io.BytesIO(await answer.read()))
        image.load()
        return image.convert("RGB")


@pytest.mark.timeout(180)
@pytest.mark.requirement("SEC-3")
async def test_a_page_arrives_as_a_picture_with_the_words(scene: Scene, site: Site) -> None:
    if usable() is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    site.pages["/"] = html("<body style='background:#0000ff'><img src='http://127.0.0.1/x'>")
    await scene.script(calls(call("screenshot_page", {"url": "http://public.example/"})), text("Here it is."))
    asked = await scene.say("Clankie, show me that page")
    assert await scene.concluded(asked) == [["accepted", "replied"]]
    assert (await reply(scene))["content"] == "Here it is."
    shown = await picture(scene)
    assert (shown.size, shown.getpixel((600, 400))) == ((1280, 800), (0, 0, 255))
    (told,) = told_by_tools((await scene.requests(2))[1])
    assert told.startswith("Taken.")


@pytest.mark.requirement("SEC-3")
@pytest.mark.parametrize("url", ["http://127.0.0.1:4310/metrics", "file:///etc/passwd", "http://other.example/"])
async def test_a_page_that_is_not_on_the_web_is_refused_in_words_that_he_can_say(scene: Scene, url: str) -> None:
    if usable() is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    await scene.script(calls(call("screenshot_page", {"url": url})), text("I cannot."))
    asked = await scene.say("Clankie, show me")
    assert await scene.concluded(asked) == [["accepted", "replied"]]
    assert (await reply(scene))["attachments"] == []
    (told,) = told_by_tools((await scene.requests(2))[1])
    assert told.startswith("Not taken: ")


@pytest.mark.requirement("SEC-1")
async def test_a_generated_picture_arrives_and_neither_its_key_nor_its_words_are_written_down(scene: Scene) -> None:
    prompt = "a-canary-in-a-boat"
    await scene.script(calls(call("generate_image", {"prompt": prompt, "size": "tall"})), text("Painted."))
    asked = await scene.say("Clankie, paint")
    assert await scene.concluded(asked) == [["accepted", "replied"]]
    assert (await picture(scene)).size == (1024, 1536)
    house = scene.house
    (name,) = [each["filename"] for each in (await reply(scene))["attachments"]]
    assert name.startswith("picture-")
    logs = [*house.output.values(), *(str(each) for each in (*house.settled(), *house.evidence()))]
    assert not [each for each in logs if KEY in each or prompt in each]


async def test_a_picture_that_is_refused_is_told_to_the_model(scene: Scene) -> None:
    url = scene.house.env["CLANKIE_MODEL_BASE_URL"].removesuffix("/v1")
    body = '{"error": {"code": "moderation_blocked", "message": "Rejected by the safety system."}}'
    async with aiohttp.ClientSession() as session:
        await session.post(f"{url}/_control/paintings", json={"paintings": [{"status": 400, "body": body}]})
    await scene.script(calls(call("generate_image", {"prompt": "something bad"})), text("It would not."))
    asked = await scene.say("Clankie, paint")
    assert await scene.concluded(asked) == [["accepted", "replied"]]
    (told,) = told_by_tools((await scene.requests(2))[1])
    assert told == 'Not made: the provider refuses to make such a picture; it says: "Rejected by the safety system.".'


async def results(_: web.Request) -> web.StreamResponse:
    found = {"title": "On boats", "url": "http://public.example/boats", "content": "whether they float"}
    return web.json_response({"results": [found]})


@pytest.mark.requirement("SEC-2", "SEC-3", "GRANT-1", "GRANT-5")
async def test_a_room_that_may_finds_and_reads_a_page_and_another_is_refused_before_anything_is_asked(
    scene: Scene, site: Site
) -> None:
    house, asked = scene.house, call("read_page", {"url": "http://public.example/boats"})
    site.pages |= {"/searxng/search": results, "/boats": html("<article><h1>Boats</h1><p>A canary sails.</article>")}
    await scene.script(calls(call("search_web", {"query": "do boats float"})), calls(asked), text("A canary sails."))
    assert await scene.concluded(await scene.say("Clankie, look it up")) == [["accepted", "replied"]]
    assert (await reply(scene))["content"] == "A canary sails."
    found, page = told_by_tools((await scene.requests(3))[2])
    assert "http://public.example/boats\n  whether they float" in found
    assert "A canary sails." in page
    assert page.startswith("<<<page-")

    reached = len(site.asked)
    other = await Scene.opened(house, f"{scene.name}-without")
    grants = f'[rooms."{GUILD_ID}:{other.room}"]\ntools = []\n[actors."{OWNER_ID}"]\ntools = ["read_page"]\n'
    (house.folder / "clankie.toml").write_text(grants, encoding="utf-8")
    await other.script(calls(asked), text("I may not."))
    assert await other.concluded(await other.say("Clankie, look it up")) == [["accepted", "replied"]]
    (told,) = told_by_tools((await other.requests(2))[1])
    assert told.startswith("Not done: ")
    assert len(site.asked) == reached
    logs = [*house.output.values(), *(str(each) for each in (*house.settled(), *house.evidence()))]
    assert not [each for each in logs if "boats" in each or "canary sails" in each]
