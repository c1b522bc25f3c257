"""A room that thinks in one loop: speakers take turns, each in the loop of their grant."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.core.commands import BUSY, QUIET, RENEWED, STOPPED
from clankie_captain.core.grants import Powers, grant
from clankie_captain.core.lane import Trust
from clankie_captain.core.placement import Loops
from clankie_captain.lanes.voices import Voices
from clankie_captain.store.rooms import RoomLeaseStore
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.command import Command, CommandName
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from clankie_settings.wire.trigger import Actor, Room
from tests.captain.lanes.fakes import Ask, Boundary, CountedIds, Fail, Say, Thought, Update
from tests.captain.lanes.house import DISCORD, OWNER, House, house, trigger

ANN, BOB = "100001", "100002"
ALL = Loops(everywhere=True)
EVEN = Powers(everyone=frozenset({"read_page"}))
ROOM = Room(platform="discord", guild_id="1", channel_id="2")
BOBS = replace(EVEN, actors={BOB: frozenset({"draw_diagram"})})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


def lane(actor: str, powers: Powers = EVEN) -> str:
    return f"rooms/discord:1:2~{grant(trigger('x', 'words', actor=actor), powers).fingerprint}"


def ids(thought: Thought) -> list[list[str]]:
    return [[words.delivery for words in request] for request in thought.heard]


async def give(captain: House, number: str, name: CommandName, actor: str = OWNER) -> str:
    asker = Actor(actor_id=actor, display_name="somebody")
    return await captain.commands.do(DISCORD, Command(command_id=number, name=name, room=ROOM, actor=asker))


@pytest.mark.requirement("LOOP-1", "LOOP-3")
async def test_a_room_thinks_in_the_loop_of_its_speakers_exact_grant_where_the_switch_says_so(path: Path) -> None:
    async with house(path, powers=BOBS, loops=Loops(listed=frozenset({"1:2"})), tools=("draw_diagram",)) as captain:
        anns, bobs = await captain.say("m1", "one", actor=ANN), await captain.say("m2", "two", actor=BOB)
        assert (anns.lane, bobs.lane) == (lane(ANN, BOBS), lane(BOB, BOBS))
        assert anns.lane != bobs.lane
        assert (await captain.say("m3", "three", channel="3")).lane == "rooms/discord:1:3"
        first, second = await captain.thought(), await captain.thought()
        assert (first.order.tools, second.order.tools) == (
            ("send_text_update",),
            ("send_text_update", "draw_diagram"),
        )


@pytest.mark.requirement("LOOP-2")
async def test_another_speakers_message_is_the_next_turn_and_never_joins_the_run(path: Path) -> None:
    async with house(path, powers=EVEN, loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        assert (await captain.say("m2", "two", actor=BOB, delivery="steer")).state == "queued"
        assert (await captain.say("m3", "three", actor=ANN)).state == "steer"
        await anns.do(Boundary())
        assert ids(anns) == [["m1"], ["m3"]]
        await anns.do(Say("to Ann"))
        bobs = await captain.thought()
        assert ids(bobs) == [["m2"]]
        assert bobs.order.lane == anns.order.lane
        assert [each.kind for each in bobs.order.history] == ["request", "request", "response"]
        await bobs.do(Say("to Bob"))
        assert isinstance(await captain.result("m2"), Replied)
        absorbed = await captain.result("m3")
        assert isinstance(absorbed, Absorbed)
        assert absorbed.answered_by == "m1"


@pytest.mark.requirement("LOOP-2")
async def test_speakers_go_in_their_order_and_a_queued_burst_is_one_turn(path: Path) -> None:
    async with house(path, powers=EVEN, loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        for number, actor in (("m2", BOB), ("m3", "100003"), ("m4", BOB), ("m5", ANN), ("m6", "100003")):
            await captain.say(number, "words", actor=actor)
        await anns.do(Boundary())
        assert ids(anns) == [["m1"], ["m5"]]
        await anns.do(Say("to Ann"))
        bobs = await captain.thought()
        assert ids(bobs) == [["m2", "m4"]]
        assert (await captain.say("m7", "words", actor=BOB)).state == "steer"
        await bobs.do(Boundary())
        await bobs.do(Say("to Bob"))
        third = await captain.thought()
        assert ids(third) == [["m3", "m6"]]
        await third.do(Say("to the third"))
        results = {number: await captain.result(number) for number in ("m2", "m3", "m4", "m6", "m7")}
        assert [number for number, each in results.items() if isinstance(each, Replied)] == ["m2", "m3"]
        assert [getattr(results[number], "answered_by", None) for number in ("m4", "m6", "m7")] == ["m2", "m3", "m2"]


@pytest.mark.requirement("LOOP-9")
async def test_whoever_waits_is_let_in_however_long_the_sender_goes_on_adding(path: Path) -> None:
    async with house(path, powers=EVEN, loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns, most = await captain.thought(), bounds.STEERS_PAST_OTHERS
        alone = [await captain.say(f"alone{number}", "more", actor=ANN) for number in range(most + 2)]
        assert {each.state for each in alone} == {"steer"}
        await captain.say("m2", "two", actor=BOB)
        past = [await captain.say(f"past{number}", "more", actor=ANN) for number in range(most)]
        assert {each.state for each in past} == {"steer"}
        late = [await captain.say(f"late{number}", "more", actor=ANN) for number in range(2)]
        assert {each.state for each in late} == {"queued"}
        await anns.do(Boundary())
        await anns.do(Say("to Ann"))
        bobs = await captain.thought()
        assert ids(bobs) == [["m2"]]
        await bobs.do(Say("to Bob"))
        again = await captain.thought()
        assert ids(again) == [["late0", "late1"]]
        assert (await captain.say("m3", "three", actor=ANN)).state == "steer"


@pytest.mark.requirement("LOOP-9", "VOX-2")
async def test_what_has_to_wait_for_its_turn_does_not_go_past_it_by_a_voice(path: Path) -> None:
    async with house(path, powers=EVEN, loops=ALL) as captain:
        first = await captain.say("m1", "one", actor=ANN)
        await captain.thought()
        await captain.say("m2", "two", actor=BOB)
        voices = Voices(RoomLeaseStore(captain.database), captain.signals, captain.clock)
        await voices.ask(PresenceId("ear"), "1:2", timedelta(seconds=15))
        more = [await captain.say(f"m{at}", "more", actor=ANN) for at in range(3, bounds.STEERS_PAST_OTHERS + 5)]
        assert [each.state for each in more] == ["steer"] * bounds.STEERS_PAST_OTHERS + ["queued"] * 2
        assert {each.lane for each in more} == {first.lane}


@pytest.mark.requirement("LOOP-9", "ING-7")
async def test_words_that_had_to_wait_are_not_overtaken_where_nobody_else_waits_any_more(path: Path) -> None:
    async with house(path, powers=EVEN, loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        await captain.say("m2", "two", actor=BOB)
        for number in range(bounds.STEERS_PAST_OTHERS + 1):
            await captain.say(f"more{number}", "more", actor=ANN)
        await captain.desk.withdraw(DISCORD, DeliveryId("m2"))
        assert (await captain.say("m3", "three", actor=ANN)).state == "queued"
        await anns.do(Boundary())
        await anns.do(Say("to Ann"))
        assert ids(await captain.thought()) == [[f"more{bounds.STEERS_PAST_OTHERS}", "m3"]]


@pytest.mark.requirement("LOOP-2")
async def test_what_asks_for_a_turn_of_its_own_joins_no_burst(path: Path) -> None:
    async with house(path, powers=EVEN, loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        for number in ("m2", "m3"):
            await captain.say(number, "words", actor=BOB, delivery="queue")
        await anns.do(Say("to Ann"))
        assert ids(await captain.thought()) == [["m2"]]


@pytest.mark.requirement("LOOP-2", "LOOP-4")
async def test_steered_words_that_a_broken_run_did_not_hear_take_their_turn_in_order(path: Path) -> None:
    async with house(path, powers=EVEN, loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        await captain.say("m2", "two", actor=BOB)
        await captain.say("m3", "three", actor=ANN)
        await anns.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
        bobs = await captain.thought()
        assert ids(bobs) == [["m2"]]
        await bobs.do(Say("to Bob"))
        again = await captain.thought()
        assert ids(again) == [["m3"]]


@pytest.mark.requirement("LOOP-4", "GRANT-3")
async def test_a_queued_turn_whose_grant_was_withdrawn_fails_and_leaves_no_trace_in_the_old_loop(path: Path) -> None:
    now = {"powers": EVEN}
    async with house(path, powers=lambda: now["powers"], loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        await captain.say("m2", "two", actor=BOB)
        await captain.say("m3", "three", actor=BOB)
        now["powers"] = Powers()
        assert (await captain.say("m4", "four", actor=ANN)).lane == lane(ANN, Powers())
        fresh = await captain.thought()
        await anns.do(Say("to Ann"))
        for number in ("m2", "m3"):
            refused = await captain.result(number)
            assert isinstance(refused, Failed)
            assert (refused.code, refused.notice, refused.owed) == (FailureCode.ROOM_LOOP_GRANT_CHANGED, True, True)
        assert ids(fresh) == [["m4"]]
        assert fresh.order.history == ()
        requests = await captain.entries("request")
        assert not any("two" in each or "three" in each for each in [*requests, *await captain.entries("heard")])
        assert [each.outcome for each in captain.turn_log.records] == ["replied", *["room_loop_grant_changed"] * 2]
        next_one = await captain.say("m5", "five", actor=BOB)
        assert (next_one.lane, next_one.state) == (lane(BOB, Powers()), "queued")


@pytest.mark.requirement("LOOP-4")
async def test_a_turn_that_only_waits_for_a_free_slot_is_asked_again_as_well(path: Path) -> None:
    now = {"powers": EVEN}
    async with house(path, powers=lambda: now["powers"], loops=ALL, most=1) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        assert (await captain.say("m2", "two", actor=BOB, channel="3")).state == "live"
        now["powers"] = Powers()
        await anns.do(Say("to Ann"))
        refused = await captain.result("m2")
        assert isinstance(refused, Failed)
        assert refused.code is FailureCode.ROOM_LOOP_GRANT_CHANGED


@pytest.mark.requirement("LOOP-4")
async def test_what_waited_over_a_restart_is_asked_again_and_what_was_heard_goes_on(path: Path) -> None:
    numbers = CountedIds()
    async with house(path, powers=EVEN, loops=ALL, ids=numbers) as captain:
        await captain.say("m1", "one", actor=ANN)
        await captain.thought()
        await captain.say("m2", "two", actor=BOB)
    async with house(path, powers=Powers(), loops=ALL, ids=numbers) as captain:
        again = await captain.thought()
        assert again.order.words == ()
        assert isinstance(await again.do(Ask("read_page")), str)
        await again.do(Say("to Ann"))
        assert isinstance(await captain.result("m1"), Replied)
        refused = await captain.result("m2")
        assert isinstance(refused, Failed)
        assert refused.code is FailureCode.ROOM_LOOP_GRANT_CHANGED


@pytest.mark.requirement("LOOP-4")
async def test_a_grant_that_came_back_in_time_is_the_same_grant(path: Path) -> None:
    now = {"powers": EVEN}
    async with house(path, powers=lambda: now["powers"], loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        await captain.say("m2", "two", actor=BOB)
        now["powers"] = Powers()
        await captain.say("m3", "three", actor=ANN)
        await captain.thought()
        now["powers"] = EVEN
        await anns.do(Say("to Ann"))
        assert ids(await captain.thought()) == [["m2"]]


@pytest.mark.requirement("LOOP-5", "GRANT-5")
async def test_tools_see_the_grant_and_the_message_of_whoever_has_the_turn(path: Path) -> None:
    now = {"powers": EVEN}
    async with house(path, powers=lambda: now["powers"], loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        anns = await captain.thought()
        await captain.say("m2", "two", actor=BOB)
        assert await anns.do(Ask("read_page")) is None
        await anns.do(Say("to Ann"))
        bobs = await captain.thought()
        # Ann loses hers: Bob's turn, in the very same loop, is none the poorer for it.
        now["powers"] = Powers(actors={BOB: frozenset({"read_page"})})
        assert await bobs.do(Ask("read_page")) is None
        now["powers"] = Powers(actors={ANN: frozenset({"read_page"})})
        refused = await bobs.do(Ask("read_page"))
        assert isinstance(refused, str)
        assert "the person whose message you are answering" in refused
        bobs.begin(Update("a moment"))
        (action,) = await _actions(captain)
        assert '"delivery_id":"m2"' in action


async def _actions(captain: House) -> tuple[str, ...]:
    while not (found := await captain.actions.pending(DISCORD, 0)):
        pass
    return tuple(each.payload for each in found)


@pytest.mark.requirement("OPS-5", "LOOP-2")
async def test_a_plain_stop_ends_the_run_of_its_author_in_whichever_loop_and_nobody_elses(path: Path) -> None:
    now = {"powers": EVEN}
    async with house(path, powers=lambda: now["powers"], loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        await captain.thought()
        assert (await captain.say("m2", "stop", actor=BOB)).state == "queued"
        now["powers"] = Powers(actors={ANN: frozenset({"draw_diagram"})})
        assert isinstance((await captain.say("m3", "stop", actor=ANN)).result, Silent)
        ended = await captain.result("m1")
        assert isinstance(ended, Failed)
        assert ended.code is FailureCode.CAPTAIN_CANCELLED


@pytest.mark.requirement("OPS-5", "LOOP-3")
async def test_commands_work_on_all_loops_of_their_room(path: Path) -> None:
    async with house(path, powers=BOBS, loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        await captain.say("m2", "two", actor=BOB)
        await captain.say("m3", "three", actor="100003")
        anns, bobs = await captain.thought(), await captain.thought()
        assert await give(captain, "c1", "status", BOB) == "At work for 0 s. 1 waiting."
        assert await give(captain, "c2", "new") == BUSY
        assert await give(captain, "c3", "stop", BOB) == STOPPED
        ended = await captain.result("m2")
        assert isinstance(ended, Failed)
        assert bobs.ended
        await anns.do(Say("to Ann"))
        await (await captain.thought()).do(Say("to the third"))
        await captain.result("m3")
        assert await give(captain, "c4", "usage") == "30 tokens here today (UTC)."
        assert await give(captain, "c5", "new") == RENEWED
        await captain.say("m4", "four", actor=ANN)
        fresh = await captain.thought()
        assert fresh.order.lane == anns.order.lane
        assert fresh.order.history == ()
        await fresh.do(Say("words"))
        await captain.result("m4")
        assert await give(captain, "c6", "quiet") == QUIET
        for number, actor in (("m5", ANN), ("m6", BOB)):
            hushed = (await captain.say(number, "words", actor=actor)).result
            assert isinstance(hushed, Failed)
            assert hushed.code is FailureCode.NOT_PERMITTED


@pytest.mark.requirement("LOOP-7", "GRANT-2")
async def test_the_owners_machine_turns_in_a_loop_room_stay_one_shots(path: Path) -> None:
    trust = Trust(frozenset({OWNER}))
    async with house(path, powers=replace(EVEN, trust=trust), loops=ALL) as captain:
        await captain.say("m1", "one", actor=ANN)
        assert (await captain.say("m2", "two", actor=OWNER)).lane.startswith("turns/discord:1:2~m2/")
        assert len({(await captain.thought()).order.lane for _ in range(2)}) == 2
