"""Decoders as the captain has them, with room for a busy machine, and an ffmpeg that makes films for tests."""

from datetime import timedelta

import pytest

from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.film_program import film_program
from tests.captain.media.filming import Studio

PATIENCE = timedelta(seconds=60)


@pytest.fixture
def decoder() -> WorkerDecoder:
    """Real workers; bounds of time that a busy machine does not reach."""
    return WorkerDecoder(film_program(), within=PATIENCE, gathering=PATIENCE / 2)


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """Makes films with the ffmpeg that the captain would use."""
    program = film_program()
    if program is None:
        pytest.skip("no ffmpeg on PATH and none of a package: make setup, or apt-get install ffmpeg")
    return Studio(program, tmp_path_factory.mktemp("films"))
