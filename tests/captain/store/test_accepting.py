"""A delivery is accepted once, for good, and takes its way into the lane in the same transaction."""

import asyncio
import json

import pytest

from clankie_captain.core.turns import Acceptance
from clankie_captain.errors import DeliveryConflictError
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Failed, Replied
from clankie_settings.wire.trigger import Room, Trigger
from tests.captain.core.speech import BOB, NOON, earlier, trigger
from tests.captain.store.shelf import CONVERSATION, DISCORD, OTHER_ROOM, ROOM, Shelf


async def states(shelf: Shelf) -> list[tuple[str, str]]:
    return [(row.id, row.state) for row in await shelf.rows("SELECT id, state FROM delivery ORDER BY lane, seq")]


@pytest.mark.requirement("WIRE-5", "LANE-2")
async def test_the_first_delivery_of_an_idle_lane_owns_a_run(shelf: Shelf) -> None:
    accepted = await shelf.accept("400")
    assert accepted.new
    assert accepted.turn.state == "live"
    assert accepted.started is not None
    started = accepted.started
    assert (started.owner, started.presence, started.epoch, started.attempt) == ("400", DISCORD, 1, 1)


@pytest.mark.requirement("WIRE-5")
@pytest.mark.parametrize("settled", [False, True])
async def test_the_same_delivery_is_the_same_turn_even_after_a_restart(shelf: Shelf, settled: bool) -> None:
    first = await shelf.accept("400")
    assert first.started is not None
    if settled:
        await shelf.hears_all(first.started)
        await shelf.ended(first.started)
    reopened = await shelf.reopened()
    again = await reopened.accept("400")
    assert (again.new, again.started, again.turn.turn) == (False, None, first.turn.turn)
    assert isinstance(again.turn.result, Replied) == settled
    await reopened.database.close()


@pytest.mark.requirement("WIRE-5")
async def test_names_addresses_context_and_kind_may_differ_when_a_delivery_comes_again(shelf: Shelf) -> None:
    await shelf.accept("400")
    again = await shelf.accept(
        trigger("400", kind="reply", context=(earlier("1"),), addressed=False, sent_at=NOON.replace(hour=13))
    )
    assert not again.new


@pytest.mark.requirement("WIRE-5")
@pytest.mark.parametrize(
    "other",
    [
        trigger("400", "other words"),
        trigger("400", actor=BOB),
        trigger("400", room=Room(platform="discord", guild_id="200", channel_id="302")),
        trigger("400", room=Room(platform="discord", channel_id="300"), kind="reply"),
    ],
    ids=["body", "actor", "room", "guild"],
)
async def test_other_content_under_a_known_id_is_a_conflict_even_after_a_restart(shelf: Shelf, other: Trigger) -> None:
    await shelf.accept("400")
    with pytest.raises(DeliveryConflictError):
        await shelf.accept(other)
    reopened = await shelf.reopened()
    with pytest.raises(DeliveryConflictError):
        await reopened.accept(other)
    assert await states(reopened) == [("400", "live")]
    await reopened.database.close()


@pytest.mark.requirement("WIRE-5")
async def test_another_presence_may_use_the_same_id(shelf: Shelf) -> None:
    await shelf.accept("400")
    other = await shelf.accept(trigger("400", "other words", presence_id="console"), OTHER_ROOM)
    assert other.new


@pytest.mark.requirement("WIRE-5", "LANE-2")
async def test_many_copies_at_once_are_one_turn(shelf: Shelf) -> None:
    copies = await asyncio.gather(*(shelf.accept("400") for _ in range(20)))
    assert sum(each.new for each in copies) == sum(each.started is not None for each in copies) == 1
    assert len({each.turn.turn for each in copies}) == 1


@pytest.mark.requirement("LANE-2", "LANE-3")
async def test_arrivals_at_once_make_one_run_and_keep_their_order(shelf: Shelf) -> None:
    arrivals: list[Acceptance] = []

    async def arrive(number: int) -> None:
        arrivals.append(await shelf.accept(f"{400 + number}"))

    await asyncio.gather(*(arrive(number) for number in range(12)))
    assert [each.turn.state for each in arrivals] == ["live", *["steer"] * 11]
    rows = await shelf.rows("SELECT id, seq FROM delivery ORDER BY seq")
    assert [(row.id, row.seq) for row in rows] == [
        (each.turn.delivery, number) for number, each in enumerate(arrivals, start=1)
    ]


@pytest.mark.requirement("LANE-3", "VOX-1")
async def test_a_delivery_steers_the_live_run_of_its_lane_and_of_no_other(shelf: Shelf) -> None:
    await shelf.started("400")
    assert (await shelf.accept("401")).turn.state == "steer"
    assert (await shelf.accept("402", OTHER_ROOM)).turn.state == "live"


async def test_a_conversation_queues_what_did_not_ask_to_steer(shelf: Shelf) -> None:
    await shelf.started("400", CONVERSATION)
    assert (await shelf.accept("401", CONVERSATION)).turn.state == "queued"
    assert (await shelf.accept("402", CONVERSATION, delivery="steer")).turn.state == "steer"


async def test_a_queued_delivery_waits_where_rooms_would_steer(shelf: Shelf) -> None:
    await shelf.started("400")
    assert (await shelf.accept("401", delivery="queue")).turn.state == "queued"


async def test_a_full_lane_refuses_and_owes_a_notice_only_where_he_was_addressed(shelf: Shelf) -> None:
    await shelf.started("400")
    for number in range(bounds.QUEUED_TURNS):
        await shelf.accept(f"w{number}")
    for delivery, addressed in (("full-1", True), ("full-2", False)):
        refused = (await shelf.accept(delivery, addressed=addressed)).turn
        assert isinstance(refused.result, Failed)
        assert refused.result.code is FailureCode.LANE_QUEUE_FULL
        assert (refused.result.notice, refused.result.owed, refused.result.run_id) == (addressed, addressed, None)
    assert (await shelf.accept("402", OTHER_ROOM)).turn.state == "live"


async def test_a_refused_delivery_stays_refused_once_the_lane_is_free(shelf: Shelf) -> None:
    run = await shelf.started("400")
    for number in range(bounds.QUEUED_TURNS):
        await shelf.accept(f"w{number}")
    await shelf.accept("full")
    await shelf.hears_all(run)
    await shelf.ended(run)
    assert isinstance((await shelf.accept("full")).turn.result, Failed)


@pytest.mark.requirement("LANE-12")
async def test_a_lane_is_written_with_what_it_is(shelf: Shelf) -> None:
    await shelf.accept("400")
    await shelf.accept("401", CONVERSATION)
    rows = await shelf.rows("SELECT id, kind, authority, live_run IS NOT NULL AS live FROM lane ORDER BY id")
    assert [tuple(row) for row in rows] == [
        (CONVERSATION.id, "conversation", "system", 1),
        (ROOM.id, "room", "social", 1),
    ]


async def test_the_trigger_is_kept_as_it_came(shelf: Shelf) -> None:
    said = trigger("400", "hällo\u2028\U0001f44d\n```", context=(earlier("1"),), reply_to=earlier("2"))
    run = await shelf.started(said)
    assert (await shelf.lanes.owner(run)).trigger == said
    (row,) = await shelf.rows("SELECT trigger FROM delivery")
    assert "body" in json.loads(row.trigger)


async def test_a_delivery_makes_its_presence_and_room_known(shelf: Shelf) -> None:
    await shelf.accept("400")
    await shelf.accept("401", at=NOON.replace(minute=5))
    await shelf.accept(trigger("402", room=Room(platform="discord", channel_id="301"), kind="dm"), OTHER_ROOM)
    known = await shelf.presences.rooms(DISCORD)
    assert [(each.room.channel_id, each.last_message_id, each.last_state) for each in known.rooms] == [
        ("300", "401", "running"),
        ("301", "402", "running"),
    ]
    assert known.last_alive_at == NOON


async def test_a_known_room_tells_what_became_of_its_last_delivery(shelf: Shelf) -> None:
    run = await shelf.started("400", CONVERSATION)
    await shelf.accept("401", CONVERSATION)
    assert [each.last_state for each in (await shelf.presences.rooms(DISCORD)).rooms] == ["queued"]
    await shelf.hears_all(run)
    follows = (await shelf.ended(run)).follows
    assert follows is not None
    await shelf.hears_all(follows)
    await shelf.ended(follows)
    assert [each.last_state for each in (await shelf.presences.rooms(DISCORD)).rooms] == ["replied"]


async def test_a_presence_that_was_never_heard_of_stood_nowhere(shelf: Shelf) -> None:
    known = await shelf.presences.rooms(PresenceId("console"))
    assert (known.rooms, known.last_alive_at) == ((), None)


async def test_the_newest_sign_of_life_of_a_presence_is_kept(shelf: Shelf) -> None:
    await shelf.presences.alive(DISCORD, NOON)
    await shelf.presences.alive(PresenceId("console"), NOON)
    await shelf.presences.alive(DISCORD, NOON.replace(hour=13))
    assert await shelf.presences.seen() == (("console", NOON), ("discord", NOON.replace(hour=13)))


async def test_a_delivery_is_found_by_its_presence_alone(shelf: Shelf) -> None:
    await shelf.accept("400")
    found = await shelf.deliveries.find(DISCORD, DeliveryId("400"))
    assert (found.delivery, found.state, found.result) == ("400", "live", None)
