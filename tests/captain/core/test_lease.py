"""One process of a presence at a time, whatever the clock does."""

from datetime import UTC, datetime, timedelta

import pytest

from clankie_captain.core.lease import Asking, Held, granted

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
TTL = timedelta(seconds=15)
SECOND = timedelta(seconds=1)


def first(at: datetime = NOON, *, listening: bool = False) -> Held:
    held = granted(None, Asking("one", TTL, listening), at, 7)
    assert held is not None
    return held


def test_the_first_process_gets_the_lease_and_has_missed_nothing() -> None:
    assert first() == Held("one", 1, NOON, TTL, last_action=7)


def test_a_renewal_keeps_the_fence_and_notes_that_nothing_escapes() -> None:
    renewed = granted(first(), Asking("one", TTL, listening=True), NOON + SECOND, 99)
    assert renewed == Held("one", 1, NOON + SECOND, TTL, NOON + SECOND, None, 7)
    assert granted(renewed, Asking("one", TTL), NOON + 2 * SECOND, 99) == Held(
        "one", 1, NOON + 2 * SECOND, TTL, NOON + SECOND, None, 7
    )


@pytest.mark.parametrize("after", [timedelta(), TTL - SECOND / 1000])
def test_a_second_process_is_refused_while_the_lease_lives(after: timedelta) -> None:
    """C74."""
    assert granted(first(), Asking("two", TTL), NOON + after, 8) is None
    assert granted(first(), Asking("two", timedelta()), NOON + after, 8) is None


@pytest.mark.parametrize("after", [TTL, timedelta(days=1), -SECOND])
def test_a_lease_that_ran_out_or_is_from_before_a_step_back_of_the_clock_is_taken_over(after: timedelta) -> None:
    taken = granted(first(listening=True), Asking("two", TTL, listening=True), NOON + after, 8)
    assert taken == Held("two", 2, NOON + after, TTL, NOON + after, NOON, 8)


def test_a_lease_is_taken_over_at_once_from_a_process_that_surely_lives_no_more() -> None:
    taken = granted(first(), Asking("two", TTL, replaces="one"), NOON + SECOND, 8)
    assert taken is not None
    assert (taken.holder, taken.fence) == ("two", 2)
    assert granted(taken, Asking("three", TTL, replaces="one"), NOON + SECOND, 8) is None


def test_a_lease_that_was_given_back_is_free() -> None:
    back = granted(first(), Asking("one", timedelta()), NOON + SECOND, 8)
    assert back is not None
    assert not back.lives(NOON + SECOND)
    assert granted(back, Asking("two", TTL), NOON + SECOND, 8) is not None
