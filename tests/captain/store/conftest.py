"""A store of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clankie_captain.store.rooms import RoomLeaseStore
from tests.captain.store.shelf import Shelf
from tests.captain.store.stand import Stand


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    opened = await Shelf.open(tmp_path / "captain.db")
    yield opened
    await opened.database.close()


@pytest.fixture
async def stand(shelf: Shelf) -> Stand:
    """The same, with the rooms that voices hold in it."""
    return Stand(shelf, RoomLeaseStore(shelf.database))
