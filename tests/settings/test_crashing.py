"""Crash points in service."""

from clankie_settings.crashing import Crash, NoCrash


def test_a_crash_point_in_service_is_passed_by() -> None:
    crash: Crash = NoCrash()
    passed = crash.reach("anywhere")
    assert passed is None
