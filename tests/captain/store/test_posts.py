"""Words that nobody waits for: stored with their settlement, and kept until they are acknowledged."""

import json

import pytest

from clankie_captain.core.reply import Said, Silence
from clankie_captain.core.run import Broken
from clankie_captain.core.turns import LiveRun
from clankie_settings.ids import ActionId, RunId, TurnId
from clankie_settings.wire.action import Post
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.result import Absorbed, Failed, Replied
from clankie_settings.wire.trigger import ContextMessage, Room
from tests.captain.core.speech import NOON, trigger
from tests.captain.store.shelf import DISCORD, ROOM, Shelf

ASKED_BEFORE = ContextMessage(
    message_id="77", author_id="11", author_name="Ann", is_self=False, body="look into it", sent_at=NOON
)


async def reporting(shelf: Shelf, delivery: str = "fork-1") -> LiveRun:
    """The run of a delivery for which nobody waits."""
    said = trigger(delivery, reply_to=ASKED_BEFORE)
    accepted = await shelf.lanes.accept(said, ROOM, TurnId("turn_report"), RunId("run_report"), NOON, awaited=False)
    assert accepted.started is not None
    await shelf.hears_all(accepted.started)
    return accepted.started


@pytest.mark.requirement("DUR-1")
async def test_a_reply_that_nobody_waits_for_is_an_action_of_its_settlement_and_owed_by_no_delivery(
    shelf: Shelf,
) -> None:
    run = await reporting(shelf)
    ended = await shelf.ended(run, Said("It is done."))
    ((presence, result),) = ended.results
    assert isinstance(result, Replied)
    assert (presence, result.owed, ended.posts) == (DISCORD, False, {DISCORD})
    (action,) = await shelf.actions.pending(DISCORD, 0)
    assert (action.name, json.loads(action.payload)["text"]) == ("post", "It is done.")
    post = Post.model_validate_json(action.payload)
    assert (post.delivery_id, post.reply_to, post.room.channel_id) == ("fork-1", "77", "300")
    assert (await shelf.deliveries.owed(DISCORD)).turns == ()


async def test_what_nobody_waits_for_is_not_listed_as_owed_while_it_runs(shelf: Shelf) -> None:
    await reporting(shelf)
    assert (await shelf.deliveries.owed(DISCORD)).turns == ()


@pytest.mark.parametrize("ending", [Silence(), Broken(FailureCode.CAPTAIN_MODEL_FAILED)])
async def test_without_a_reply_there_is_nothing_to_post_and_no_notice(shelf: Shelf, ending: Silence | Broken) -> None:
    ended = await shelf.ended(await reporting(shelf), ending)
    ((_, result),) = ended.results
    assert not result.owed
    assert not (isinstance(result, Failed) and result.notice)
    assert await shelf.actions.pending(DISCORD, 0) == ()


@pytest.mark.requirement("LANE-4")
async def test_somebody_who_joins_such_a_run_is_answered_by_its_post(shelf: Shelf) -> None:
    run = await reporting(shelf)
    await shelf.accept("401")
    await shelf.hears_all(run)
    ended = await shelf.ended(run, Said("Both."))
    assert [type(result) for _, result in ended.results] == [Replied, Absorbed]
    assert len(await shelf.actions.pending(DISCORD, 0)) == 1


async def test_a_reply_that_somebody_waits_for_is_no_action(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    ended = await shelf.ended(run, Said("Here."))
    assert ended.posts == frozenset()
    assert await shelf.actions.pending(DISCORD, 0) == ()


async def test_a_post_is_given_again_until_it_is_acknowledged_and_then_part_of_the_lane(shelf: Shelf) -> None:
    await shelf.ended(await reporting(shelf), Said("It is done."))
    again = await shelf.reopened()
    (action,) = await again.actions.pending(DISCORD, 0)
    post = Post.model_validate_json(action.payload)
    await again.actions.acknowledge(DISCORD, ActionId(post.action_id), ActionReceipt(ok=True, message_id="900"))
    assert await again.actions.pending(DISCORD, 0) == ()
    assert "900" in [row.message_id for row in await again.rows("SELECT message_id FROM lane_message")]
    await again.database.close()


async def test_words_of_no_run_are_stored_once_for_each_id(shelf: Shelf) -> None:
    room = Room(platform="discord", guild_id="200", channel_id="300")
    words = Post(action_id="post_1", delivery_id="fork-2", room=room, text="By the way.")
    first = await shelf.actions.post(DISCORD, words, NOON)
    assert await shelf.actions.post(DISCORD, words, NOON) == first
    assert await shelf.actions.pending(DISCORD, 0) == (first,)
    await shelf.actions.acknowledge(DISCORD, ActionId("post_1"), ActionReceipt(ok=True, message_id="901"))
    assert await shelf.actions.pending(DISCORD, 0) == ()
