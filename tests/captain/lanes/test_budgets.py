"""Nobody uses him up: one person's messages, a room's day and everybody's day have limits, each told once."""

from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.core.allowance import Allowance
from clankie_captain.core.run import Usage
from clankie_captain.store.arrivals import Terms
from clankie_settings import bounds
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Result, Silent
from tests.captain.lanes.fakes import Boundary, CountedIds, Fail, Say
from tests.captain.lanes.house import OWNER, House, house

EXEMPT = frozenset({OWNER})
FEW = Terms(Allowance(messages=3, exempt=EXEMPT))
ROOM_DAY = Terms(Allowance(room_tokens=30, exempt=EXEMPT))
DAY = Terms(Allowance(tokens=30, exempt=EXEMPT))
RUN = 15  # tokens of one told answer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def answered(captain: House, delivery: str, **said: str) -> None:
    turn = await captain.say(delivery, "words", **said)
    assert turn.result is None, "refused"
    await (await captain.thought()).do(Say("yes"))
    assert isinstance(await captain.result(delivery), Replied)


async def refused(captain: House, delivery: str, **said: object) -> bool:
    """Whether the room is told that this delivery was refused for its budget."""
    result = (await captain.say(delivery, "words", **said)).result
    assert isinstance(result, Failed)
    assert (result.code, result.run_id, result.owed) == (FailureCode.BUDGET_REACHED, None, result.notice)
    assert captain.loop.thoughts.empty()
    return result.notice


@pytest.mark.requirement("ING-10")
async def test_one_person_is_worked_on_so_often_in_ten_minutes_and_told_once(path: Path) -> None:
    async with house(path, terms=FEW) as captain:
        for number in range(3):
            await answered(captain, f"m{number}", channel=str(10 + number))
        assert await refused(captain, "m3")
        assert [await refused(captain, f"m{number}", channel="11") for number in (4, 5)] == [False, False]
        await answered(captain, "other", actor="100002")
        for number in range(5):
            await answered(captain, f"owner{number}", actor=OWNER)
        captain.clock.advance(bounds.ACTOR_SPAN)
        await answered(captain, "later")


@pytest.mark.requirement("ING-10")
async def test_a_person_who_goes_on_at_the_same_pace_is_worked_on_at_the_agreed_rate(path: Path) -> None:
    async with house(path, terms=FEW) as captain:
        notices: list[bool | None] = []
        for number in range(12):
            turn = await captain.say(f"m{number}", "words")
            if turn.result is None:
                await (await captain.thought()).do(Say("yes"))
                await captain.result(f"m{number}")
            notices.append(turn.result.notice if isinstance(turn.result, Failed) else None)
            captain.clock.advance(bounds.ACTOR_SPAN / 4)
        assert notices == [None, None, None, True] * 3


@pytest.mark.requirement("ING-10")
async def test_words_that_join_a_run_count_and_a_message_handed_over_again_does_not(path: Path) -> None:
    async with house(path, terms=FEW) as captain:
        await captain.say("m1", "words")
        thought = await captain.thought()
        for delivery in ("m2", "m2", "m1", "m3", "m3"):
            assert (await captain.say(delivery, "words")).result is None
        assert await refused(captain, "m4")
        again = (await captain.say("m4", "words")).result
        assert isinstance(again, Failed)
        await thought.do(Boundary())
        await thought.do(Say("all"))
        assert isinstance(await captain.result("m3"), Absorbed)


@pytest.mark.requirement("ING-10")
async def test_a_message_that_called_nobody_is_refused_without_a_word_and_leaves_the_word_to_the_next(
    path: Path,
) -> None:
    async with house(path, terms=FEW) as captain:
        for number in range(3):
            await answered(captain, f"m{number}")
        assert not await refused(captain, "m3", addressed=False)
        assert await refused(captain, "m4")
        assert not await refused(captain, "m5")


@pytest.mark.requirement("ING-10", "OPS-5")
async def test_a_stop_is_never_over_budget_where_it_ends_something_and_always_where_it_does_not(path: Path) -> None:
    async with house(path, terms=FEW) as captain:
        await captain.say("m1", "words")
        await captain.thought()
        for number in (2, 3):
            await captain.say(f"m{number}", "words")
        for number in range(3):
            await captain.say(f"other{number}", "words", actor="100002", channel="11")
        assert await refused(captain, "m4", channel="11") in (True, False)
        result = (await captain.say("stranger", "stop", actor="100003")).result
        assert result is None
        assert isinstance((await captain.say("m5", "stop")).result, Silent)
        assert isinstance(await captain.result("m1"), Failed)


@pytest.mark.requirement("ING-10")
async def test_a_clock_that_was_set_back_holds_nobody_responsible_for_the_future(path: Path) -> None:
    async with house(path, terms=FEW) as captain:
        captain.clock.turn_to(timedelta(days=300))
        for number in range(3):
            await answered(captain, f"m{number}")
        captain.clock.turn_to(-timedelta(days=300))
        for number in range(3, 6):
            await answered(captain, f"m{number}")
        assert await refused(captain, "m6")


@pytest.mark.parametrize(("terms", "others_go_on"), [(ROOM_DAY, True), (DAY, False)])
async def test_a_spent_day_is_told_once_in_each_room_and_is_over_at_midnight(
    path: Path, terms: Terms, others_go_on: bool
) -> None:
    ids = CountedIds()
    async with house(path, terms=terms, ids=ids) as captain:
        for number in range(30 // RUN):
            await answered(captain, f"m{number}")
        assert [await refused(captain, each) for each in ("m3", "m4")] == [True, False]
        if others_go_on:
            await answered(captain, "other", channel="11")
        else:
            assert [await refused(captain, each, channel="11") for each in ("o1", "o2")] == [True, False]
        await answered(captain, "owner", actor=OWNER)
        captain.clock.advance(timedelta(hours=23, minutes=59))
        assert not await refused(captain, "late")
    clock = captain.clock
    async with house(path, terms=terms, ids=ids, clock=clock) as captain:
        assert not await refused(captain, "restarted")
        clock.advance(timedelta(minutes=1))
        await answered(captain, "morning")
        clock.turn_to(-timedelta(minutes=1))
        assert not await refused(captain, "yesterday")


async def test_a_spent_day_lets_a_run_that_is_live_come_to_its_end(path: Path) -> None:
    async with house(path, terms=Terms(Allowance(room_tokens=1))) as captain:
        await captain.say("m1", "words")
        thought = await captain.thought()
        assert (await captain.say("m2", "joins")).result is None
        await thought.do(Boundary())
        await thought.do(Say("both"))
        results: list[Result] = [await captain.result(each) for each in ("m1", "m2")]
        assert [each.state for each in results] == ["replied", "absorbed"]
        assert await refused(captain, "m3")


async def test_what_a_tool_spends_aside_counts_into_the_day_and_not_into_the_lanes_context(path: Path) -> None:
    async with house(path, terms=Terms(Allowance(room_tokens=1_000))) as captain:
        await captain.say("m1", "words")
        thought = await captain.thought()
        thought.line.spent(Usage(10, 5, 0, 1, 0))
        thought.line.spent(Usage(2_000, 7, 0, 1, 0), aside=True)
        await thought.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
        assert (await captain.result("m1")).state == "failed"
        (record,) = captain.turn_log.records
        assert (record.context_end, record.usage.input_tokens) == (15, 2_010)
        assert await refused(captain, "m2")


async def test_a_message_that_called_nobody_does_not_use_up_the_word_about_a_spent_day(path: Path) -> None:
    async with house(path, terms=Terms(Allowance(tokens=RUN))) as captain:
        await answered(captain, "m1")
        assert not await refused(captain, "m2", addressed=False)
        assert await refused(captain, "m3")
        assert not await refused(captain, "m4")
