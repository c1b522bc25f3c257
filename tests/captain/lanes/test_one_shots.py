"""Machine turns in a mixed room: one at a time, steered by their own actor, each with a transcript of its own."""

from pathlib import Path

import pytest

from clankie_captain.core.grants import Powers
from clankie_captain.core.lane import Trust
from clankie_settings import bounds
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from tests.captain.lanes.fakes import Ask, Boundary, CountedIds, Fail, Say, Thought
from tests.captain.lanes.house import OWNER, House, house

pytestmark = pytest.mark.requirement("GRANT-2")

ANN, SECOND = "100001", "100009"
TRUST = Trust(frozenset({OWNER, SECOND}))
TRUSTED = Powers(TRUST)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


def ids(thought: Thought) -> list[list[str]]:
    return [[words.delivery for words in request] for request in thought.heard]


async def answered(captain: House, thought: Thought, text: str = "done") -> None:
    await thought.do(Say(text))
    await captain.result(thought.heard[0][0].delivery)


async def test_a_system_actors_further_messages_steer_their_one_shot(path: Path) -> None:
    async with house(path, powers=TRUSTED) as captain:
        first = await captain.say("m1", "one", actor=OWNER)
        thought = await captain.thought()
        second = await captain.say("m2", "two", actor=OWNER)
        assert (second.lane, second.state) == (first.lane, "steer")
        await thought.do(Boundary())
        await thought.do(Say("both"))
        assert ids(thought) == [["m1"], ["m2"]]
        assert isinstance(await captain.result("m2"), Absorbed)
        later = await captain.say("m3", "three", actor=OWNER)
        assert later.lane.startswith("turns/discord:1:2~m3/")
        assert (await captain.thought()).order.history == ()


@pytest.mark.requirement("LANE-12")
async def test_a_second_system_actor_waits_for_the_first_ones_one_shot_and_has_their_own(path: Path) -> None:
    async with house(path, powers=TRUSTED) as captain:
        first = await captain.say("m1", "one", actor=OWNER)
        owners = await captain.thought()
        second = await captain.say("m2", "two", actor=SECOND)
        assert second.state == "queued"
        assert second.lane != first.lane
        more = await captain.say("m3", "three", actor=SECOND)
        assert (more.lane, more.state) == (second.lane, "queued")
        await answered(captain, owners)
        seconds = await captain.thought()
        assert (seconds.order.lane, ids(seconds), seconds.order.history) == (second.lane, [["m2", "m3"]], ())
        await answered(captain, seconds)
        assert isinstance(await captain.result("m3"), Absorbed)


async def test_a_request_for_a_turn_of_its_own_waits_for_the_one_that_runs(path: Path) -> None:
    async with house(path, powers=TRUSTED) as captain:
        first = await captain.say("m1", "one", actor=OWNER)
        thought = await captain.thought()
        own = await captain.say("m2", "two", actor=OWNER, delivery="queue")
        assert own.state == "queued"
        assert own.lane != first.lane
        await answered(captain, thought)
        assert ids(await captain.thought()) == [["m2"]]


async def test_one_shots_of_a_room_go_in_the_order_of_their_requests(path: Path) -> None:
    third = "100010"
    trusted = Powers(Trust(frozenset({OWNER, SECOND, third})))
    async with house(path, powers=trusted) as captain:
        await captain.say("m1", "words", actor=OWNER)
        first = await captain.thought()
        for number, actor in (("m2", SECOND), ("m3", third), ("m4", OWNER), ("m5", SECOND)):
            await captain.say(number, "words", actor=actor)
        assert ids(first) == [["m1"]]
        await first.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
        second = await captain.thought()
        assert ids(second) == [["m2", "m5"]]
        await answered(captain, second)
        last = await captain.thought()
        assert ids(last) == [["m3"]]
        await answered(captain, last)
        # What the first run never heard is its actor's own turn, and came after the others.
        assert ids(await captain.thought()) == [["m4"]]


@pytest.mark.requirement("LOOP-9")
async def test_a_second_system_actor_is_let_in_however_long_the_first_goes_on_adding(path: Path) -> None:
    async with house(path, powers=TRUSTED) as captain:
        first = await captain.say("m1", "one", actor=OWNER)
        owners = await captain.thought()
        await captain.say("m2", "two", actor=SECOND)
        past = [await captain.say(f"past{number}", "more", actor=OWNER) for number in range(bounds.STEERS_PAST_OTHERS)]
        late = [await captain.say(f"late{number}", "more", actor=OWNER) for number in range(2)]
        assert [{(each.lane, each.state) for each in some} for some in (past, late)] == [
            {(first.lane, "steer")},
            {(first.lane, "queued")},
        ]
        await owners.do(Boundary())
        await answered(captain, owners)
        seconds = await captain.thought()
        assert ids(seconds) == [["m2"]]
        await answered(captain, seconds)
        assert ids(await captain.thought()) == [["late0", "late1"]]


async def test_one_shots_of_two_rooms_do_not_wait_for_each_other(path: Path) -> None:
    async with house(path, powers=TRUSTED) as captain:
        await captain.say("m1", "one", actor=OWNER)
        await captain.say("m2", "two", actor=SECOND, channel="3")
        await captain.say("m3", "three", actor=ANN)
        assert {(await captain.thought()).order.lane.partition("~")[0] for _ in range(3)} == {
            "turns/discord:1:2",
            "turns/discord:1:3",
            "rooms/discord:1:2",
        }


async def test_after_a_restart_still_one_runs_and_the_others_follow(path: Path) -> None:
    numbers = CountedIds()
    async with house(path, powers=TRUSTED, ids=numbers) as captain:
        await captain.say("m1", "one", actor=OWNER)
        await captain.thought()
        await captain.say("m2", "two", actor=SECOND)
    async with house(path, powers=TRUSTED, ids=numbers) as captain:
        again = await captain.thought()
        assert again.order.lane.startswith("turns/discord:1:2~m1/")
        assert captain.loop.thoughts.empty()
        await again.do(Say("done"))
        seconds = await captain.thought()
        assert ids(seconds) == [["m2"]]
        await answered(captain, seconds)


async def test_a_one_shot_that_only_waits_starts_again_where_its_captain_died_before_it_could(path: Path) -> None:
    numbers = CountedIds()
    async with house(path, powers=TRUSTED, ids=numbers) as captain:
        await captain.say("m1", "one", actor=OWNER)
        thought = await captain.thought()
        await captain.say("m2", "two", actor=SECOND)
        captain.registry.close()
        await thought.do(Say("done"))
        assert isinstance(await captain.result("m1"), Replied)
    async with house(path, powers=TRUSTED, ids=numbers) as captain:
        assert ids(await captain.thought()) == [["m2"]]


async def test_a_plain_stop_ends_its_authors_one_shot_and_no_other(path: Path) -> None:
    async with house(path, powers=TRUSTED) as captain:
        await captain.say("m1", "one", actor=OWNER)
        await captain.thought()
        assert (await captain.say("m2", "stop", actor=SECOND)).state == "queued"
        assert isinstance((await captain.say("m3", "stop", actor=OWNER)).result, Silent)
        ended = await captain.result("m1")
        assert isinstance(ended, Failed)
        assert ended.code is FailureCode.CAPTAIN_CANCELLED


@pytest.mark.requirement("GRANT-3")
async def test_a_one_shot_whose_actor_lost_the_owners_trust_while_it_waited_does_not_run(path: Path) -> None:
    now = {"powers": TRUSTED}
    async with house(path, powers=lambda: now["powers"], tools=("read_file",)) as captain:
        await captain.say("m1", "one", actor=OWNER)
        thought = await captain.thought()
        await captain.say("m2", "two", actor=SECOND)
        now["powers"] = Powers(Trust(frozenset({OWNER})))
        assert await thought.do(Ask("read_file")) is None
        await thought.do(Say("done"))
        refused = await captain.result("m2")
        assert isinstance(refused, Failed)
        assert (refused.code, refused.notice) == (FailureCode.NOT_PERMITTED, True)
        assert (await captain.say("m3", "three", actor=SECOND)).lane == "rooms/discord:1:2"


@pytest.mark.requirement("GRANT-3", "LOOP-7")
async def test_a_social_lane_has_no_machine_tool_for_somebody_who_is_trusted_since(path: Path) -> None:
    now = {"powers": Powers()}
    async with house(path, powers=lambda: now["powers"], tools=("read_file",)) as captain:
        await captain.say("m1", "one", actor=OWNER)
        thought = await captain.thought()
        now["powers"] = TRUSTED
        assert thought.order.tools == ("send_text_update",)
        assert isinstance(await thought.do(Ask("read_file")), str)
