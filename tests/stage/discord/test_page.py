"""The page: what it is made of, and what a person sees and does on it."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from importlib import resources

import aiohttp
import pytest
from playwright.async_api import Page, Route, async_playwright, expect

from clankie_stage.app import Stage
from clankie_stage.discord.happenings import Draft
from clankie_stage.provider.rehearsal import RULES

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
NASTY = "<img src=x onerror=document.title='owned'> **<b>bold</b>** `</code>` javascript:alert(1)"

needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on the PATH; install one to try the page in a browser"
)


def source(name: str) -> str:
    return resources.files("clankie_stage.discord.page").joinpath(name).read_text("utf-8")


async def test_the_page_asks_nobody_else_for_anything(stage: Stage, http: aiohttp.ClientSession) -> None:
    for path in ("/", "/stage.css", "/stage.js", "/message.js", "/text.js"):
        async with http.get(stage.base_url + path) as response:
            assert response.status == 200
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
            assert not re.search(r"(src|href|url\(|from|import)\W{1,3}https?:", await response.text())


def test_the_page_has_every_part_that_its_script_looks_for() -> None:
    wanted = set(re.findall(r'\bat\("([a-z-]+)"\)', source("stage.js")))
    assert wanted
    assert wanted <= set(re.findall(r'id="([a-z-]+)"', source("index.html")))


def test_the_page_never_reads_text_as_markup() -> None:
    for name in ("stage.js", "message.js", "text.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", source(name))


async def test_the_page_says_the_rehearsal_models_rules(stage: Stage, http: aiohttp.ClientSession) -> None:
    async with http.get(f"{stage.base_url}/_stage/about") as response:
        assert await response.json() == {"model": None, "rules": list(RULES)}


@pytest.fixture
async def page(stage: Stage) -> AsyncIterator[Page]:
    """The page in a browser; whatever it complains about fails the test."""
    complaints: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        opened = await browser.new_page(viewport={"width": 1280, "height": 800})
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        await opened.goto(stage.base_url)
        await expect(opened.locator("#speakers label")).to_have_count(3)
        yield opened
        await browser.close()
    assert complaints == []


@needs_browser
async def test_enter_pressed_again_while_words_are_on_their_way_sends_them_once(stage: Stage, page: Page) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(route: Route) -> None:
        arrived.set()
        await go_on.wait()
        await route.continue_()

    await page.route("**/_stage/say", slowly)
    await page.fill("#words", "once, please")
    await page.press("#words", "Enter")
    await arrived.wait()
    await page.press("#words", "Enter")
    go_on.set()
    await expect(page.locator("#words")).to_have_value("")
    await page.fill("#words", "and then")
    await page.press("#words", "Enter")
    said = await stage.control.wait_messages(count=2)
    assert [each["content"] for each in said] == ["once, please", "and then"]


@needs_browser
async def test_a_person_writes_and_sees_the_answer_come(stage: Stage, page: Page) -> None:
    await page.fill("#words", "@Clankie good evening")
    await page.press("#words", "Enter")
    (said,) = await stage.control.wait_messages()
    assert (said["content"], said["author"]["username"]) == (f"<@{stage.world.bot_id}> good evening", "ann")
    room = stage.world.room_named("general")
    stage.control.parts.happenings.type(room, stage.world.bot_id)
    await expect(page.locator("#typing")).to_contain_text("Clankie is typing")
    stage.control.parts.happenings.post(Draft(room, stage.world.bot_id, "Good evening.", reply_to=said["id"]))
    answer = page.locator(".message").last
    await expect(answer).to_contain_text("Good evening.")
    await expect(answer.locator(".answers")).to_contain_text("@Clankie good evening")
    await expect(page.locator("#typing")).to_be_empty()


@needs_browser
async def test_texts_and_names_are_shown_as_they_are(stage: Stage, page: Page) -> None:
    stage.control.create_user("<i>Eve</i>")
    stage.control.say("<i>Eve</i>", NASTY)
    shown = page.locator(".message").last
    await expect(shown.locator(".who")).to_have_text("<i>Eve</i>")
    await expect(shown.locator(".text strong")).to_have_text("<b>bold</b>")
    assert await page.locator(".message img, .message a").count() == 0
    assert await page.title() == "general · The Stage"


@needs_browser
async def test_reply_edit_reaction_and_deletion_work_by_hand(stage: Stage, page: Page) -> None:
    said = stage.control.say("Bob", "question")
    message = page.locator(f"[data-id='{said['id']}']")
    await message.hover()
    await message.get_by_role("button", name="Reply").click()
    await page.fill("#words", "answer")
    await page.press("#words", "Enter")
    _, reply = await stage.control.wait_messages(count=2)
    assert reply["message_reference"]["message_id"] == said["id"]
    await expect(page.locator(".message")).to_have_count(2)
    await page.press("#words", "ArrowUp")
    await page.fill("#words", "better answer")
    await page.press("#words", "Enter")
    await expect(page.locator(".message").last.locator(".text")).to_have_text("better answer(edited)")
    await message.hover()
    await message.get_by_role("button", name="React").click()
    await message.get_by_role("button", name="👍").click()
    await expect(message.locator(".reactions")).to_have_text("👍 1")
    stage.control.delete(said["id"])
    await expect(page.locator(".answers")).to_have_text("Original message was deleted")


@needs_browser
async def test_rooms_and_speakers_change_by_keys(stage: Stage, page: Page) -> None:
    stage.control.say("Bob", "psst", room="random")
    await expect(page.locator(".count")).to_have_text("1")
    await page.keyboard.press("Alt+2")
    await page.fill("#words", "as Bob")
    await page.press("#words", "Enter")
    (said,) = await stage.control.wait_messages()
    assert said["author"]["username"] == "bob"
    await page.get_by_role("button", name="Ann and Clankie").click()
    await expect(page.locator("#title")).to_have_text("Ann and Clankie")
    await page.fill("#words", "in private")
    await page.press("#words", "Enter")
    (private,) = await stage.control.wait_messages("@Ann")
    assert private["author"]["username"] == "ann"


@needs_browser
async def test_a_posted_picture_is_shown(stage: Stage, page: Page) -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x07\x08\0\0\0\0"
    await page.set_input_files("#file", {"name": "dot.png", "mimeType": "image/png", "buffer": png})
    await page.get_by_role("button", name="Send", exact=True).click()
    (said,) = await stage.control.wait_messages()
    assert (said["attachments"][0]["width"], said["attachments"][0]["height"]) == (5, 7)
    await expect(page.locator(".picture")).to_have_attribute("src", re.compile(r"^/cdn/attachments/"))
    await stage.control.wait({"kind": "cdn", "status": 200})
