"""A database is looked at without a change to it, whatever it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clankie_captain.store.inspection import inspect, is_old
from tests.captain.store.shelf import Shelf

pytestmark = pytest.mark.requirement("OPS-9")


def altered(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


async def test_a_database_in_use_is_read_beside_its_captain(shelf: Shelf, tmp_path: Path) -> None:
    found = inspect(tmp_path / "captain.db")
    assert (found.exists, found.fault, found.known, found.lanes) == (True, None, True, 0)
    assert found.revision == found.newest


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert not inspect(tmp_path / "captain.db").exists
    assert not [*tmp_path.iterdir()]


async def test_a_newer_schema_is_told_from_an_older_one(tmp_path: Path) -> None:
    shelf = await Shelf.open(tmp_path / "captain.db")
    await shelf.database.close()
    altered(tmp_path / "captain.db", "UPDATE alembic_version SET version_num = '9999'")
    found = inspect(tmp_path / "captain.db")
    assert (found.revision, found.known, found.fault) == ("9999", False, None)


@pytest.mark.parametrize("content", [b"CANARY " * 1_000, b"SQLite format 3\0" + b"\xff" * 4_096])
def test_a_file_that_is_no_database_of_ours_is_said_and_left(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "captain.db"
    path.write_bytes(content)
    found = inspect(path)
    assert found.fault
    assert "CANARY" not in found.fault
    assert path.read_bytes() == content


def test_an_empty_file_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "captain.db").touch()
    found = inspect(tmp_path / "captain.db")
    assert (found.exists, found.fault, found.revision, found.foreign) == (True, None, None, False)


def test_another_programs_tables_are_seen(tmp_path: Path) -> None:
    altered(tmp_path / "captain.db", "CREATE TABLE places (url TEXT)")
    assert inspect(tmp_path / "captain.db").foreign


@pytest.mark.requirement("DUR-3")
@pytest.mark.parametrize(
    ("version", "old"),
    [
        ((3, 6, 23), False),
        ((3, 7, 0), True),
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 4), False),
    ],
)
def test_a_version_whose_log_can_damage_a_database_is_known(version: tuple[int, int, int], old: bool) -> None:
    assert is_old(version) is old
