"""Whoever stops Clankie waits longer than Clankie takes: the numbers of settings, Compose and systemd agree."""

import re
from datetime import timedelta

import pytest

from clankie_settings import bounds
from tests.rules.sources import ROOT

ALLOWED = bounds.DRAIN + bounds.STOP_MARGIN
"""What `clankie up` allows one service by default before it kills it."""


def seconds(path: str, pattern: str) -> list[timedelta]:
    """The numbers of seconds that a document gives in this way."""
    found = re.findall(pattern, (ROOT / path).read_text("utf-8"), re.MULTILINE)
    return [timedelta(seconds=int(each)) for each in found]


@pytest.mark.requirement("DUR-5")
def test_a_service_takes_less_time_to_stop_than_it_is_given() -> None:
    connections = timedelta(seconds=5)
    captain = bounds.DRAIN + bounds.DRAIN_TELLING + connections + bounds.ABORT_GRACE
    bridge = bounds.DRAIN + bounds.DRAIN_TELLING
    assert max(captain, bridge) < ALLOWED


@pytest.mark.requirement("DUR-5")
def test_compose_waits_as_long_as_the_services_may_take() -> None:
    (grace,) = seconds("docker-compose.yml", r"^ *stop_grace_period: (\d+)s$")
    assert grace >= ALLOWED


@pytest.mark.requirement("DUR-5")
@pytest.mark.parametrize("path", ["docs/systemd/clankie.service", "docs/operations.md"])
def test_systemd_waits_longer_than_clankie_up_before_it_kills(path: str) -> None:
    (timeout,) = seconds(path, r"^TimeoutStopSec=(\d+)$")
    assert timeout > ALLOWED


@pytest.mark.requirement("DUR-5")
@pytest.mark.parametrize("path", [".env.example", "docs/settings.md", "docs/systemd/clankie.service"])
def test_what_is_written_about_the_drain_is_its_default(path: str) -> None:
    (drain,) = seconds(path, r"CLANKIE_DRAIN_SECONDS\D+(\d+)\b")
    assert drain == bounds.DRAIN
