"""Stored actions: numbered per presence without a gap, kept until they are acknowledged, at most three a turn."""

import asyncio

import pytest

from clankie_captain.core.turns import Numbered
from clankie_captain.errors import UnknownActionError
from clankie_settings import bounds
from clankie_settings.ids import ActionId, PresenceId
from clankie_settings.wire.action import TextUpdate, read_action
from clankie_settings.wire.receipt import ActionReceipt
from tests.captain.core.speech import NOON, trigger
from tests.captain.store.shelf import DISCORD, OTHER_ROOM, Shelf

pytestmark = pytest.mark.requirement("ROOM-3")

MOST = bounds.UPDATES_A_TURN
DONE = ActionReceipt(ok=True, message_id="500")


def update(number: int, delivery: str = "400") -> TextUpdate:
    return TextUpdate(action_id=f"act_{number}", delivery_id=delivery, text=f"update {number}")


async def numbers(shelf: Shelf, after: int = 0, presence: PresenceId = DISCORD) -> list[int]:
    return [each.seq for each in await shelf.actions.pending(presence, after)]


async def test_actions_are_numbered_from_one_and_kept_as_they_were_given(shelf: Shelf) -> None:
    run = await shelf.started("400")
    given = [await shelf.actions.add(run, update(number), NOON, MOST) for number in (1, 2)]
    assert [each.seq for each in given if each] == [1, 2]
    found = await shelf.actions.pending(DISCORD, 0)
    assert list(found) == given
    assert [read_action(each.name, each.payload) for each in found] == [update(1), update(2)]


async def test_a_fourth_update_of_a_turn_is_refused_and_takes_no_number(shelf: Shelf) -> None:
    run = await shelf.started("400")
    given = await asyncio.gather(*(shelf.actions.add(run, update(number), NOON, MOST) for number in range(9)))
    assert sum(each is not None for each in given) == MOST
    other = await shelf.started("401", OTHER_ROOM)
    assert await shelf.actions.add(other, update(20, "401"), NOON, MOST) == Numbered(
        MOST + 1, "text_update", update(20, "401").model_dump_json()
    )


async def test_the_updates_of_an_interrupted_turn_count_for_its_next_attempt(shelf: Shelf) -> None:
    run = await shelf.started("400")
    for number in range(MOST):
        await shelf.actions.add(run, update(number), NOON, MOST)
    (again,) = await shelf.runs.take_over(NOON)
    assert await shelf.actions.add(again, update(9), NOON, MOST) is None


async def test_each_presence_has_numbers_of_its_own(shelf: Shelf) -> None:
    one = await shelf.started("400")
    other = await shelf.started(trigger("400", presence_id="second"), OTHER_ROOM)
    await shelf.actions.add(one, update(1), NOON, MOST)
    await shelf.actions.add(other, update(2), NOON, MOST)
    assert await numbers(shelf) == await numbers(shelf, 0, PresenceId("second")) == [1]


async def test_numbers_go_on_after_a_restart_and_after_all_were_acknowledged(shelf: Shelf) -> None:
    run = await shelf.started("400")
    await shelf.actions.add(run, update(1), NOON, MOST)
    await shelf.actions.acknowledge(DISCORD, ActionId("act_1"), DONE)
    reopened = await shelf.reopened()
    (run,) = await reopened.runs.take_over(NOON)
    given = await reopened.actions.add(run, update(2), NOON, MOST)
    assert given is not None
    assert given.seq == 2
    await reopened.database.close()


async def test_what_was_acknowledged_is_not_pending_and_the_rest_goes_on_behind_a_number(shelf: Shelf) -> None:
    run = await shelf.started("400")
    for number in (1, 2, 3):
        await shelf.actions.add(run, update(number), NOON, MOST)
    await shelf.actions.acknowledge(DISCORD, ActionId("act_2"), DONE)
    assert await numbers(shelf) == [1, 3]
    assert await numbers(shelf, 1) == [3]
    assert await numbers(shelf, 3) == []


async def test_pending_actions_come_so_many_at_a_time(shelf: Shelf) -> None:
    run = await shelf.started("400")
    for number in range(5):
        await shelf.actions.add(run, update(number), NOON, 99)
    assert [each.seq for each in await shelf.actions.pending(DISCORD, 1, most=2)] == [2, 3]


@pytest.mark.parametrize("first", [DONE, ActionReceipt(ok=False, code="superseded")])
async def test_an_action_is_acknowledged_once_and_a_later_receipt_changes_nothing(
    shelf: Shelf, first: ActionReceipt
) -> None:
    run = await shelf.started("400")
    await shelf.actions.add(run, update(1), NOON, MOST)
    await shelf.actions.acknowledge(DISCORD, ActionId("act_1"), first)
    before = await shelf.rows("SELECT * FROM action")
    for again in (first, ActionReceipt(ok=not first.ok, code="late")):
        await shelf.actions.acknowledge(DISCORD, ActionId("act_1"), again)
    assert await shelf.rows("SELECT * FROM action") == before
    assert before[0].state == ("done" if first.ok else "refused")


@pytest.mark.parametrize(("presence", "action"), [("second", "act_1"), ("discord", "act_9")])
async def test_an_action_of_another_presence_or_of_nobody_is_unknown(shelf: Shelf, presence: str, action: str) -> None:
    run = await shelf.started("400")
    await shelf.actions.add(run, update(1), NOON, MOST)
    with pytest.raises(UnknownActionError):
        await shelf.actions.acknowledge(PresenceId(presence), ActionId(action), DONE)
    assert await numbers(shelf) == [1]
