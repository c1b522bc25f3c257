"""Work that a lane moves to the background, from the fork to what the room is told."""

import asyncio
import json
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from clankie_captain.core import children
from clankie_captain.core.children import ChildState, Forked, Unforked
from clankie_captain.core.grants import Powers
from clankie_captain.core.lane import Trust
from clankie_captain.core.placement import Loops
from clankie_captain.core.run import UpdateOutcome
from clankie_captain.store import tables
from clankie_settings import bounds
from clankie_settings.ids import ChildId
from clankie_settings.wire.action import Post
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied
from tests.captain.lanes.fakes import Ask, Boundary, Fail, Fork, Say, StillClock, Thought, Update, Write
from tests.captain.lanes.house import DISCORD, OWNER, House, house

pytestmark = pytest.mark.requirement("LOOP-6")

ANN, BOB = "100001", "100002"
MAY = Powers(everyone=frozenset({"fork", "read_page"}))
LOOP_EVERYWHERE = Loops(everywhere=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def forked(captain: House, message: str = "m1", **how: str) -> tuple[Thought, Thought]:
    """A room's run that has forked, and its child's run."""
    await captain.say(message, "look everything up", **how)
    parent = await captain.thought()
    assert isinstance(await parent.do(Fork("look it all up", f"call_{message}")), Forked)
    return parent, await captain.thought()


async def states(captain: House) -> list[ChildState]:
    """How all children stand, in the order in which they were forked."""
    return [each.state for each in reversed(await captain.children.newest())]


async def posts(captain: House) -> list[str]:
    """What the room was given besides replies."""
    return [json.loads(each.payload)["text"] for each in await captain.actions.pending(DISCORD, 0)]


async def kept_calls(captain: House) -> dict[str, str]:
    def work(connection: Connection) -> dict[str, str]:
        one = tables.finished_call.c
        return {row.lane: row.payload for row in connection.execute(select(one.lane, one.payload))}

    return await captain.database.transact(work)


async def test_the_room_talks_on_while_the_work_goes_on_and_is_told_of_it_once(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        assert isinstance(await captain.result("m1"), Replied)

        await captain.say("m2", "what else is new?", actor=BOB)
        other = await captain.thought()
        await other.do(Say("Nothing."))
        assert isinstance(await captain.result("m2"), Replied)
        assert not child.ended

        await child.do(Say("It is Tuesday."))
        report = await captain.thought()
        assert report.order.lane == other.order.lane
        assert "look it all up" in report.requests[0][0]
        assert "It is Tuesday." in report.requests[0][0]
        assert await posts(captain) == []
        await report.do(Say("You asked: it is Tuesday."))
        assert isinstance(
            await captain.result(children.report_id(ChildId((await captain.children.newest())[0].id))), Replied
        )
        assert await posts(captain) == ["You asked: it is Tuesday."]
        (action,) = await captain.actions.pending(DISCORD, 0)
        assert json.loads(action.payload)["reply_to"] == "m1"
        assert await states(captain) == ["done"]
        assert await kept_calls(captain) == {}


async def test_a_child_begins_with_what_its_lane_holds_and_with_its_tools_and_register(path: Path) -> None:
    async with house(path, powers=MAY, tools=("read_page", "fork")) as captain:
        await captain.say("m0", "hello")
        await (await captain.thought()).do(Say("hi"))
        await captain.result("m0")
        parent, child = await forked(captain)
        assert child.order.instructions == parent.order.instructions
        assert child.order.tools == parent.order.tools
        before = [(each.kind, each.payload) for each in parent.order.history]
        assert [(each.kind, each.payload) for each in child.order.history][: len(before)] == before
        assert len(child.order.history) == len(before) + 1  # the request that the fork answered
        calls = await kept_calls(captain)
        assert calls[parent.order.lane] == "told call_m1"
        assert child.order.lane == f"turns/{parent.order.lane}~child/{(await captain.children.newest())[0].id}"


async def test_a_child_posts_nothing_itself_and_has_no_children(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            _, child = await forked(captain)
            refused = await child.do(Update("still at it"))
            assert isinstance(refused, UpdateOutcome)
            assert refused.fate == "refused"
            assert await child.do(Fork("more of it", "call_2")) == Unforked(children.NESTED)
            await child.do(Write("It is Tuesday, as far as I can see."))
            assert inbox.empty()
        assert await posts(captain) == []
        assert len(await captain.children.newest()) == 1


@pytest.mark.parametrize("loops", [None, LOOP_EVERYWHERE])
async def test_a_report_waits_for_the_room_and_steers_nobodys_run(path: Path, loops: Loops | None) -> None:
    async with house(path, powers=MAY, loops=loops) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        await captain.say("m2", "and now something else", actor=BOB)
        other = await captain.thought()
        await child.do(Say("stop"))
        await captain.result((await captain.children.newest())[0].id)
        await other.do(Boundary())
        assert other.requests[1:] == [[]]
        await other.do(Say("Well."))
        report = await captain.thought()
        assert "has ended (done)" in report.requests[0][0]


@pytest.mark.parametrize(("loops", "speaker"), [(None, BOB), (LOOP_EVERYWHERE, ANN)])
async def test_whoever_may_steer_here_joins_the_run_that_reports(path: Path, loops: Loops | None, speaker: str) -> None:
    async with house(path, powers=MAY, loops=loops) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        await child.do(Say("It is Tuesday."))
        report = await captain.thought()
        await captain.say("m2", "make it short", actor=speaker)
        await report.do(Boundary())
        await report.do(Say("Tuesday."))
        assert isinstance(await captain.result("m2"), Absorbed)
        assert await posts(captain) == ["Tuesday."]


async def test_what_a_captain_that_died_had_in_the_background_goes_on_and_is_told_once(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        parent, _ = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
    async with house(path, powers=MAY) as captain:
        child = await captain.thought()
        assert (await captain.children.newest())[0].attempt == 2
        await child.do(Say("It is Tuesday."))
        await captain.thought()
    async with house(path, powers=MAY) as captain:
        report = await captain.thought()
        await report.do(Say("Tuesday."))
        await captain.result("report-" + (await captain.children.newest())[0].id)
        assert await posts(captain) == ["Tuesday."]


async def test_a_child_is_tried_twice_and_then_told_of_as_failed(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        parent, _ = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
    async with house(path, powers=MAY) as captain:
        await captain.thought()
    async with house(path, powers=MAY) as captain:
        report = await captain.thought()
        assert "captain_interrupted" in report.requests[0][0]
        assert await states(captain) == ["failed"]


async def test_two_of_a_room_and_four_in_all_run_and_the_next_begins_when_one_ends(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        live: list[Thought] = []
        for channel in ("2", "3", "4"):
            await captain.say(f"m{channel}", "look it up", channel=channel)
            parent = await captain.thought()
            for number in (1, 2):
                forked = await parent.do(Fork(f"part {number} of {channel}", f"call_{number}"))
                assert isinstance(forked, Forked)
                if forked.started is not None:
                    live.append(await captain.thought())
        assert await states(captain) == ["running"] * 4 + ["waiting"] * 2
        await live[0].do(Say("done"))
        found = [await captain.thought() for _ in range(1)]
        assert found[0].order.lane.startswith("turns/rooms/discord:1:4~child/")
        assert await states(captain) == ["done"] + ["running"] * 4 + ["waiting"]


async def test_where_too_much_waits_the_model_is_told_and_nothing_is_begun(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        await captain.say("m1", "everything at once")
        parent = await captain.thought()
        for number in range(2 + bounds.CHILDREN_WAITING):
            assert isinstance(await parent.do(Fork("part of it", f"call_{number}")), Forked)
        assert await parent.do(Fork("one too many", "call_x")) == Unforked(children.FULL)
        assert len(await captain.children.newest()) == 2 + bounds.CHILDREN_WAITING


async def test_a_child_that_is_silent_for_too_long_is_given_up_and_told_of(path: Path) -> None:
    clock = StillClock()
    async with house(path, powers=MAY, clock=clock) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        name = (await captain.children.newest())[0].id
        while not child.ended:
            await asyncio.sleep(0)
            if clock.sleeping:
                clock.advance(bounds.STALL_TICK)
        failed = await captain.result(name)
        assert isinstance(failed, Failed)
        assert failed.code == FailureCode.CAPTAIN_TURN_STALLED
        assert child.ended
        assert "captain_turn_stalled" in (await captain.thought()).requests[0][0]


async def test_a_child_that_is_cancelled_ends_and_is_told_of(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        name = (await captain.children.newest())[0].id
        assert await captain.children.cancel(name) is not None
        assert "captain_cancelled" in (await captain.thought()).requests[0][0]
        assert child.ended
        assert await states(captain) == ["cancelled"]
        again = await captain.children.cancel(name)
        assert again is not None
        assert again.state == "cancelled"


async def test_a_child_that_waits_is_cancelled_without_having_begun(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        await captain.say("m1", "everything at once")
        parent = await captain.thought()
        for number in range(3):
            await parent.do(Fork("part of it", f"call_{number}"))
        await captain.thought()
        await captain.thought()
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        last = (await captain.children.newest())[0]
        assert last.state == "waiting"
        ended = await captain.children.cancel(last.id)
        assert ended is not None
        assert (ended.state, ended.code) == ("cancelled", "captain_cancelled")
        assert "captain_cancelled" in (await captain.thought()).requests[0][0]
        assert await captain.children.cancel(ChildId("child_of_nobody")) is None


@pytest.mark.requirement("GRANT-3")
async def test_a_child_whose_asker_lost_the_grant_before_it_began_does_nothing(path: Path) -> None:
    now = {"powers": MAY}
    async with house(path, powers=lambda: now["powers"]) as captain:
        await captain.say("m1", "everything at once")
        parent = await captain.thought()
        for number in range(3):
            await parent.do(Fork("part of it", f"call_{number}"))
        live = [await captain.thought(), await captain.thought()]
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        now["powers"] = Powers(everyone=frozenset({"read_page"}))
        await live[0].do(Say("done"))
        last = (await captain.children.newest())[0]
        failed = await captain.result(last.id)
        assert isinstance(failed, Failed)
        assert failed.code == FailureCode.NOT_PERMITTED


@pytest.mark.requirement("GRANT-5")
async def test_a_child_may_do_what_everybody_may_whose_words_its_lane_had_heard(path: Path) -> None:
    powers = Powers(everyone=frozenset({"fork"}), actors={ANN: frozenset({"read_page"})})
    now = {"powers": powers}
    async with house(path, powers=lambda: now["powers"]) as captain:
        _, alone = await forked(captain)
        assert await alone.do(Ask("read_page")) is None
        now["powers"] = Powers(everyone=frozenset({"fork"}))
        assert isinstance(await alone.do(Ask("read_page")), str)

        now["powers"] = powers
        await captain.say("m2", "look it up", channel="3")
        parent = await captain.thought()
        await captain.say("m3", "and that", actor=BOB, channel="3")
        await parent.do(Boundary())
        await parent.do(Fork("look both up"))
        child = await captain.thought()
        assert isinstance(await child.do(Ask("read_page")), str)
        await parent.do(Say("I am at it."))
        await captain.result("m2")
        await child.do(Say("Both are fine."))
        report = await captain.thought()
        assert isinstance(await report.do(Ask("read_page")), str)


@pytest.mark.requirement("LOOP-4")
async def test_what_came_of_a_child_stays_with_the_loop_that_forked_it(path: Path) -> None:
    now = {"powers": MAY}
    async with house(path, powers=lambda: now["powers"], loops=LOOP_EVERYWHERE) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        name = (await captain.children.newest())[0].id
        now["powers"] = Powers(everyone=frozenset({"fork"}))
        await child.do(Say("It is Tuesday."))
        await captain.result(name)
        told = await captain.result(f"report-{name}")
        assert isinstance(told, Failed)
        assert told.code == FailureCode.ROOM_LOOP_GRANT_CHANGED
        assert await posts(captain) == [children.UNTOLD]


@pytest.mark.requirement("ROOM-8")
@pytest.mark.parametrize("joins", [False, True])
async def test_the_room_is_told_once_where_what_came_of_a_child_could_not_be(path: Path, joins: bool) -> None:
    async with house(path, powers=MAY) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        await child.do(Say("It is Tuesday."))
        report = await captain.thought()
        if joins:
            await captain.say("m2", "and?", actor=BOB)
            await report.do(Boundary())
        await report.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED, "the provider's own words"))
        await captain.result(report.heard[0][0].delivery)
        if joins:
            # Whoever had joined is owed that word as any other failed turn is.
            failed = await captain.result("m2")
            assert (failed.state, failed.owed, await posts(captain)) == ("failed", True, [])
            return
        (action,) = await captain.actions.pending(DISCORD, 0)
        told = Post.model_validate_json(action.payload)
        assert (told.text, told.notice, told.reply_to) == (children.UNTOLD, True, "m1")


async def test_a_one_shot_hears_of_its_child_itself(path: Path) -> None:
    trust = Trust(frozenset({OWNER}))
    powers = Powers(trust, everyone=frozenset({"fork"}))
    async with house(path, trust=trust, powers=powers) as captain:
        parent, child = await forked(captain, actor=OWNER)
        assert parent.order.lane.startswith("turns/discord:")
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        await captain.say("m2", "list the files", actor=OWNER)
        beside = await captain.thought()
        await child.do(Say("It is Tuesday."))
        await captain.result((await captain.children.newest())[0].id)
        await beside.do(Say("None."))
        report = await captain.thought()
        assert report.order.lane == parent.order.lane
        await report.do(Say("Tuesday."))


async def test_an_operators_conversation_forks_as_well(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        asked = await captain.ask("c1", "look everything up")
        parent = await captain.thought()
        await parent.do(Fork("look it up"))
        child = await captain.thought()
        await parent.do(Say("I am at it."))
        await captain.receipt(asked)
        await child.do(Say("It is Tuesday."))
        report = await captain.thought()
        assert report.order.lane == "conversations/desk"
        await report.do(Say("Tuesday."))
        await captain.receipt("report-" + (await captain.children.newest())[0].id)
        assert len(await captain.entries("said")) == 3


async def test_a_person_is_not_charged_for_what_he_has_to_tell(path: Path) -> None:
    async with house(path, powers=MAY) as captain:
        parent, child = await forked(captain)
        await parent.do(Say("I am at it."))
        await captain.result("m1")
        await child.do(Say("It is Tuesday."))
        await (await captain.thought()).do(Say("Tuesday."))

        def counted(connection: Connection) -> list[str]:
            one = tables.room.c
            return list(connection.execute(select(one.last_delivery)).scalars())

        assert await captain.database.transact(counted) == ["m1"]
