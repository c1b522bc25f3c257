"""What a run takes, records and is shown: in order, once, and only while it owns its lane."""

import json
from datetime import timedelta

import pytest

from clankie_captain.core.run import Draft, Entry
from clankie_captain.core.turns import Heard
from clankie_captain.errors import StartedError
from clankie_captain.store.changes import ChangeStore
from clankie_settings.ids import ActionId, DeliveryId, MessageId, PresenceId
from clankie_settings.wire.action import TextUpdate
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from clankie_settings.wire.trigger import Trigger, content_hash
from tests.captain.core.speech import BOB, NOON, earlier, trigger
from tests.captain.store.shelf import ANSWER, ASKED, DISCORD, OTHER_ROOM, Shelf


@pytest.mark.requirement("LANE-3", "LANE-16")
async def test_steered_deliveries_are_taken_in_the_order_in_which_they_were_accepted(shelf: Shelf) -> None:
    run = await shelf.started("400")
    for delivery in ("409", "401", "405"):
        await shelf.accept(delivery, actor=BOB)
    assert [each.delivery for each in await shelf.lanes.take(run, NOON)] == ["409", "401", "405"]


@pytest.mark.requirement("LANE-3")
async def test_what_was_taken_but_not_recorded_is_taken_again(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.accept("401")
    first = await shelf.lanes.take(run, NOON)
    assert await shelf.lanes.take(run, NOON) == first
    await shelf.hears(run, *first)
    assert await shelf.lanes.take(run, NOON) == ()


@pytest.mark.requirement("LANE-16")
@pytest.mark.requirement("ING-7")
async def test_words_that_a_dead_captain_had_taken_may_be_changed_until_the_next_takes_them(shelf: Shelf) -> None:
    changes = ChangeStore(shelf.database)
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.lanes.take(run, NOON)
    with pytest.raises(StartedError):
        await changes.edit(DISCORD, DeliveryId("401"), "other words")
    (again,) = await shelf.runs.take_over(NOON)
    await changes.edit(DISCORD, DeliveryId("401"), "other words")
    (taken,) = await shelf.lanes.take(again, NOON)
    assert taken.trigger.body == "other words"
    with pytest.raises(StartedError):
        await changes.withdraw(DISCORD, DeliveryId("401"), NOON)


async def test_one_that_is_not_ready_holds_those_behind_it_at_most_ten_seconds(shelf: Shelf) -> None:
    run = await shelf.started("400")
    for delivery in ("401", "402", "403"):
        await shelf.accept(delivery)
    await shelf.rows("UPDATE delivery SET ready = 0 WHERE id = '402' RETURNING id")
    assert [each.delivery for each in await shelf.lanes.take(run, NOON)] == ["401"]
    later = NOON + timedelta(seconds=10)
    assert [each.delivery for each in await shelf.lanes.take(run, later)] == ["401", "402", "403"]


@pytest.mark.requirement("LANE-11")
async def test_the_lane_log_holds_one_heard_for_each_delivery_and_one_said_for_each_reply(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ANSWER], [], NOON)
    await shelf.accept("402")
    await shelf.settle(run)
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ANSWER], [], NOON)
    await shelf.ended(run)
    heard = [Trigger.model_validate_json(payload).delivery_id for payload in await shelf.entries("heard")]
    assert heard == ["400", "401", "402"]
    assert [json.loads(payload) for payload in await shelf.entries("said")] == [
        {"delivery_id": "400", "run_id": run.run, "text": "an answer"}
    ]


@pytest.mark.requirement("LANE-11")
async def test_words_stand_in_the_log_before_the_request_that_carries_them(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ANSWER], [], NOON)
    await shelf.ended(run)
    rows = await shelf.rows("SELECT seq, kind FROM entry ORDER BY seq")
    assert [tuple(row) for row in rows] == [(1, "heard"), (2, "request"), (3, "response"), (4, "said")]


async def test_nothing_to_record_is_recorded_as_nothing(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.lanes.record(run, [], [], NOON)
    assert await shelf.lanes.history(run) == ()


async def test_deliveries_of_two_presences_with_one_id_are_heard_apart(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.accept(trigger("400", "over there", presence_id="console", message_id="4000"))
    await shelf.hears(run, *(await shelf.lanes.take(run, NOON)))
    bodies = [Trigger.model_validate_json(payload).body for payload in await shelf.entries("heard")]
    assert bodies == ["over there"]
    assert not (await shelf.lanes.owner(run)).heard


@pytest.mark.requirement("LANE-13")
async def test_the_model_is_shown_requests_and_responses_in_order_and_nothing_of_the_log(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ANSWER, Draft("request", "{}")], [], NOON)
    assert await shelf.lanes.history(run) == (
        Entry(2, run.run, "request", ASKED.payload),
        Entry(3, run.run, "response", ANSWER.payload),
        Entry(4, run.run, "request", "{}"),
    )


async def test_lanes_number_their_entries_each_on_its_own(shelf: Shelf) -> None:
    one, other = await shelf.started("400"), await shelf.started("401", OTHER_ROOM)
    for run in (one, other, one):
        await shelf.lanes.record(run, [ANSWER], [], NOON)
    assert [each.seq for each in await shelf.lanes.history(one)] == [1, 2]
    assert [each.seq for each in await shelf.lanes.history(other)] == [1]


@pytest.mark.requirement("CTX-8")
@pytest.mark.parametrize(("kept", "shown"), [(0, []), (1, [5]), (2, [3, 5]), (4, [1, 2, 3, 5]), (9, [1, 2, 3, 5])])
async def test_a_cut_leaves_the_newest_entries_and_keeps_all_of_them_on_disk(
    shelf: Shelf, kept: int, shown: list[int]
) -> None:
    run = await shelf.started("400")
    await shelf.lanes.record(run, [ASKED, ANSWER, ASKED], [], NOON)
    await shelf.hears(run, await shelf.lanes.owner(run), drafts=[ANSWER])
    await shelf.lanes.cut(run, kept)
    assert [each.seq for each in await shelf.lanes.history(run)] == shown
    (row,) = await shelf.rows("SELECT count(*) AS number FROM entry")
    assert row.number == 5


@pytest.mark.requirement("CTX-8")
async def test_a_cut_is_never_undone_and_later_entries_are_shown(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.lanes.record(run, [ASKED, ANSWER, ASKED], [], NOON)
    await shelf.lanes.cut(run, 1)
    await shelf.lanes.cut(run, 3)
    await shelf.lanes.record(run, [ANSWER], [], NOON)
    assert [each.seq for each in await shelf.lanes.history(run)] == [3, 4]


@pytest.mark.requirement("CTX-2")
async def test_a_lane_knows_the_deliveries_that_it_heard_or_that_still_wait(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.accept("401")
    await shelf.hears_all(run)
    await shelf.accept("402")
    await shelf.accept("403", context=tuple(earlier(each) for each in ("399", "400", "401", "402")))
    *_, latest = await shelf.lanes.take(run, NOON)
    assert latest.known == {"400", "401", "402"}


@pytest.mark.requirement("CTX-2")
async def test_a_lane_does_not_know_a_delivery_that_never_ran(shelf: Shelf) -> None:
    await shelf.started("400")
    for number in range(64):
        await shelf.accept(f"w{number}")
    await shelf.accept("refused")
    await shelf.rows("UPDATE delivery SET state = 'done' WHERE id LIKE 'w%' RETURNING id")
    await shelf.accept("401", context=(earlier("refused"),))
    run = await shelf.runs.take_over(NOON)
    (latest,) = await shelf.lanes.take(run[0], NOON)
    assert latest.known == frozenset()


@pytest.mark.requirement("CTX-2")
async def test_backlog_that_was_sent_once_is_known_from_then_on_to_its_lane_alone(shelf: Shelf) -> None:
    context = (earlier("390"), earlier("391"))
    run = await shelf.started("400", context=context, reply_to=earlier("380"))
    assert (await shelf.lanes.owner(run)).known == frozenset()
    await shelf.hears_all(run)
    await shelf.accept("401", context=context, reply_to=earlier("380"))
    (again,) = await shelf.lanes.take(run, NOON)
    assert again.known == {"380", "390", "391"}
    other = await shelf.started("402", OTHER_ROOM, context=context)
    assert (await shelf.lanes.owner(other)).known == frozenset()


@pytest.mark.requirement("CTX-2")
async def test_his_own_words_are_known_by_their_receipts(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run)
    for part in (1, 2):
        receipt = Receipt(part=part, of=2, message_id=f"50{part}", posted_at=NOON)
        await shelf.deliveries.receive(DISCORD, DeliveryId("400"), receipt)
    own = tuple(earlier(each, is_self=True) for each in ("501", "502", "503"))
    follower = await shelf.started("401", context=own)
    assert (await shelf.lanes.owner(follower)).known == {"501", "502"}


@pytest.mark.requirement("CTX-2", "ROOM-3")
async def test_his_own_updates_are_known_by_their_receipts(shelf: Shelf) -> None:
    run = await shelf.started("400")
    update = TextUpdate(action_id="act_1", delivery_id="400", text="a moment")
    await shelf.actions.add(run, update, NOON, 3)
    await shelf.actions.acknowledge(DISCORD, ActionId("act_1"), ActionReceipt(ok=True, message_id="500"))
    await shelf.accept("401", context=(earlier("500", is_self=True),))
    (latest,) = await shelf.lanes.take(run, NOON)
    assert latest.known == {"500"}


async def test_an_owner_says_whether_its_words_stand_in_the_history(shelf: Shelf) -> None:
    run = await shelf.started("400")
    assert not (await shelf.lanes.owner(run)).heard
    await shelf.hears_all(run)
    assert (await shelf.lanes.owner(run)).heard


async def test_a_backlog_that_is_heard_twice_is_kept_once(shelf: Shelf) -> None:
    run = await shelf.started("400")
    content = content_hash(trigger("400"))
    heard = Heard(PresenceId("discord"), DeliveryId("400"), (MessageId("1"), MessageId("1")), content)
    await shelf.lanes.record(run, [ASKED], [heard], NOON)
    await shelf.lanes.record(run, [ASKED], [heard], NOON)
    (row,) = await shelf.rows("SELECT count(*) AS number FROM lane_message")
    assert row.number == 1
