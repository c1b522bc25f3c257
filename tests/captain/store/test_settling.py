"""A run settles once: results, log, what waits and what follows, in one transaction."""

import asyncio
import json

import pytest

from clankie_captain.core.reply import Missing, Reply, Said, Silence
from clankie_captain.core.run import Broken, Usage
from clankie_captain.core.settlement import RunOn
from clankie_captain.core.turns import Ended
from clankie_captain.errors import FencedError
from clankie_settings.ids import DeliveryId, PresenceId, RunId
from clankie_settings.wire.action import TextUpdate
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from tests.captain.core.speech import NOON, trigger
from tests.captain.store.shelf import ANSWER, ASKED, CONVERSATION, DISCORD, OTHER_ROOM, ROOM, Shelf

FAULT = Broken(FailureCode.CAPTAIN_MODEL_FAILED, "Fault")


async def result(shelf: Shelf, delivery: str, presence: str = "discord") -> object:
    return (await shelf.deliveries.find(PresenceId(presence), DeliveryId(delivery))).result


@pytest.mark.requirement("LANE-4", "WIRE-4")
async def test_the_owner_is_replied_to_and_heard_ones_are_absorbed(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.hears_all(run)
    ended = await shelf.ended(run)
    assert [(presence, each.state, each.delivery_id) for presence, each in ended.results] == [
        (DISCORD, "replied", "400"),
        (DISCORD, "absorbed", "401"),
    ]
    assert ended.follows is None
    replied, absorbed = await result(shelf, "400"), await result(shelf, "401")
    assert isinstance(replied, Replied)
    assert (replied.text, replied.owed, replied.run_id) == ("an answer", True, run.run)
    assert isinstance(absorbed, Absorbed)
    assert (absorbed.answered_by, absorbed.owed) == ("400", False)


@pytest.mark.requirement("LANE-6", "LANE-7", "LANE-9")
@pytest.mark.parametrize("ending", [Said("an answer"), Silence()])
async def test_an_unheard_steer_lets_the_run_go_on_and_drops_its_unposted_answer(shelf: Shelf, ending: Reply) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ANSWER], [], NOON)
    await shelf.accept("401")
    assert await shelf.settle(run, ending) == RunOn()
    assert [each.kind for each in await shelf.lanes.history(run)] == ["request"]
    assert await shelf.entries("unposted") == [ANSWER.payload]
    assert await result(shelf, "400") is None
    assert [each.delivery for each in await shelf.lanes.take(run, NOON)] == ["401"]


@pytest.mark.requirement("LANE-9")
async def test_a_run_that_goes_on_drops_only_an_answer_of_its_own(shelf: Shelf) -> None:
    earlier = await shelf.started("400")
    await shelf.hears_all(earlier)
    await shelf.lanes.record(earlier, [ANSWER], [], NOON)
    await shelf.ended(earlier)
    run = await shelf.started("401")
    await shelf.accept("402")
    assert await shelf.settle(run) == RunOn()
    assert [each.kind for each in await shelf.lanes.history(run)] == ["request", "response"]
    await shelf.hears_all(run)
    assert await shelf.entries("unposted") == []


@pytest.mark.requirement("LANE-9")
async def test_a_request_that_ended_without_an_answer_stays_in_the_history(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.accept("401")
    assert await shelf.settle(run, Silence()) == RunOn()
    assert [each.kind for each in await shelf.lanes.history(run)] == ["request"]


@pytest.mark.requirement("LANE-5", "LANE-6")
@pytest.mark.parametrize("ending", [FAULT, Missing()])
async def test_a_failed_run_fails_what_it_heard_and_what_it_did_not_hear_follows(
    shelf: Shelf, ending: Reply | Broken
) -> None:
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.hears_all(run)
    await shelf.accept("402")
    await shelf.accept("403")
    ended = await shelf.ended(run, ending)
    assert [(each.state, each.delivery_id) for _, each in ended.results] == [("failed", "400"), ("failed", "401")]
    assert ended.follows is not None
    assert (ended.follows.owner, ended.follows.epoch, ended.follows.attempt) == ("402", run.epoch + 1, 1)
    states = await shelf.rows("SELECT id, state, run FROM delivery ORDER BY seq")
    assert [tuple(row) for row in states[2:]] == [("402", "live", ended.follows.run), ("403", "queued", None)]


@pytest.mark.requirement("LANE-6")
async def test_queued_turns_follow_one_after_the_other_in_their_order(shelf: Shelf) -> None:
    run = await shelf.started("400", CONVERSATION)
    for delivery in ("403", "401", "402"):
        await shelf.accept(delivery, CONVERSATION)
    owners: list[str] = []
    follows = run
    while follows is not None:
        owners.append(follows.owner)
        await shelf.hears_all(follows)
        follows = (await shelf.ended(follows)).follows
    assert owners == ["400", "403", "401", "402"]


async def test_a_run_that_ends_leaves_other_lanes_alone(shelf: Shelf) -> None:
    run, other = await shelf.started("400"), await shelf.started("401", OTHER_ROOM)
    await shelf.hears_all(run)
    await shelf.ended(run)
    assert (await shelf.lanes.owner(other)).delivery == "401"


@pytest.mark.requirement("ROOM-1")
async def test_silence_owes_the_room_nothing(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run, Silence())
    silent = await result(shelf, "400")
    assert isinstance(silent, Silent)
    assert not silent.owed
    assert await shelf.entries("said") == []


@pytest.mark.requirement("OPS-6")
@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        (Said("x"), "replied"),
        (Silence(), "silent"),
        (FAULT, "captain_model_failed"),
        (Missing(), "captain_response_missing"),
    ],
)
async def test_a_run_is_written_down_with_its_outcome_and_its_cost(
    shelf: Shelf, ending: Reply | Broken, outcome: str
) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.runs.settle(run, ending, Usage(7, 6, 5, 4, 3), RunId("run_next"), NOON.replace(minute=1))
    (row,) = await shelf.rows("SELECT outcome, usage, settled_at - started_at AS took FROM run")
    assert (row.outcome, json.loads(row.usage)["input_tokens"], row.took) == (outcome, 7, 60_000_000)


async def test_an_answer_says_which_updates_belong_before_it(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    for number in (1, 2):
        update = TextUpdate(action_id=f"act_{number}", delivery_id="400", text="a moment")
        await shelf.actions.add(run, update, NOON, 3)
    await shelf.ended(run)
    replied = await result(shelf, "400")
    assert isinstance(replied, Replied)
    assert replied.after_action == 2


async def test_a_run_settles_once(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    ends = await asyncio.gather(*(shelf.settle(run, Said(f"answer {n}")) for n in range(5)), return_exceptions=True)
    assert [type(each) for each in ends].count(Ended) == 1
    assert [type(each) for each in ends].count(FencedError) == 4
    assert len(await shelf.entries("said")) == 1


@pytest.mark.requirement("LANE-4", "LANE-6", "WIRE-5")
@pytest.mark.parametrize("ending", [Said("an answer"), FAULT])
async def test_two_presences_that_gave_one_id_each_get_their_own_result(shelf: Shelf, ending: Reply | Broken) -> None:
    run = await shelf.started("400")
    await shelf.accept(trigger("400", "over there", presence_id="second", message_id="4000"))
    await shelf.hears_all(run)
    ended = await shelf.ended(run, ending)
    assert sorted(presence for presence, _ in ended.results) == ["discord", "second"]
    own, other = await result(shelf, "400"), await result(shelf, "400", "second")
    assert isinstance(own, Replied | Failed)
    assert isinstance(other, Absorbed | Failed)


@pytest.mark.requirement("LANE-6")
async def test_an_unheard_turn_waits_again_and_a_failed_one_of_the_same_id_stays_settled(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.accept(trigger("400", "over there", presence_id="second", message_id="4000"))
    ended = await shelf.ended(run, FAULT)
    assert isinstance(await result(shelf, "400"), Failed)
    assert ended.follows is not None
    assert ended.follows.presence == "second"
    again = await shelf.rows("SELECT state FROM delivery WHERE presence = 'discord'")
    assert [row.state for row in again] == ["done"]


@pytest.mark.requirement("LANE-2", "LANE-6")
async def test_a_captain_that_died_is_succeeded_with_a_higher_epoch_and_the_next_attempt(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.hears_all(run)
    await shelf.accept("402")
    reopened = await shelf.reopened()
    (taken,) = await reopened.runs.take_over(NOON)
    assert (taken.run, taken.owner, taken.lane) == (run.run, "400", ROOM)
    assert (taken.epoch, taken.attempt, taken.started_at) == (run.epoch + 1, 2, run.started_at)
    assert (await reopened.lanes.owner(taken)).heard
    assert [each.delivery for each in await reopened.lanes.take(taken, NOON)] == ["402"]
    await reopened.hears_all(taken)
    ended = await reopened.ended(taken)
    assert [each.state for _, each in ended.results] == ["replied", "absorbed", "absorbed"]
    await reopened.database.close()


async def test_every_further_take_over_is_another_attempt(shelf: Shelf) -> None:
    await shelf.started("400")
    attempts = [(await shelf.runs.take_over(NOON))[0] for _ in range(3)]
    assert [(each.attempt, each.epoch) for each in attempts] == [(2, 2), (3, 3), (4, 4)]


async def test_idle_lanes_are_not_taken_over(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run)
    assert await shelf.runs.take_over(NOON) == ()


@pytest.mark.requirement("LANE-6")
async def test_lanes_whose_turns_only_wait_are_started_one_for_each_fresh_id(shelf: Shelf) -> None:
    lanes = [CONVERSATION, OTHER_ROOM, ROOM]
    for number, lane in enumerate(lanes):
        await shelf.started(f"40{number}", lane)
        await shelf.accept(f"41{number}", lane, delivery="queue")
        await shelf.accept(f"42{number}", lane, delivery="queue")
    await shelf.rows("UPDATE delivery SET state = 'done' WHERE state = 'live' RETURNING id")
    await shelf.rows("UPDATE lane SET live_run = NULL RETURNING id")
    first = await shelf.runs.start_waiting([RunId("run_a"), RunId("run_b")], NOON)
    second = await shelf.runs.start_waiting([RunId("run_c"), RunId("run_d")], NOON)
    assert (len(first), len(second)) == (2, 1)
    assert {each.lane for each in (*first, *second)} == set(lanes)
    assert {each.owner for each in (*first, *second)} == {"410", "411", "412"}
    assert await shelf.runs.start_waiting([RunId("run_e")], NOON) == ()


@pytest.mark.requirement("LANE-2")
async def test_a_lane_with_a_live_run_is_not_started_again(shelf: Shelf) -> None:
    await shelf.started("400", CONVERSATION)
    await shelf.accept("401", CONVERSATION)
    assert await shelf.runs.start_waiting([RunId("run_a")], NOON) == ()


async def test_what_the_captain_has_in_hand_is_counted(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.started("402", CONVERSATION)
    await shelf.accept("403", CONVERSATION)
    counts = await shelf.deliveries.counts()
    assert (counts.lanes, counts.live_runs, counts.waiting) == (2, 2, 2)
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ASKED], [], NOON)
    await shelf.ended(run)
    counts = await shelf.deliveries.counts()
    assert (counts.lanes, counts.live_runs, counts.waiting) == (2, 1, 1)
