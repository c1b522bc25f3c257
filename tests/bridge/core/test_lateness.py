"""What comes too late is told by who was addressed and how long ago."""

from datetime import UTC, datetime, timedelta

import pytest

from clankie_bridge.core.lateness import is_answered_still, left_to_post

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.mark.parametrize(
    ("ago", "addressed", "left"),
    [
        (None, True, 6 * HOUR),
        (None, False, 15 * MINUTE),
        (5 * HOUR, True, HOUR),
        (7 * HOUR, True, -HOUR),
        (15 * MINUTE, False, timedelta()),
        (-3 * HOUR, True, 6 * HOUR),
    ],
)
def test_a_reply_may_be_posted_for_hours_where_somebody_waits_and_for_minutes_otherwise(
    ago: timedelta | None, addressed: bool, left: timedelta
) -> None:
    """A clock that is ahead of ours makes nothing younger than new."""
    assert left_to_post(None if ago is None else NOW - ago, NOW, addressed=addressed) == left


@pytest.mark.parametrize(
    ("ago", "addressed", "still"),
    [
        (6 * HOUR, True, True),
        (6 * HOUR + MINUTE, True, False),
        (15 * MINUTE, False, True),
        (16 * MINUTE, False, False),
        (-MINUTE, False, True),
    ],
)
def test_a_missed_message_is_answered_by_the_same_measure(ago: timedelta, addressed: bool, still: bool) -> None:
    assert is_answered_still(NOW - ago, NOW, addressed=addressed) is still
