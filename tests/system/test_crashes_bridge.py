"""The bridge is killed at each of its crash points: one result a delivery, one reply in the room, all of it, once."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from clankie_bridge.core import crash_points
from clankie_bridge.core.card import is_card
from clankie_stage.provider.steps import call, calls, gated, text
from tests.system.house import BRIDGE, House, whole_house
from tests.system.scene import Scene

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

CRASHING = str(Path(__file__).with_name("crashing_bridge.py"))
LONG = "\n\n".join(f"{number}{100 * ' word'}" for number in range(8))
"""A reply of three parts."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("crashes")) as running:
        # Discord has forgotten every nonce: nothing here is saved by one.
        await running.stage.call("behave", nonce_window_s=-1)
        yield running


async def crashing(house: House, point: str, nth: int) -> None:
    """Let a bridge run that will kill itself."""
    await house.stop("bridge")
    house.bridge_program = (CRASHING, point, str(nth))
    await house.start_bridge()


async def back(house: House) -> None:
    """Wait until it has, and start one that will not."""
    assert await house.died("bridge") == -signal.SIGKILL
    house.bridge_program = BRIDGE
    await house.start_bridge()


@pytest.mark.requirement("OUT-1", "WIRE-5")
@pytest.mark.parametrize(
    ("point", "nth"),
    [
        (crash_points.HANDING_OVER, 1),
        (crash_points.HANDED_OVER, 1),
        (crash_points.STORED, 1),
        (crash_points.PART_POSTED, 1),
        (crash_points.PART_RECEIPTED, 1),
        (crash_points.STORED, 2),
        (crash_points.PART_POSTED, 3),
        (crash_points.PART_RECEIPTED, 3),
    ],
)
async def test_a_reply_reaches_its_room_once_wherever_the_bridge_is_killed(scene: Scene, point: str, nth: int) -> None:
    """C54, C12: before and after the hand-over, after a part was stored, posted and receipted."""
    house = scene.house
    await scene.script(text(LONG))
    await crashing(house, point, nth)
    one = await scene.say("Clankie, tell me all")
    await back(house)

    await house.until_async(lambda: settled(house, one), "the reply is receipted")
    posted = await scene.posted()
    assert "\n\n".join(posted) == LONG
    assert len(posted) == 3
    assert len(await scene.requests(1)) == 1
    assert len(await scene.runs(1)) == 1
    assert scene.events(one).count("accepted") <= 1


async def settled(house: House, delivery: str) -> bool:
    """Whether the room has the whole reply; the captain may not know the delivery yet."""
    headers = {"Authorization": f"Bearer {house.token()}", "Prefer": "wait=0"}
    found = await house.captain.get(f"/v1/turns/{delivery}", headers=headers)
    return found.status_code == 200 and found.json()["state"] == "replied" and not found.json()["owed"]


@pytest.mark.requirement("OUT-1", "ROOM-3")
@pytest.mark.parametrize(("point", "nth"), [(crash_points.STORED, 1), (crash_points.UPDATE_POSTED, 1)])
async def test_an_update_reaches_its_room_once(scene: Scene, point: str, nth: int) -> None:
    house = scene.house
    await scene.script(calls(call("send_text_update", {"text": "Wait."})), text("Done."))
    await crashing(house, point, nth)
    one = await scene.say("Clankie, take your time")
    await back(house)
    await house.until_async(lambda: settled(house, one), "the reply is receipted")
    assert await scene.posted() == ["Wait.", "Done."]


@pytest.mark.requirement("ROOM-4")
async def test_a_card_of_a_killed_bridge_does_not_stay(scene: Scene) -> None:
    house = scene.house
    await scene.script(calls(call("send_text_update", {"text": "Wait."})), gated("card", "Done."))
    await crashing(house, crash_points.CARD_SHOWN, 1)
    one = await scene.say("Clankie, work for long")
    await back(house)
    await scene.open("card")
    await house.until_async(lambda: settled(house, one), "the reply is receipted")

    async def gone() -> bool:
        return not any(is_card(each) for each in await scene.posted())

    await house.until_async(gone, "the card is gone")
    assert await scene.posted() == ["Wait.", "Done."]
