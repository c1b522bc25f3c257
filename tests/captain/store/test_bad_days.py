"""What the store does on a bad day: it refuses in words that help, or comes back with all that was committed."""

import asyncio
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Collection, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from clankie_captain.errors import (
    StoreDamagedError,
    StoreError,
    StoreForeignError,
    StoreFullError,
    StoreLockedError,
    StoreShapeError,
    StoreUnwritableError,
    StoreVersionError,
)
from clankie_captain.store import engine
from clankie_captain.store.engine import Database, StateLock
from clankie_captain.store.schema import migrate
from tests.captain.core.speech import trigger
from tests.captain.store.shelf import OTHER_ROOM, Shelf, address
from tests.disks import Disk, small_disk

pytestmark = pytest.mark.requirement("DUR-3")

MIB = 1024 * 1024
LONG = "x" * 16_000

WRITER = """
import asyncio, sys
from pathlib import Path
from tests.captain.store.shelf import Shelf

async def main():
    shelf = await Shelf.open(Path(sys.argv[1]))
    for number in range(1_000_000):
        await shelf.accept(str(number))
        print(number, flush=True)

asyncio.run(main())
"""


def killed_writer(path: Path, commits: int = 40) -> int:
    """A process that accepts deliveries 0, 1, 2 … until it is killed; how many it surely committed."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        # The log's lines are among them.
        told = 0
        while told < commits:
            line = process.stdout.readline()
            assert line, "the writer ended by itself"
            told += line.strip().isdigit()
        process.kill()
    return told


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[Shelf]:
    shelf = await Shelf.open(path)
    try:
        yield shelf
    finally:
        await shelf.database.close()


async def deliveries(shelf: Shelf) -> list[str]:
    """The ids in the order of acceptance."""
    return [row.id for row in await shelf.rows("SELECT id FROM delivery ORDER BY lane, seq")]


@contextmanager
def full_disk(tmp_path: Path, size: int = MIB) -> Generator[Disk]:
    with small_disk(tmp_path / "disk", size) as disk:
        yield disk


async def test_a_disk_that_is_full_at_the_start_is_refused_and_no_trouble_once_there_is_room(tmp_path: Path) -> None:
    with full_disk(tmp_path) as disk:
        disk.fill(leave=8 * 1024)
        with pytest.raises(StoreFullError, match="make room"):
            await Shelf.open(disk.folder / "captain.db")
        disk.empty()
        async with opened(disk.folder / "captain.db") as shelf:
            assert (await shelf.accept("400")).new


async def test_a_disk_that_fills_up_under_a_captain_costs_the_transaction_and_nothing_that_was_committed(
    tmp_path: Path,
) -> None:
    with full_disk(tmp_path) as disk:
        async with opened(disk.folder / "captain.db") as shelf:
            run = await shelf.started("400")
            disk.fill()
            refused = 0
            for number in range(401, 430):
                try:
                    await shelf.accept(trigger(str(number), LONG), OTHER_ROOM)
                except StoreFullError:
                    refused += 1
            assert refused
            kept = await deliveries(shelf)
            disk.empty()
            assert (await shelf.accept("500", OTHER_ROOM)).new
            await shelf.ended(run)
            assert await deliveries(shelf) == [*kept, "500"]
        async with opened(disk.folder / "captain.db") as shelf:
            assert await deliveries(shelf) == [*kept, "500"]
        with closing(sqlite3.connect(disk.folder / "captain.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_a_captain_that_was_killed_on_a_full_disk_starts_once_there_is_room(tmp_path: Path) -> None:
    with full_disk(tmp_path, 4 * MIB) as disk:
        path = disk.folder / "captain.db"
        committed = killed_writer(path)
        disk.fill()
        try:
            async with opened(path) as shelf:
                assert len(await deliveries(shelf)) >= committed
        except StoreFullError:
            pass
        disk.empty()
        async with opened(path) as shelf:
            assert (await deliveries(shelf))[:committed] == [str(number) for number in range(committed)]


async def test_a_read_only_disk_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with full_disk(tmp_path) as disk:
        async with opened(disk.folder / "captain.db") as shelf:
            await shelf.accept("400")
        disk.allow_writing(False)
        with pytest.raises(StoreError, match="make the state folder writable"):
            StateLock(disk.folder / "captain.lock")
        with pytest.raises(StoreUnwritableError, match="on a writable disk"):
            await Shelf.open(disk.folder / "captain.db")
        disk.allow_writing(True)
        async with opened(disk.folder / "captain.db") as shelf:
            assert await deliveries(shelf) == ["400"]


@pytest.mark.parametrize("harm", ["cut", "cut amid a frame", "garbled", "zeroed", "gone"])
async def test_a_torn_log_costs_at_most_its_torn_end(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "captain.db"
    committed = killed_writer(path)
    content = wal(path).read_bytes()
    end = 5 * 4_096
    match harm:
        case "cut":
            wal(path).write_bytes(content[:-end])
        case "cut amid a frame":
            wal(path).write_bytes(content[:-1_000])
        case "garbled":
            wal(path).write_bytes(content[:-end] + random.Random(1).randbytes(end))
        case "zeroed":
            wal(path).write_bytes(content[:-end] + bytes(end))
        case _:
            wal(path).unlink()
    async with opened(path) as shelf:
        kept = await deliveries(shelf) if harm != "gone" else []
        assert kept == [str(number) for number in range(len(kept))]
        assert harm == "gone" or committed - 10 < len(kept) <= committed + 1
        assert (await shelf.accept("after")).new
    async with opened(path) as shelf:
        assert (await deliveries(shelf))[-1] == "after"


async def test_a_missing_index_of_the_log_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "captain.db"
    committed = killed_writer(path)
    path.with_name("captain.db-shm").unlink()
    async with opened(path) as shelf:
        assert len(await deliveries(shelf)) >= committed


async def test_a_log_whose_database_is_gone_is_not_taken_for_the_next_ones(tmp_path: Path) -> None:
    path = tmp_path / "captain.db"
    killed_writer(path)
    path.unlink()
    async with opened(path) as shelf:
        assert await deliveries(shelf) == []
        assert (await shelf.accept("400")).new


async def test_a_damaged_page_is_found_at_the_start_and_the_file_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "captain.db"
    async with opened(path) as shelf:
        for number in range(40):
            await shelf.accept(str(number))
    page = _page_of(path, "delivery")
    with path.open("r+b") as file:
        file.seek((page - 1) * 4_096)
        file.write(b"\xff" * 4_096)
    before = path.read_bytes()
    with pytest.raises(StoreDamagedError, match="put a backup in its place"):
        await Shelf.open(path)
    assert path.read_bytes() == before


async def test_damage_that_is_met_at_work_ends_all_writing(shelf: Shelf) -> None:
    for number in range(40):
        await shelf.accept(str(number))
    with closing(sqlite3.connect(shelf.path)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    page = _page_of(shelf.path, "delivery")
    await shelf.database.transact(lambda connection: connection.exec_driver_sql("PRAGMA shrink_memory").close())
    with shelf.path.open("r+b") as file:
        file.seek((page - 1) * 4_096)
        file.write(b"\xff" * 4_096)
    with pytest.raises(StoreDamagedError):
        await shelf.rows("SELECT count(*) FROM delivery WHERE trigger LIKE '%z%'")
    with pytest.raises(StoreDamagedError):
        await shelf.rows("SELECT 1")


def _page_of(path: Path, table: str) -> int:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]


async def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "captain.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE places (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreForeignError, match="CLANKIE_DATABASE_URL"):
        await Shelf.open(path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["captain.db"]


@pytest.mark.parametrize(
    "change",
    ["ALTER TABLE lane DROP COLUMN quiet_until", "DROP TABLE upkeep", "ALTER TABLE lane ADD COLUMN mood TEXT"],
    ids=["a column is missing", "a table is missing", "a column too many"],
)
async def test_a_database_of_another_build_with_the_same_number_is_refused_with_what_to_do(
    shelf: Shelf, change: str
) -> None:
    await shelf.accept("400")
    await shelf.database.close()
    with closing(sqlite3.connect(shelf.path)) as connection, connection:
        connection.execute(change)
    with pytest.raises(StoreShapeError, match=r"restore a backup, or move captain\.db aside"):
        await Shelf.open(shelf.path)
    with closing(sqlite3.connect(shelf.path)) as connection:
        assert connection.execute("SELECT id FROM delivery").fetchall() == [("400",)]


NEXT = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9998", "{last}", None, None


def upgrade():
    op.add_column("lane", sa.Column("mood", sa.String))
    op.execute("UPDATE lane SET mood = 'calm'")
    {then}
"""


def next_version(tmp_path: Path, then: str = "pass") -> str:
    """The scripts of a captain that is one version further."""
    own = Path(sys.modules[migrate.__module__].__file__ or "").parent / "migrations"
    scripts = tmp_path / "scripts"
    shutil.copytree(own, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    last = max((scripts / "versions").glob("v*.py")).stem[1:5]
    (scripts / "versions" / "v9998_mood.py").write_text(NEXT.format(last=last, then=then))
    return str(scripts)


async def test_a_database_of_an_older_version_is_brought_up_with_all_that_is_in_it(
    shelf: Shelf, tmp_path: Path
) -> None:
    await shelf.accept("400")
    scripts = next_version(tmp_path)
    await shelf.database.transact(lambda connection: migrate(connection, scripts))
    assert [row.mood for row in await shelf.rows("SELECT mood FROM lane")] == ["calm"]
    assert await deliveries(shelf) == ["400"]
    # The captain before it refuses the result, and says which side to upgrade.
    await shelf.database.close()
    with pytest.raises(StoreVersionError, match="newer Clankie; upgrade this captain"):
        await Shelf.open(shelf.path)


async def test_a_migration_that_fails_half_way_leaves_the_older_version(shelf: Shelf, tmp_path: Path) -> None:
    await shelf.accept("400")
    scripts = next_version(tmp_path, "op.execute('SELECT * FROM nothing_of_that_name')")

    def further(connection: Connection) -> None:
        migrate(connection, scripts)

    with pytest.raises(Exception, match="nothing_of_that_name"):
        await shelf.database.transact(further)
    again = await shelf.reopened()
    assert await deliveries(again) == ["400"]
    assert "mood" not in [row.name for row in await again.rows("SELECT name FROM pragma_table_info('lane')")]
    await again.database.close()


async def test_a_lock_that_a_killed_captain_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "captain.lock").write_text("left behind")
    database = await Database.open(address(tmp_path / "captain.db"), StateLock(tmp_path / "captain.lock"))
    await database.close()


async def test_two_state_folders_that_name_one_database_have_one_captain(tmp_path: Path) -> None:
    shared = address(tmp_path / "shared" / "captain.db")
    first = await Database.open(shared, StateLock(tmp_path / "one" / "captain.lock"))
    with pytest.raises(StoreLockedError, match="another captain holds"):
        await Database.open(shared, StateLock(tmp_path / "two" / "captain.lock"))
    await first.close()
    await (await Database.open(shared, StateLock(tmp_path / "two" / "captain.lock"))).close()


async def test_a_look_for_damage_that_takes_too_long_is_cut_short_and_the_start_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "captain.db") as shelf:
        for number in range(40):
            await shelf.accept(trigger(str(number), LONG))
    monkeypatch.setattr(engine, "CHECKED_FOR", timedelta())
    async with opened(tmp_path / "captain.db") as shelf:
        assert len(await deliveries(shelf)) == 40


def workers(before: Collection[threading.Thread]) -> list[str]:
    """The threads that connections live on, of those that came since."""
    fresh = (each for each in threading.enumerate() if each not in before)
    return [each.name for each in fresh if not each.name.startswith(("asyncio", "ThreadPool"))]


async def test_a_start_that_is_stopped_leaves_neither_a_lock_nor_a_thread(tmp_path: Path) -> None:
    path, lock = address(tmp_path / "captain.db"), tmp_path / "captain.lock"
    before = threading.enumerate()
    starting = asyncio.ensure_future(Database.open(path, StateLock(lock)))
    async with asyncio.timeout(60):
        while not workers(before):
            await asyncio.to_thread(workers, before)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        while workers(before):
            await asyncio.to_thread(workers, before)
    StateLock(lock).release()
