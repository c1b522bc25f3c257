"""Compactions as rows: the claim, the end, and what a history is from then on."""

from dataclasses import replace

import pytest

from clankie_captain.core.compaction import Compacted, Compaction, Fill, Shorter, Unchanged
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.reply import Said
from clankie_captain.core.run import Usage
from clankie_captain.core.turns import Ended, LiveRun
from clankie_captain.errors import FencedError
from clankie_captain.store.compactions import CompactionStore
from clankie_settings.ids import LaneId
from tests.captain.core.speech import NOON
from tests.captain.store.shelf import ANSWER, CONVERSATION, ROOM, Shelf

pytestmark = pytest.mark.requirement("CTX-7")

FULL = Fill(800, 1_000)
NOTES = '{"notes": 1}'
ONE_SHOT = LaneKey(LaneId("turns/1/turn_1"), "one_shot", "system")


async def turn(shelf: Shelf, said: str, lane: LaneKey = ROOM, fill: Fill = FULL) -> LiveRun | None:
    """A whole turn; what follows it."""
    run = await shelf.started(said, lane)
    return await answered(shelf, run, fill)


async def answered(shelf: Shelf, run: LiveRun, fill: Fill = FULL) -> LiveRun | None:
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ANSWER], [], NOON)
    ended = await shelf.runs.settle(run, Said("words"), Usage(), shelf.fresh_run(), NOON, fill)
    assert isinstance(ended, Ended)
    return ended.follows


async def claimed(shelf: Shelf, lane: LaneKey = ROOM) -> LiveRun:
    """The compaction of a lane that has become full."""
    follows = await turn(shelf, "400", lane)
    assert follows is not None
    assert follows.kind == "compaction"
    return follows


async def finish(shelf: Shelf, run: LiveRun, ending: Compaction, usage: Usage | None = None) -> Compacted:
    store = CompactionStore(shelf.database)
    return await store.finish(run, ending, usage or Usage(), shelf.fresh_run(), NOON)


async def seen(shelf: Shelf, run: LiveRun) -> list[tuple[str, str]]:
    return [(each.kind, each.payload) for each in await shelf.lanes.history(run)]


async def test_what_arrives_at_a_claimed_lane_waits_and_follows_it(shelf: Shelf) -> None:
    run = await claimed(shelf)
    assert await CompactionStore(shelf.database).tokens(run) == 800
    assert [(await shelf.accept(each)).turn.state for each in ("401", "402")] == ["queued", "queued"]
    (last,) = [each.seq for each in await shelf.lanes.history(run) if each.kind == "response"]
    ended = await finish(shelf, run, Shorter(last + 1, NOTES), Usage(7, 3))
    assert ended.outcome == "compacted"
    assert ended.follows is not None
    assert (ended.follows.owner, ended.follows.kind) == ("401", "turn")
    assert await seen(shelf, ended.follows) == [("notes", NOTES)]
    ((kept,),) = await shelf.rows("SELECT tokens FROM spending WHERE lane = :lane", lane=ROOM.id)
    assert kept == 10
    assert (await shelf.rows("SELECT outcome FROM run WHERE kind = 'compaction'"))[0].outcome == "compacted"


async def test_what_stays_word_for_word_follows_the_notes(shelf: Shelf) -> None:
    run = await claimed(shelf)
    before = await shelf.lanes.history(run)
    await finish(shelf, run, Shorter(before[-1].seq, NOTES))
    again = await shelf.started("401")
    assert await seen(shelf, again) == [("notes", NOTES), ("response", before[-1].payload)]
    await shelf.hears_all(again)
    assert [kind for kind, _ in await seen(shelf, again)] == ["notes", "response", "request"]


@pytest.mark.requirement("CTX-8")
async def test_a_history_that_is_cut_loses_its_notes_first(shelf: Shelf) -> None:
    run = await claimed(shelf)
    before = await shelf.lanes.history(run)
    await finish(shelf, run, Shorter(before[-1].seq, NOTES))
    again = await shelf.started("401")
    await shelf.lanes.cut(again, 1)
    assert await seen(shelf, again) == [("response", before[-1].payload)]


async def test_one_that_comes_to_nothing_leaves_the_history(shelf: Shelf) -> None:
    run = await claimed(shelf)
    before = await seen(shelf, run)
    ended = await finish(shelf, run, Unchanged("failed"))
    assert ended == Compacted("failed", None)
    again = await shelf.started("401")
    assert await seen(shelf, again) == before
    assert await answered(shelf, again) is None


async def test_a_lane_whose_captain_died_in_it_is_given_back_and_what_waits_is_started(shelf: Shelf) -> None:
    run = await claimed(shelf)
    await shelf.accept("401")
    assert await shelf.runs.take_over(NOON) == ()
    (follows,) = await shelf.runs.start_waiting([shelf.fresh_run()], NOON)
    assert (follows.owner, follows.kind) == ("401", "turn")
    with pytest.raises(FencedError):
        await finish(shelf, run, Shorter(99, NOTES))
    assert await seen(shelf, follows) != []
    # Not at once again: the compaction may be what killed him.
    assert await answered(shelf, follows) is None


async def test_a_run_of_another_captain_is_taken_over_as_ever_beside_a_claim(shelf: Shelf) -> None:
    await claimed(shelf)
    run = await shelf.started("500", CONVERSATION)
    (taken,) = await shelf.runs.take_over(NOON)
    assert (taken.run, taken.attempt) == (run.run, 2)


async def test_a_stale_claim_is_refused(shelf: Shelf) -> None:
    run = await claimed(shelf)
    with pytest.raises(FencedError):
        await finish(shelf, replace(run, epoch=run.epoch - 1), Shorter(1, NOTES))


async def test_a_lane_that_nobody_returns_to_is_not_compacted(shelf: Shelf) -> None:
    assert await turn(shelf, "400", ONE_SHOT) is None


async def test_turns_that_wait_go_first_until_there_is_no_more_room(shelf: Shelf) -> None:
    run = await shelf.started("400", CONVERSATION)
    for each in ("401", "402"):
        assert (await shelf.accept(each, CONVERSATION, delivery="queue")).turn.state == "queued"
    first = await answered(shelf, run, FULL)
    assert first is not None
    assert first.kind == "turn"
    second = await answered(shelf, first, replace(FULL, tokens=900))
    assert second is not None
    assert second.kind == "compaction"
    ended = await finish(shelf, second, Shorter(1, NOTES))
    assert ended.follows is not None
    assert ended.follows.owner == "402"


async def test_a_lane_of_which_no_limit_is_known_is_left_alone(shelf: Shelf) -> None:
    assert await turn(shelf, "400", fill=Fill(10**9)) is None
    assert await shelf.rows("SELECT * FROM gauge") == []
