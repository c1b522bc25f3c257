"""What a room still lacks: receipts once each, in any order, and the list of what is owed."""

from datetime import timedelta
from itertools import permutations

import pytest

from clankie_captain.core.lane import OPERATOR
from clankie_captain.core.reply import Said, Silence
from clankie_captain.core.run import Broken
from clankie_captain.errors import UnknownDeliveryError
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import Receipt
from tests.captain.core.speech import NOON, trigger
from tests.captain.store.shelf import CONVERSATION, DISCORD, OTHER_ROOM, Shelf

pytestmark = pytest.mark.requirement("WIRE-5")

D400 = DeliveryId("400")


def posted(part: int = 1, of: int = 1, *, seconds: int = 3) -> Receipt:
    return Receipt(part=part, of=of, message_id=f"50{part}", posted_at=NOON + timedelta(seconds=seconds))


def refused(part: int = 1, of: int = 1) -> Receipt:
    return Receipt(part=part, of=of, code="cannot_send", posted_at=NOON)


async def replied(shelf: Shelf, delivery: str = "400") -> None:
    run = await shelf.started(delivery)
    await shelf.hears_all(run)
    await shelf.ended(run)


async def owed(shelf: Shelf, presence: PresenceId = DISCORD) -> list[tuple[str, str | None, int]]:
    listed = (await shelf.deliveries.owed(presence)).turns
    return [(each.delivery_id, each.result.state if each.result else None, each.parts_posted) for each in listed]


async def test_the_last_part_clears_what_is_owed_and_tells_how_long_the_room_waited(shelf: Shelf) -> None:
    await replied(shelf)
    first = await shelf.deliveries.receive(DISCORD, D400, posted(1, 2))
    assert (first.owed, first.latency) == (True, None)
    last = await shelf.deliveries.receive(DISCORD, D400, posted(2, 2, seconds=9))
    assert (last.owed, last.latency) == (False, timedelta(seconds=9))
    found = await shelf.deliveries.find(DISCORD, D400)
    assert found.result is not None
    assert not found.result.owed


async def test_a_receipt_given_again_changes_nothing_and_is_no_second_record(shelf: Shelf) -> None:
    await replied(shelf)
    assert (await shelf.deliveries.receive(DISCORD, D400, posted())).latency is not None
    for _ in range(3):
        again = await shelf.deliveries.receive(DISCORD, D400, posted(seconds=99))
        assert (again.owed, again.latency) == (False, None)
    (row,) = await shelf.rows("SELECT count(*) AS number FROM receipt")
    assert row.number == 1


@pytest.mark.parametrize("order", [*permutations((1, 2, 3))])
async def test_parts_may_be_receipted_in_any_order(shelf: Shelf, order: tuple[int, ...]) -> None:
    await replied(shelf)
    answers = [await shelf.deliveries.receive(DISCORD, D400, posted(part, 3)) for part in order]
    assert [each.owed for each in answers] == [True, True, False]
    assert [each.latency is not None for each in answers] == [False, False, True]
    assert await owed(shelf) == []


async def test_a_part_given_twice_is_not_counted_for_another(shelf: Shelf) -> None:
    await replied(shelf)
    for _ in range(3):
        assert (await shelf.deliveries.receive(DISCORD, D400, posted(1, 3))).owed
    assert await owed(shelf) == [("400", "replied", 1)]


async def test_a_part_that_never_reaches_the_room_ends_the_delivery(shelf: Shelf) -> None:
    await replied(shelf)
    await shelf.deliveries.receive(DISCORD, D400, posted(1, 3))
    ended = await shelf.deliveries.receive(DISCORD, D400, refused(2, 3))
    assert (ended.owed, ended.latency) == (False, None)
    assert await owed(shelf) == []


async def test_a_notice_is_owed_and_receipted_like_a_reply(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run, Broken(FailureCode.CAPTAIN_MODEL_FAILED))
    assert await owed(shelf) == [("400", "failed", 0)]
    assert not (await shelf.deliveries.receive(DISCORD, D400, posted())).owed


@pytest.mark.parametrize("presence", ["console", "second"])
async def test_another_presence_can_neither_see_nor_receipt_a_delivery(shelf: Shelf, presence: str) -> None:
    await replied(shelf)
    other = PresenceId(presence)
    with pytest.raises(UnknownDeliveryError):
        await shelf.deliveries.receive(other, D400, posted())
    with pytest.raises(UnknownDeliveryError):
        await shelf.deliveries.find(other, D400)
    assert await owed(shelf, other) == []
    assert await owed(shelf) == [("400", "replied", 0)]


async def test_what_is_owed_is_listed_oldest_first_and_nothing_else_is(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run, Silence())
    run = await shelf.started("402", at=NOON + timedelta(seconds=2))
    await shelf.accept("401", at=NOON + timedelta(seconds=1))
    await shelf.hears_all(run)
    await shelf.ended(run, Said("an answer"))
    await shelf.started("403", CONVERSATION, at=NOON + timedelta(seconds=3))
    await shelf.accept("404", CONVERSATION, at=NOON + timedelta(seconds=4))
    run = await shelf.started("405", OTHER_ROOM, at=NOON + timedelta(seconds=5))
    await shelf.accept("406", OTHER_ROOM, at=NOON + timedelta(seconds=6))
    await shelf.hears_all(run)
    await shelf.accept("407", OTHER_ROOM, at=NOON + timedelta(seconds=7))
    assert await owed(shelf) == [
        ("402", "replied", 0),
        ("403", None, 0),
        ("404", None, 0),
        ("405", None, 0),
        ("406", None, 0),
        ("407", None, 0),
    ]


async def test_what_is_owed_names_room_and_times_so_that_a_presence_needs_no_memory(shelf: Shelf) -> None:
    said = trigger("400", addressed=False)
    run = await shelf.started(said)
    await shelf.hears_all(run)
    await shelf.settle(run, at=NOON + timedelta(seconds=8))
    reopened = await shelf.reopened()
    (turn,) = (await reopened.deliveries.owed(DISCORD)).turns
    assert (turn.room, turn.message_id, turn.addressed) == (said.room, "400", False)
    assert (turn.accepted_at, turn.settled_at) == (NOON, NOON + timedelta(seconds=8))
    await reopened.database.close()


async def test_receipts_outlive_a_restart(shelf: Shelf) -> None:
    await replied(shelf)
    await shelf.deliveries.receive(DISCORD, D400, posted(1, 2))
    reopened = await shelf.reopened()
    assert await owed(reopened) == [("400", "replied", 1)]
    assert not (await reopened.deliveries.receive(DISCORD, D400, posted(2, 2))).owed
    await reopened.database.close()


@pytest.mark.requirement("DUR-5")
async def test_a_stop_waits_for_fresh_words_that_somebody_is_to_post(shelf: Shelf) -> None:
    await replied(shelf)
    run = await shelf.started(trigger("401", presence_id=OPERATOR), CONVERSATION)
    await shelf.hears_all(run)
    await shelf.ended(run)
    assert [await shelf.deliveries.owing(NOON + timedelta(seconds=late)) for late in (0, 1)] == [1, 0]
