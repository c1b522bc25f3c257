"""One trial that whoever only speaks and looks may share."""

import sys
from collections.abc import Iterator

import pytest

from tests.cli.launching import Launched, launched


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launched]:
    """A running ``clankie up`` in a folder that looks like a clone to whoever types commands there."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / ".venv").symlink_to(sys.prefix)
    with launched(folder) as up:
        up.line("Ctrl-C stops everything")
        yield up
