"""A store of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.captain.store.shelf import Shelf


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    opened = await Shelf.open(tmp_path / "captain.db")
    yield opened
    await opened.database.close()
