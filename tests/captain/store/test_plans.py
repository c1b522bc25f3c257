"""No statement of a turn's way reads more rows the older its lane is."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from clankie_captain.core.allowance import Allowance
from clankie_captain.core.commands import Deed, Halt, Hush, Renew
from clankie_captain.core.lane import LaneKey, loop
from clankie_captain.core.reply import Missing
from clankie_captain.core.run import Usage
from clankie_captain.store.arrivals import Terms
from clankie_captain.store.changes import ChangeStore
from clankie_captain.store.control import ControlStore
from clankie_captain.store.events import EventStore
from clankie_captain.store.lanes import LaneStore
from clankie_settings.ids import ActionId, DeliveryId, LaneId, RunId, TurnId
from clankie_settings.wire.action import TextUpdate
from clankie_settings.wire.command import Command
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from tests.captain.core.speech import ANN, BOB, GUILD_ROOM, NOON, earlier, trigger
from tests.captain.store.shelf import ANSWER, CONVERSATION, DISCORD, ROOM, Shelf

GROWING = ("delivery", "entry", "run", "receipt", "lane_message", "action")

ONE_SHOT = LaneKey(LaneId("turns/discord:200:300~410/turn_x"), "one_shot", "system")
ANOTHER = LaneKey(LaneId("turns/discord:200:300~411/turn_y"), "one_shot", "system")

Statements = dict[str, tuple[Any, ...]]


@pytest.fixture
def statements() -> Iterator[Statements]:
    """Every statement that reaches SQLite, with parameters of one of its uses."""
    seen: Statements = {}

    def note(_connection: Any, _cursor: Any, statement: str, given: Any, _context: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE", "INSERT")):
            seen[statement] = tuple(given[0] if many else given)

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


async def plan(shelf: Shelf, statement: str, parameters: tuple[Any, ...]) -> list[str]:
    def work(connection: Connection) -> list[str]:
        explained = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        return [str(row.detail) for row in explained]

    return await shelf.database.transact(work)


async def whole_way(shelf: Shelf) -> None:
    """A turn with everything that can happen to it, and what a presence asks for."""
    run = await shelf.started("400", context=(earlier("1"),), reply_to=earlier("2"))
    await shelf.hears_all(run)
    await shelf.lanes.record(run, [ANSWER], [], NOON)
    await shelf.accept("401", context=(earlier("1"), earlier("400")))
    await shelf.settle(run)
    await shelf.hears_all(run)
    await shelf.lanes.history(run)
    await shelf.lanes.cut(run, 1)
    await shelf.actions.add(run, TextUpdate(action_id="act_1", delivery_id="400", text="a moment"), NOON, 3)
    await shelf.actions.pending(DISCORD, 0)
    await shelf.actions.acknowledge(DISCORD, ActionId("act_1"), ActionReceipt(ok=True, message_id="500"))
    await shelf.accept("402")
    await shelf.accept("400")
    await shelf.hears_all(run)
    await shelf.ended(run, Missing())
    await shelf.deliveries.find(DISCORD, DeliveryId("400"))
    await shelf.deliveries.receive(DISCORD, DeliveryId("400"), Receipt(part=1, of=1, message_id="501", posted_at=NOON))
    await shelf.deliveries.owed(DISCORD)
    await shelf.presences.rooms(DISCORD)
    await shelf.runs.take_over(NOON)
    await shelf.runs.start_waiting([RunId("run_z")], NOON)


@pytest.mark.requirement("LANE-2")
async def test_no_statement_of_a_turn_scans_a_table_that_grows(shelf: Shelf, statements: Statements) -> None:
    await whole_way(shelf)
    seen = dict(statements)
    assert len(seen) > 20
    scans = [
        f"{detail}: {statement}"
        for statement, parameters in seen.items()
        for detail in await plan(shelf, statement, parameters)
        if any(detail.startswith(f"SCAN {table}") for table in GROWING)
    ]
    assert scans == []


async def manners(shelf: Shelf) -> None:
    """What people do besides speaking, under every limit: changes, cancels, stops, commands, the operator's word."""
    limited = Terms(Allowance(messages=1, room_tokens=100, tokens=100))
    lanes, changes, events = LaneStore(shelf.database, limited), ChangeStore(shelf.database), EventStore(shelf.database)
    control, run = ControlStore(shelf.database), await shelf.started("400")
    for delivery, actor in (("401", BOB), ("402", BOB), ("403", ANN)):
        said = trigger(delivery, "stop" if actor is ANN else "words", actor=actor)
        await lanes.accept(said, ROOM, TurnId(f"turn_{delivery}"), shelf.fresh_run(), NOON)
    await changes.edit(DISCORD, DeliveryId("401"), "other words")
    await changes.withdraw(DISCORD, DeliveryId("401"), NOON)
    await changes.cancel(DISCORD, DeliveryId("400"), NOON)
    for name, deed in (
        ("stop", Deed("a", Halt((run.run,)))),
        ("new", Deed("b", Renew())),
        ("quiet", Deed("c", Hush(NOON))),
    ):
        given = Command.model_validate({"command_id": name, "name": name, "room": GUILD_ROOM, "actor": ANN})
        await control.carry_out(DISCORD, given, ROOM, NOON, lambda _, deed=deed: deed)
    await shelf.runs.settle(run, Missing(), Usage(10, 5), shelf.fresh_run(), NOON)
    await shelf.started("500", CONVERSATION)
    await events.since(CONVERSATION.id, await events.beginning(CONVERSATION.id))


@pytest.mark.requirement("ING-7", "ING-10", "OPS-2", "OPS-5")
async def test_no_statement_of_a_change_a_limit_or_a_tail_scans_a_table_that_grows(
    shelf: Shelf, statements: Statements
) -> None:
    await manners(shelf)
    scans = [
        f"{detail}: {statement}"
        for statement, parameters in dict(statements).items()
        for detail in await plan(shelf, statement, parameters)
        if any(detail.startswith(f"SCAN {table}") for table in (*GROWING, "spending", "command"))
    ]
    assert scans == []


@pytest.mark.requirement("LOOP-2", "GRANT-2")
async def test_no_statement_of_a_loop_or_a_one_shot_scans_a_table_that_grows(
    shelf: Shelf, statements: Statements
) -> None:
    run = await shelf.started("400", loop(ROOM, "0123456789abcdef"))
    alone = await shelf.started("410", ONE_SHOT)
    for delivery, actor, lane in (
        ("401", BOB, run.lane), ("402", BOB, run.lane), ("411", BOB, ANOTHER), ("403", ANN, run.lane),
    ):  # fmt: skip
        await shelf.accept(delivery, lane, actor=actor)
    for each in (run, alone):
        await shelf.hears_all(each)
        await shelf.ended(each)
    await shelf.runs.start_waiting([RunId("run_z")], NOON)
    scans = [
        f"{detail}: {statement}"
        for statement, parameters in dict(statements).items()
        for detail in await plan(shelf, statement, parameters)
        if any(detail.startswith(f"SCAN {table}") for table in GROWING)
    ]
    assert scans == []


@pytest.mark.requirement("LOOP-9")
async def test_what_joined_a_run_before_somebody_began_to_wait_is_not_read(
    shelf: Shelf, statements: Statements
) -> None:
    run = await shelf.started("400", loop(ROOM, "0123456789abcdef"))
    for delivery, actor in (("401", BOB), ("402", ANN)):
        await shelf.accept(delivery, run.lane, actor=actor)
    (counted,) = [each for each in statements.items() if "AS past" in each[0]]
    searches = [each for each in await plan(shelf, *counted) if each.startswith("SEARCH delivery")]
    assert len([each for each in searches if "(lane=? AND state=? AND seq>?)" in each]) == 1
    assert all("lane=?" in each and "state=?" in each for each in searches)


@pytest.mark.requirement("LANE-2")
async def test_no_statement_of_a_turn_reads_what_its_lane_has_settled(shelf: Shelf, statements: Statements) -> None:
    await whole_way(shelf)
    walks = [
        f"{detail}: {statement}"
        for statement, parameters in dict(statements).items()
        for detail in await plan(shelf, statement, parameters)
        if detail.startswith("SEARCH delivery") and detail.endswith(("(lane=?)", "(presence=?)"))
    ]
    assert walks == []


@pytest.mark.requirement("ING-10")
async def test_one_persons_recent_messages_are_found_by_the_index_of_persons(
    shelf: Shelf, statements: Statements
) -> None:
    await manners(shelf)
    counted = [each for each in statements.items() if "delivery.actor = ?" in each[0] and "accepted_at" in each[0]]
    plans = [detail for one in counted if "INSERT" not in one[0] for detail in await plan(shelf, *one)]
    searches = [each for each in plans if each.startswith("SEARCH delivery")]
    assert len(searches) >= 2
    assert [each for each in searches if "delivery_actor (presence=? AND actor=? AND accepted_at>?" not in each] == []


async def test_a_scan_of_a_table_that_grows_is_seen(shelf: Shelf) -> None:
    assert await plan(shelf, "SELECT * FROM delivery WHERE actor = ?", ("11",)) == ["SCAN delivery"]


async def test_what_is_owed_is_found_without_reading_what_was_settled(shelf: Shelf, statements: Statements) -> None:
    await shelf.deliveries.owed(DISCORD)
    ((statement, parameters),) = statements.items()
    searches = [each for each in await plan(shelf, statement, parameters) if each.startswith("SEARCH")]
    assert searches
    assert [each for each in searches if "presence=? AND owed=?" not in each] == []
