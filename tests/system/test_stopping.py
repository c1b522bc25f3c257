"""A stop takes nothing new, lets what runs end for a stated time, and leaves the rest for the next start."""

import signal
from collections.abc import AsyncIterator
from http import HTTPStatus

import pytest
import pytest_asyncio

from clankie_stage.provider.steps import gated, text
from tests.system.house import House, whole_house
from tests.system.scene import Scene

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module"), pytest.mark.requirement("DUR-5")]

SHORT = "CLANKIE_DRAIN_SECONDS"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("stopping")) as running:
        yield running


async def refuses(house: House) -> bool:
    """Whether the captain says that it is stopping."""
    answer = await house.captain.get("/readyz")
    return answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE and answer.json()["code"] == "draining"


async def test_what_runs_is_answered_and_what_comes_then_is_answered_by_the_next_captain(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("thinking", "Still answered."), text("By the next one."))
    one = await scene.say("Clankie, before the stop")
    await scene.requests(1)
    await scene.accepted(one)
    captain = house.programs["captain"]
    captain.ask_to_stop()
    await house.until_async(lambda: refuses(house), "the captain is stopping")
    two = await scene.say("Clankie, after the stop")
    await scene.open("thinking")
    assert await captain.exit_code() == 0
    await house.kill("captain")
    assert await scene.posted() == ["Still answered."]

    await house.start_captain()
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "replied"]]
    assert await scene.posted() == ["Still answered.", "By the next one."]
    assert (await house.result(one))["owed"] is False


async def test_a_run_that_outlasts_the_drain_goes_on_later_as_the_same_attempt(scene: Scene) -> None:
    house = scene.house
    await house.stop("captain")
    house.env[SHORT] = "0.5"
    await house.start_captain()
    await scene.script(gated("never", "Lost."), gated("nor now", "Lost."), text("At last."))
    one = await scene.say("Clankie, think long")
    await scene.requests(1)
    await scene.accepted(one)
    assert await house.stop("captain") == 0
    await house.start_captain()
    await scene.requests(2)
    assert await house.stop("captain") == 0
    del house.env[SHORT]
    await house.start_captain()
    assert await scene.concluded(one) == [["accepted", "replied"]]
    assert await scene.posted() == ["At last."]
    (run,) = await scene.runs(1)
    assert (run["attempt"], run["outcome"]) == (1, "replied")


async def test_a_second_signal_ends_the_captain_at_once_and_loses_nothing(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("never", "Lost."), text("Recovered."))
    one = await scene.say("Clankie, think")
    await scene.requests(1)
    await scene.accepted(one)
    captain = house.programs["captain"]
    captain.ask_to_stop()
    await house.until_async(lambda: refuses(house), "the captain is stopping")
    captain.ask_to_stop()
    assert await captain.exit_code() == -signal.SIGTERM
    await house.kill("captain")
    await house.start_captain()
    assert await scene.concluded(one) == [["accepted", "replied"]]
    assert await scene.posted() == ["Recovered."]


async def test_when_both_stop_together_the_bridge_posts_what_the_captain_still_finishes(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("finishing", "Said before the end."))
    one = await scene.say("Clankie, before both stop")
    await scene.requests(1)
    await scene.accepted(one)
    bridge, captain = house.programs["bridge"], house.programs["captain"]
    captain.ask_to_stop()
    bridge.ask_to_stop()
    await house.until_async(lambda: refuses(house), "the captain is stopping")
    await bridge.said("stopping")
    await scene.open("finishing")
    assert [await bridge.exit_code(), await captain.exit_code()] == [0, 0]
    assert await scene.posted() == ["Said before the end."]
    assert "captain.receipts_outstanding" not in captain.tail
    await house.kill("bridge")
    await house.kill("captain")

    await house.start_captain()
    await house.start_bridge()
    assert (await house.result(one))["owed"] is False
    assert await scene.posted() == ["Said before the end."]


async def test_a_second_signal_ends_the_bridge_at_once_and_the_next_one_posts(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("later", "Posted by the next bridge."))
    one = await scene.say("Clankie, think on")
    await scene.requests(1)
    await scene.accepted(one)
    captain, bridge = house.programs["captain"], house.programs["bridge"]
    captain.ask_to_stop()
    await house.until_async(lambda: refuses(house), "the captain is stopping")
    bridge.ask_to_stop()
    # Signals that come at once are one.
    await bridge.said("stopping")
    bridge.ask_to_stop()
    assert await bridge.exit_code() == -signal.SIGTERM
    await house.kill("bridge")
    await house.start_bridge()
    await scene.open("later")
    assert await captain.exit_code() == 0
    await house.kill("captain")
    await house.start_captain()
    assert await scene.posted() == ["Posted by the next bridge."]
    assert (await house.result(one))["owed"] is False
