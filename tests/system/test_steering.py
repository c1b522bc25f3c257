"""A message that arrives at the worst instant is heard: forced at named awaits, and with the check taken away."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from clankie_captain.core.context import STEERED
from clankie_stage.provider.records import Record
from clankie_stage.provider.steps import call, calls, gated, text
from tests.system.house import House, whole_house
from tests.system.places import Answer, Place, Places
from tests.system.program import PATIENCE_S
from tests.system.scene import Scene, heard_in, prompt, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

HELD_CAPTAIN = str(Path(__file__).with_name("held_captain.py"))
BOTH = [("Ann", "Clankie, one"), ("Bob", "Clankie, two")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def listening() -> AsyncIterator[Places]:
    async with Places.open() as places:
        yield places


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory, listening: Places) -> AsyncIterator[House]:
    program = (HELD_CAPTAIN, str(listening.port))
    async with whole_house(tmp_path_factory.mktemp("steering"), program) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def places(listening: Places) -> AsyncIterator[Places]:
    """Every place open at the beginning and at the end."""
    yield listening
    listening.clear()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a message that steered at a place: the first reply, the requests before it, the evidence."""

    reply: str
    requests: list[Record]
    owner: list[str]
    steered: list[str]


async def steered_at(scene: Scene, places: Places, place: Place, answer: Answer = "go") -> Outcome:
    """Let Bob write while the captain stands at a place with Ann's message."""
    hold = places.hold(place)
    one = await scene.say("Clankie, one")
    await hold.reached()
    two = await scene.say("Clankie, two", "Bob")
    await scene.accepted(two)
    hold.let_go(answer)
    (reply, *_) = await scene.replies()
    await scene.concluded(one)
    if answer == "go":
        await scene.concluded(two)
    return Outcome(reply["content"], await scene.requests(1), scene.events(one), scene.events(two))


def expect_absorbed(outcome: Outcome, requests: int) -> None:
    """Both were heard, in order, and one reply covers them."""
    assert outcome.reply == "Both."
    assert len(outcome.requests) == requests
    assert heard_in(outcome.requests[-1]) == BOTH
    assert (outcome.owner, outcome.steered) == (["accepted", "replied"], ["accepted", "absorbed"])


@pytest.mark.requirement("LANE-7")
async def test_a_steer_in_the_first_tick_is_part_of_the_first_request(scene: Scene, places: Places) -> None:
    await scene.script(text("Both."))
    expect_absorbed(await steered_at(scene, places, "think"), 1)


async def test_a_captain_that_does_not_look_before_its_first_request_is_noticed(scene: Scene, places: Places) -> None:
    await scene.script(text("One."), text("Both."))
    outcome = await steered_at(scene, places, "think", "deaf")
    with pytest.raises(AssertionError):
        expect_absorbed(outcome, 1)
    assert heard_in(outcome.requests[0]) == BOTH[:1]


@pytest.mark.requirement("LANE-3", "LANE-7")
async def test_a_steer_between_the_look_and_the_request_is_part_of_the_next_one(scene: Scene, places: Places) -> None:
    await scene.script(text("One."), text("Both."))
    expect_absorbed(await steered_at(scene, places, "request"), 2)


@pytest.mark.requirement("LANE-3", "LANE-6", "LANE-7", "LANE-9")
async def test_a_steer_in_the_last_tick_makes_the_run_go_on(scene: Scene, places: Places) -> None:
    await scene.script(text("One."), text("Both."))
    outcome = await steered_at(scene, places, "settle")
    expect_absorbed(outcome, 2)
    assert "One." not in prompt(outcome.requests[-1])
    assert STEERED in prompt(outcome.requests[-1])


async def test_a_captain_that_does_not_look_when_it_settles_is_noticed(scene: Scene, places: Places) -> None:
    await scene.script(text("One."), text("Both."))
    outcome = await steered_at(scene, places, "settle", "deaf")
    with pytest.raises(AssertionError):
        expect_absorbed(outcome, 2)
    assert (outcome.reply, outcome.steered) == ("One.", ["accepted"])


@pytest.mark.requirement("LANE-2", "LANE-7")
async def test_a_message_while_a_settled_run_winds_down_has_a_run_of_its_own(scene: Scene, places: Places) -> None:
    await scene.script(text("One."), text("Two."))
    hold = places.hold("settled")
    one = await scene.say("Clankie, one")
    await hold.reached()
    two = await scene.say("Clankie, two", "Bob")
    await scene.accepted(two)
    await scene.requests(2)  # the lane is free, whatever its last runner still does
    hold.let_go()
    assert await scene.concluded(one, two) == [["accepted", "replied"]] * 2
    assert sorted(await scene.posted()) == ["One.", "Two."]
    assert [run["absorbed"] for run in await scene.runs(2)] == [0, 0]


@pytest.mark.requirement("LANE-3", "LANE-10", "ROOM-3")
async def test_a_steer_while_a_tool_runs_is_heard_behind_its_result(scene: Scene, places: Places) -> None:
    await scene.script(calls(call("send_text_update", {"text": "One moment."})), text("Both."))
    hold = places.hold("update")
    one = await scene.say("Clankie, one")
    await hold.reached()
    two = await scene.say("Clankie, two", "Bob")
    await scene.accepted(two)
    hold.let_go()
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    update, reply = await scene.replies(2)
    assert [each["content"] for each in (update, reply)] == ["One moment.", "Both."]
    assert {each["message_reference"]["message_id"] for each in (update, reply)} == {one}
    _, second = await scene.requests(2)
    assert [message["role"] for message in second.messages[-3:]] == ["assistant", "tool", "user"]
    assert told_by_tools(second) == ["Posted."]
    assert heard_in(second) == BOTH


@pytest.mark.requirement("LANE-3", "ROOM-3")
async def test_what_is_said_while_an_update_is_on_its_way_is_absorbed(scene: Scene) -> None:
    await scene.script(
        calls(call("send_text_update", {"text": "One moment."})), gated("answer", "Both."), text("Both.")
    )
    await scene.house.stage.fault(method="POST", route=f"/channels/{scene.room}/messages", hold=scene.name)
    one = await scene.say("Clankie, one")
    await scene.house.stage.call("wait_held", hold=scene.name, within_s=PATIENCE_S)
    two = await scene.say("Clankie, two", "Bob")
    await scene.house.stage.release(scene.name)
    await scene.accepted(two)
    await scene.open("answer")
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    assert await scene.posted() == ["One moment.", "Both."]
    last = (await scene.requests(2))[-1]
    assert (told_by_tools(last), heard_in(last)) == (["Posted."], BOTH)


@pytest.mark.requirement("LANE-3", "LANE-9")
async def test_a_steer_during_the_final_text_replaces_it(scene: Scene) -> None:
    await scene.script(gated("words", "Half ", "an answer.", after=2), text("Both."))
    one = await scene.say("Clankie, one")
    await scene.typing()  # its words are being written
    two = await scene.say("Clankie, two", "Bob")
    await scene.accepted(two)
    await scene.open("words")
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    assert await scene.posted() == ["Both."]
    _, last = await scene.requests(2)
    assert heard_in(last) == BOTH
    assert "Half an answer." not in prompt(last)
    assert STEERED in prompt(last)
