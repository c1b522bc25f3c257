"""Words that nobody waits for reach their room once, whoever is killed on the way."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from clankie_captain.core import crash_points
from clankie_settings.wire.trigger import Actor, ContextMessage, Room, Trigger
from clankie_stage.discord.scenery import GUILD_ID
from clankie_stage.provider.steps import gated, text
from tests.system.house import House
from tests.system.mortal_house import arm, died, mend, mortal_house
from tests.system.scene import Scene

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module"), pytest.mark.requirement("DUR-1")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with mortal_house(tmp_path_factory.mktemp("posts")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def mended(house: House) -> AsyncIterator[None]:
    yield
    await mend(house)


async def report(scene: Scene, about: str) -> None:
    """Give the captain a delivery of its own, about a message of the room."""
    now = datetime.now(UTC)
    trigger = Trigger(
        wire_version=1,
        delivery_id=f"report-{about}",
        presence_id="discord",
        kind="message",
        room=Room(platform="discord", guild_id=GUILD_ID, channel_id=scene.room),
        actor=Actor(actor_id="100001", display_name="Ann"),
        message_id=f"report-{about}",
        sent_at=now,
        body=f"what became of it ({scene.name})",
        addressed=False,
        reply_to=ContextMessage(
            message_id=about, author_id="100001", author_name="Ann", is_self=False, body="look into it", sent_at=now
        ),
    )
    answer = await scene.house.captain.post("/test/report", content=trigger.model_dump_json(exclude_none=True))
    assert answer.json() == {"state": "live"}, answer.text


@pytest.mark.parametrize("point", [crash_points.SETTLING, crash_points.SETTLED])
async def test_a_captain_that_is_killed_around_the_settlement_leaves_one_post(scene: Scene, point: str) -> None:
    house = scene.house
    asked = await scene.say("somebody should look into it")
    await scene.script(gated("working", "It is done."))
    await report(scene, asked)
    await scene.requests(1)
    arm(house, point)
    await scene.open("working")
    await died(house)
    await house.start_captain()
    (post,) = await scene.replies(1)
    assert (post["content"], post["message_reference"]["message_id"]) == ("It is done.", asked)
    await scene.script(text("And this?"))
    await scene.concluded(await scene.say("Clankie, anything else?"))
    assert await scene.posted() == ["It is done.", "And this?"]


async def test_a_bridge_that_is_killed_before_it_hears_of_the_words_posts_them_once_when_it_is_back(
    scene: Scene,
) -> None:
    house = scene.house
    asked = await scene.say("somebody should look into it")
    await scene.script(gated("working", "It is done."))
    await report(scene, asked)
    await scene.requests(1)
    await house.kill("bridge")
    await scene.open("working")
    await scene.runs(1)
    await house.start_bridge()
    (post,) = await scene.replies(1)
    assert (post["content"], post["message_reference"]["message_id"]) == ("It is done.", asked)
    await scene.script(text("And this?"))
    await scene.concluded(await scene.say("Clankie, anything else?"))
    assert await scene.posted() == ["It is done.", "And this?"]
