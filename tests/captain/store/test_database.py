"""One process, one connection, durable commits, and refusals that say what to do."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from clankie_captain.core.lane import LaneKey
from clankie_captain.errors import StoreDamagedError, StoreError, StoreFullError, StoreLockedError, StoreVersionError
from clankie_captain.store.engine import Database, StateLock
from clankie_captain.store.tables import metadata
from clankie_settings.ids import LaneId
from tests.captain.core.speech import trigger
from tests.captain.store.shelf import Shelf, address

PATIENCE_S = 60.0
LANES, TURNS = 20, 25
# Each turn is written twice: as it is accepted and as it settles.

HOLDER = """
import sys
from pathlib import Path
from clankie_captain.errors import StoreLockedError
from clankie_captain.store.engine import StateLock
try:
    lock = StateLock(Path(sys.argv[1]))
except StoreLockedError as error:
    print("refused", error, flush=True)
else:
    print("held", flush=True)
    sys.stdin.readline()
"""


def holder(path: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HOLDER, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def pragma(database: Database, name: str) -> object:
    def work(connection: Connection) -> object:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()

    return await database.transact(work)


async def test_the_promises_of_the_database_are_read_back(shelf: Shelf) -> None:
    values = {name: await pragma(shelf.database, name) for name in ("journal_mode", "synchronous", "foreign_keys")}
    assert values == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert await pragma(shelf.database, "busy_timeout") == 5_000


@pytest.mark.parametrize("place", ["sqlite+aiosqlite://", "sqlite+aiosqlite:///:memory:"])
async def test_a_database_without_a_write_ahead_log_is_refused(place: str) -> None:
    with pytest.raises(StoreError, match="put the state folder on a local disk"):
        await Database.open(place)


async def test_a_second_process_is_refused_while_the_first_one_lives(tmp_path: Path) -> None:
    path = tmp_path / "state" / "captain.lock"
    lock = StateLock(path)
    with holder(path) as second:
        assert said(second) == (
            f"refused another captain holds {path}; stop it, or give this one its own CLANKIE_STATE"
        )
    lock.release()
    with holder(path) as third:
        assert said(third) == "held"
        with pytest.raises(StoreLockedError):
            StateLock(path)
        third.kill()
    StateLock(path).release()


async def test_a_database_gives_its_lock_back_when_it_closes_or_cannot_open(tmp_path: Path) -> None:
    path = tmp_path / "captain.lock"
    database = await Database.open(address(tmp_path / "captain.db"), StateLock(path))
    with pytest.raises(StoreLockedError):
        StateLock(path)
    await database.close()
    (tmp_path / "broken.db").write_bytes(b"no database " * 400)
    with pytest.raises(StoreError):
        await Database.open(address(tmp_path / "broken.db"), StateLock(path))
    StateLock(path).release()


async def test_a_folder_that_cannot_be_made_is_a_clear_refusal(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StoreError, match="make the state folder writable"):
        StateLock(tmp_path / "state" / "captain.lock")


async def test_a_file_that_is_no_database_is_a_clear_refusal_without_its_content(tmp_path: Path) -> None:
    (tmp_path / "captain.db").write_bytes(b"canary-content " * 400)
    before = (tmp_path / "captain.db").read_bytes()
    with pytest.raises(StoreDamagedError, match="put a backup in its place") as refused:
        await Database.open(address(tmp_path / "captain.db"))
    assert "canary" not in str(refused.value)
    assert (tmp_path / "captain.db").read_bytes() == before


async def test_a_database_of_a_newer_captain_is_refused_and_left_as_it_is(shelf: Shelf) -> None:
    await shelf.accept("400")
    await shelf.rows("UPDATE alembic_version SET version_num = '9999' RETURNING version_num")
    await shelf.database.close()
    before = shelf.path.read_bytes()
    with pytest.raises(StoreVersionError, match="upgrade this captain"):
        await Shelf.open(shelf.path)
    assert shelf.path.read_bytes() == before


async def test_opening_again_migrates_nothing_and_loses_nothing(shelf: Shelf) -> None:
    await shelf.accept("400")
    reopened = await (await shelf.reopened()).reopened()
    assert [row.id for row in await reopened.rows("SELECT id FROM delivery")] == ["400"]
    await reopened.database.close()


async def test_the_tables_are_what_the_migrations_make_of_an_empty_file(shelf: Shelf) -> None:
    def differences(connection: Connection) -> list[Any]:
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata)

    assert await shelf.database.transact(differences) == []


async def test_a_fault_in_a_transaction_takes_all_of_it_back(shelf: Shelf) -> None:
    def half(connection: Connection) -> None:
        connection.execute(text("INSERT INTO lane_message VALUES ('rooms/1', '1')"))
        raise LookupError

    with pytest.raises(LookupError):
        await shelf.database.transact(half)
    assert await shelf.rows("SELECT * FROM lane_message") == []
    await shelf.accept("400")


async def test_a_full_disk_is_an_error_that_leaves_nothing_half_written_and_passes_by(shelf: Shelf) -> None:
    await shelf.accept("400")
    pages = await pragma(shelf.database, "page_count")
    await pragma(shelf.database, f"max_page_count={pages}")
    with pytest.raises(StoreFullError, match="make room"):
        await shelf.accept(trigger("401", "x" * 16_000))
    assert [row.id for row in await shelf.rows("SELECT id FROM delivery")] == ["400"]
    await pragma(shelf.database, "max_page_count=100000")
    assert (await shelf.accept(trigger("401", "x" * 16_000))).new
    rows = await shelf.rows("SELECT id, seq FROM delivery ORDER BY seq")
    assert [tuple(row) for row in rows] == [("400", 1), ("401", 2)]


async def test_a_transaction_is_finished_though_its_caller_is_cancelled(shelf: Shelf) -> None:
    inside, let_go = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        connection.execute(text("INSERT INTO lane_message VALUES ('rooms/1', '1')"))
        inside.set()
        assert let_go.wait(PATIENCE_S)
        connection.execute(text("INSERT INTO lane_message VALUES ('rooms/1', '2')"))

    caller = asyncio.ensure_future(shelf.database.transact(slow))
    assert await asyncio.to_thread(inside.wait, PATIENCE_S)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    let_go.set()
    assert len(await shelf.rows("SELECT * FROM lane_message")) == 2


async def test_closing_waits_for_the_transaction_of_a_cancelled_caller(shelf: Shelf) -> None:
    inside, let_go = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        inside.set()
        assert let_go.wait(PATIENCE_S)
        connection.execute(text("INSERT INTO lane_message VALUES ('rooms/1', '1')"))

    caller = asyncio.ensure_future(shelf.database.transact(slow))
    assert await asyncio.to_thread(inside.wait, PATIENCE_S)
    caller.cancel()
    closing = asyncio.ensure_future(shelf.database.close())
    let_go.set()
    await closing
    reopened = await Shelf.open(shelf.path)
    assert len(await reopened.rows("SELECT * FROM lane_message")) == 1
    await reopened.database.close()


@pytest.mark.requirement("LANE-2")
async def test_twenty_lanes_of_fifty_writes_each_at_once_settle_all_without_a_lock_error(shelf: Shelf) -> None:
    async def room(number: int) -> None:
        lane = LaneKey(LaneId(f"rooms/discord:200:{number}"), "room", "social")
        for turn in range(TURNS):
            await shelf.ended(await shelf.started(f"{number}-{turn}", lane))

    await asyncio.gather(*(room(number) for number in range(LANES)))
    (row,) = await shelf.rows(
        "SELECT count(*) AS runs, count(DISTINCT lane) AS lanes FROM run WHERE outcome = 'replied'"
    )
    assert (row.runs, row.lanes) == (LANES * TURNS, LANES)
    (said_rows,) = await shelf.rows("SELECT count(*) AS number FROM entry WHERE kind = 'said'")
    assert said_rows.number == LANES * TURNS
