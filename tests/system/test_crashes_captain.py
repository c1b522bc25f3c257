"""The captain is killed at every named point of a turn: one result, one reply, and no tool twice. Source: C12."""

import itertools
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from clankie_bridge.core.notices import notice
from clankie_captain.agent.validity import INTERRUPTED
from clankie_captain.core import crash_points
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider.beats import Step
from clankie_stage.provider.records import extends
from clankie_stage.provider.steps import call, calls, gated, text
from tests.system.house import House
from tests.system.mortal_house import arm, died, mend, mortal_house
from tests.system.scene import Scene, heard_in, prompt, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

POSTED = "Posted."


@dataclass(slots=True)
class LastWords:
    """His messages in each room when its test was done."""

    rooms: list[tuple[Scene, list[str]]] = field(default_factory=list[tuple[Scene, list[str]]])

    async def are(self, scene: Scene, *texts: str) -> None:
        """Wait until the room holds exactly these, in this order; a card is gone when its turn has ended."""

        async def look() -> bool:
            return await scene.posted() == [*texts]

        try:
            await scene.house.until_async(look, "the room holds what it should")
        except AssertionError:
            assert await scene.posted() == [*texts]
        self.rooms.append((scene, [*texts]))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with mortal_house(tmp_path_factory.mktemp("crashes")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def last_words(house: House) -> AsyncIterator[LastWords]:
    """What each room ended with; nothing may come after it."""
    kept = LastWords()
    yield kept
    for scene, texts in kept.rooms:
        assert await scene.posted() == texts
    assert house.programs.keys() == {"stage", "captain", "bridge"}


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def mended(house: House) -> AsyncIterator[None]:
    yield
    await mend(house)


def looking(*updates: str) -> Step:
    """An answer that sends these updates."""
    return calls(*(call("send_text_update", {"text": each}) for each in updates))


@dataclass(frozen=True, slots=True)
class Case:
    """A point, how often the model is asked over both lives, and what the tool's answer was."""

    point: str
    requests: int = 2
    told: str = POSTED


CASES = (
    Case(crash_points.ADMITTED),
    Case(crash_points.FIRST_BYTE, requests=3),
    Case(crash_points.TOOL_STARTED, told=INTERRUPTED),
    Case(crash_points.UPDATE_STORED),
    Case(crash_points.UPDATE_RECEIPTED),
    Case(crash_points.TOOL_ENDED),
    Case(crash_points.CALL_FINISHED),
    Case(crash_points.ANSWERED),
    Case(crash_points.SETTLING),
    Case(crash_points.SETTLED),
    Case(crash_points.TELLING),
    Case(crash_points.TELLING_RECEIVED),
)


async def test_every_crash_point_has_its_case() -> None:
    # A fork's death is told of in test_children.py.
    assert (*(each.point for each in CASES), crash_points.FORKED) == crash_points.POINTS


@pytest.mark.requirement("DUR-1", "DUR-2", "WIRE-5", "WIRE-6")
@pytest.mark.parametrize("case", CASES, ids=[each.point.rpartition(".")[2] for each in CASES])
async def test_a_captain_killed_there_gives_one_result_and_one_reply_and_runs_no_tool_twice(
    scene: Scene, case: Case, last_words: LastWords
) -> None:
    again = [looking("Looking.")] if case.requests > 2 else []
    await scene.script(*again, looking("Looking."), text("Here."))
    arm(scene.house, case.point)
    one = await scene.say("Clankie, look it up")
    await died(scene.house)
    await scene.house.start_captain()

    assert await scene.concluded(one) == [["accepted", "replied"]]
    await last_words.are(scene, *(["Looking."] if case.told == POSTED else []), "Here.")
    result = await scene.house.result(one)
    assert (result["state"], result["text"], result["owed"]) == ("replied", "Here.", False)
    requests = await scene.requests(case.requests)
    assert len(requests) == case.requests
    assert told_by_tools(requests[-1]) == [case.told]
    assert all(extends(earlier, later) for earlier, later in itertools.pairwise(requests))


@pytest.mark.requirement("DUR-2")
async def test_a_run_that_dies_twice_is_given_up_with_a_notice_and_the_lane_answers_the_next_message(
    scene: Scene, last_words: LastWords
) -> None:
    house = scene.house
    await scene.script(looking("Looking."), text("Lost."), text("Lost again."), text("Alive."))
    arm(house, crash_points.FIRST_BYTE, 2)
    one = await scene.say("Clankie, the deadly question")
    await died(house)
    arm(house, crash_points.FIRST_BYTE)
    await house.start_captain()
    await died(house)
    await house.start_captain()

    assert await scene.concluded(one) == [["accepted", "failed"]]
    assert scene.codes(one) == [FailureCode.CAPTAIN_INTERRUPTED]
    told = notice(FailureCode.CAPTAIN_INTERRUPTED)
    await scene.replies(2)
    result = await house.result(one)
    assert (result["state"], result["code"], result["notice"]) == ("failed", "captain_interrupted", True)
    # The second life knew what the first had posted.
    *_, second = await scene.requests(3)
    assert told_by_tools(second) == [POSTED]

    await scene.concluded(await scene.say("Clankie, an easy one"))
    await last_words.are(scene, "Looking.", told, "Alive.")


@pytest.mark.requirement("DUR-2")
async def test_what_ended_is_known_and_what_had_not_begun_is_not_begun_again(
    scene: Scene, last_words: LastWords
) -> None:
    await scene.script(looking("First.", "Second."), text("Here."))
    arm(scene.house, crash_points.TOOL_ENDED)
    one = await scene.say("Clankie, tell us as you go")
    await died(scene.house)
    await scene.house.start_captain()
    await scene.concluded(one)
    told = told_by_tools((await scene.requests(2))[-1])
    assert told == [POSTED, INTERRUPTED]
    await last_words.are(scene, "First.", "Here.")


@pytest.mark.requirement("DUR-2")
async def test_a_result_that_was_kept_and_one_whose_receipt_was_under_way_are_both_known(
    scene: Scene, last_words: LastWords
) -> None:
    await scene.script(looking("First.", "Second."), text("Here."))
    arm(scene.house, crash_points.UPDATE_STORED, 2)
    one = await scene.say("Clankie, tell us as you go")
    await died(scene.house)
    await scene.house.start_captain()
    await scene.concluded(one)
    assert told_by_tools((await scene.requests(2))[-1]) == [POSTED, POSTED]
    await last_words.are(scene, "First.", "Second.", "Here.")


@pytest.mark.requirement("DUR-2", "LANE-4")
async def test_words_that_were_steered_and_heard_outlive_the_captain(scene: Scene, last_words: LastWords) -> None:
    house = scene.house
    await scene.script(gated("thinking", "Unposted."), text("Lost."), text("To both."))
    one = await scene.say("Clankie, tea?")
    await scene.requests(1)
    two = await scene.say("Clankie, and biscuits?", "Bob")
    await scene.accepted(one, two)
    arm(house, crash_points.FIRST_BYTE, 2)
    await scene.open("thinking")
    await until_killed_at_request(scene, 2)
    await house.start_captain()
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    await last_words.are(scene, "To both.")
    heard = [heard_in(each) for each in await scene.requests(3)]
    both = [("Ann", "Clankie, tea?"), ("Bob", "Clankie, and biscuits?")]
    assert heard == [both[:1], both, both]


async def until_killed_at_request(scene: Scene, count: int) -> None:
    """Wait for the captain's death, and see that the model was asked so often before."""
    await died(scene.house)
    assert len(await scene.requests(count)) == count


@pytest.mark.requirement("DUR-2", "LANE-6", "LANE-7", "LANE-9")
async def test_an_answer_that_died_before_its_settlement_is_not_posted_over_words_that_came_meanwhile(
    scene: Scene, last_words: LastWords
) -> None:
    house = scene.house
    await scene.script(gated("thinking", "To Ann alone."), text("To both."))
    one = await scene.say("Clankie, tea?")
    await scene.requests(1)
    two = await scene.say("Clankie, and biscuits?", "Bob")
    await scene.accepted(one, two)
    arm(house, crash_points.ANSWERED)
    await scene.open("thinking")
    await until_killed_at_request(scene, 1)
    await house.start_captain()
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    await last_words.are(scene, "To both.")
    _, last = await scene.requests(2)
    assert "To Ann alone." not in prompt(last)
    assert said_by_model(await entries(scene)) == ["unposted", "response"]


@pytest.mark.requirement("LANE-6", "LANE-7")
async def test_a_message_that_came_as_the_run_was_settled_is_answered_by_a_run_of_its_own(
    scene: Scene, last_words: LastWords
) -> None:
    house = scene.house
    await scene.script(gated("thinking", "First."), text("Second."))
    one = await scene.say("Clankie, one")
    await scene.requests(1)
    await scene.accepted(one)
    arm(house, crash_points.SETTLED)
    await scene.open("thinking")
    await died(house)
    two = await scene.say("Clankie, two")
    await house.start_captain()
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "replied"]]
    await last_words.are(scene, "First.", "Second.")


async def entries(scene: Scene) -> Sequence[dict[str, object]]:
    """What is written in the room's lane."""
    house = scene.house
    headers = {"Authorization": f"Bearer {house.token('operator-token')}"}
    lanes = (await house.captain.get("/v1/lanes?limit=100", headers=headers)).json()["lanes"]
    (lane,) = [each["id"] for each in lanes if scene.room in each["id"]]
    answer = await house.captain.get(f"/v1/lanes/{lane}/entries", headers=headers)
    return [json.loads(line) for line in answer.text.splitlines()]


def said_by_model(written: Sequence[dict[str, object]]) -> list[object]:
    """The kinds of the model's answers, posted or not."""
    return [each["kind"] for each in written if each["kind"] in ("response", "unposted")]
