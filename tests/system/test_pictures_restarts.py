"""Pictures over a killed captain, and with pictures switched off: each in a house of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image

from clankie_stage.provider.steps import gated, text
from tests.captain.media.drawing import saved
from tests.system.house import PATIENT, House, whole_house
from tests.system.pictures import posted, seen
from tests.system.scene import Scene, prompt

pytestmark = pytest.mark.system

RED = posted(saved(Image.new("RGB", (40, 30), "red")))


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with whole_house(tmp_path, PATIENT, CLANKIE_LIVE_RUNS="1") as running:
        await running.provider.habits(default="unscripted")
        yield running


@pytest.mark.requirement("IMG-7", "DUR-2")
async def test_a_captain_that_is_killed_while_it_fetches_is_followed_by_one_that_fetches_again(house: House) -> None:
    scene = await Scene.opened(house, "fetching")
    await scene.script(text("I see."))
    await house.stage.fault(method="GET", route="/cdn/*", hold="cdn")
    said = await scene.say("Clankie, look", attachments=[RED])
    await scene.accepted(said)
    await house.kill("captain")
    await house.stage.release("cdn")
    await house.start_captain()
    assert await scene.concluded(said) == [["accepted", "replied"]]
    (record,) = await scene.requests(1)
    assert seen(record) == [(40, 30)]
    assert await scene.posted() == ["I see."]


@pytest.mark.requirement("IMG-7", "DUR-2")
async def test_a_captain_that_is_killed_between_fetch_and_run_is_followed_by_one_that_has_the_picture(
    house: House,
) -> None:
    busy, scene = await Scene.opened(house, "busy"), await Scene.opened(house, "waiting")
    await busy.script(gated("never", "Hm."), text("Done."))
    await scene.script(text("I see."))
    first = await busy.say("Clankie, think")
    await busy.requests(1)
    said = await scene.say("Clankie, look", attachments=[RED])
    await scene.accepted(said)

    async def is_kept() -> bool:
        return 'clankie_pictures_total{cause="",fate="shown"} 1.0' in (await house.captain.get("/metrics")).text

    await house.until_async(is_kept, "the picture is kept")
    await house.kill("captain")
    await house.stage.fault(method="GET", route="/cdn/*", status=404)
    await house.start_captain()
    assert await busy.concluded(first) == [["accepted", "replied"]]
    assert await scene.concluded(said) == [["accepted", "replied"]]
    (record,) = await scene.requests(1)
    assert seen(record) == [(40, 30)]


@pytest.mark.requirement("IMG-8")
async def test_with_pictures_off_he_is_told_that_there_are_some_and_nothing_is_fetched(tmp_path: Path) -> None:
    async with whole_house(tmp_path, CLANKIE_IMAGES="off") as house:
        await house.provider.habits(default="unscripted")
        scene = await Scene.opened(house, "blind")
        await scene.script(text("I cannot see it."))
        said = await scene.say("Clankie, look", attachments=[RED])
        assert await scene.concluded(said) == [["accepted", "replied"]]
        (record,) = await scene.requests(1)
        assert seen(record) == []
        assert "1 attachment that you cannot see (pictures are switched off)" in prompt(record)
        assert await house.stage.recorded({"kind": "cdn"}) == []
