"""No statement of a turn's way reads more rows the older its lane is."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from clankie_captain.core.reply import Missing
from clankie_settings.ids import ActionId, DeliveryId, RunId
from clankie_settings.wire.action import TextUpdate
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from tests.captain.core.speech import NOON, earlier
from tests.captain.store.shelf import ANSWER, DISCORD, Shelf

GROWING = ("delivery", "entry", "run", "receipt", "lane_message", "action")

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
    await shelf.lanes.record(run, [ANSWER], [])
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


async def test_a_scan_of_a_table_that_grows_is_seen(shelf: Shelf) -> None:
    assert await plan(shelf, "SELECT * FROM delivery WHERE actor = ?", ("11",)) == ["SCAN delivery"]


async def test_what_is_owed_is_found_without_reading_what_was_settled(shelf: Shelf, statements: Statements) -> None:
    await shelf.deliveries.owed(DISCORD)
    ((statement, parameters),) = statements.items()
    searches = [each for each in await plan(shelf, statement, parameters) if each.startswith("SEARCH")]
    assert searches
    assert [each for each in searches if "presence=? AND owed=?" not in each] == []
