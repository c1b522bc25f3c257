"""A captain that cannot start says why, and nothing that somebody wrote."""

import json
import logging
import socket
from collections.abc import Generator
from pathlib import Path

import pytest
import structlog

from clankie_captain import app as composition
from clankie_captain import log
from clankie_captain.__main__ import EX_CONFIG, EX_UNAVAILABLE, serve
from clankie_captain.errors import StoreDamagedError, StoreShapeError
from clankie_captain.ports import Loop
from clankie_settings.clock import Clock
from clankie_settings.schema import CaptainSettings
from tests.captain.api.running import settings

pytestmark = pytest.mark.requirement("SEC-2")

SECRET = "a canary of somebody"


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Generator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers = handlers
    root.setLevel(level)


def ended(state: Path, error: Exception) -> int:
    """The exit code of a captain whose loop cannot be made."""

    def broken(_settings: CaptainSettings, _clock: Clock) -> Loop:
        raise error

    log.configure()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return serve(composition.build(settings(state), make_loop=broken), listener)


def test_a_start_that_fails_unexpectedly_names_kind_place_and_remedy_and_no_words(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ended(tmp_path, LookupError(SECRET)) == EX_UNAVAILABLE
    said = capfd.readouterr().err
    assert SECRET not in said
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    (line,) = [each for each in events if each["event"] == "captain.start_failed"]
    assert line["cause"] == "LookupError"
    assert line["place"].startswith("clankie_captain.app:")
    assert "clankie doctor" in line["remedy"]
    assert "clankie captain: the start failed (LookupError at clankie_captain.app:" in said


@pytest.mark.parametrize(
    ("error", "code"), [(StoreShapeError(), EX_CONFIG), (StoreDamagedError(), EX_UNAVAILABLE)], ids=["shape", "damage"]
)
def test_a_start_that_is_refused_says_the_reason_and_whether_another_try_is_of_use(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    assert ended(tmp_path, error) == code
    said = capfd.readouterr().err
    assert f"clankie captain: {error}" in said
    assert "captain.start_failed" not in said
