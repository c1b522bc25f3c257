"""A database is looked at without a change to it, whatever it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clankie_captain.store.inspection import inspect
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


@pytest.mark.parametrize("content", [b"CANARY " * 1_000, b"", b"SQLite format 3\0" + b"\xff" * 4_096])
def test_a_file_that_is_no_database_of_ours_is_said_and_left(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "captain.db"
    path.write_bytes(content)
    found = inspect(path)
    assert found.fault
    assert "CANARY" not in found.fault
    assert path.read_bytes() == content
