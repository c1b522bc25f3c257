"""What was missed is told by what the captain has, by who last listened, and by age."""

from datetime import UTC, datetime, timedelta

import pytest

from clankie_bridge.core.message import first_id_at
from clankie_bridge.core.missed import MARGIN, TALK_BEFORE, Channel, Gap, gap, may_hold_something, with_talk

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def id_ago(ago: timedelta) -> str:
    return first_id_at(NOW - ago)


OLDEST = int(id_ago(6 * HOUR)) - 1


@pytest.mark.parametrize(
    ("recorded", "since", "after"),
    [
        (id_ago(HOUR), None, int(id_ago(HOUR))),
        (id_ago(HOUR), NOW - 2 * HOUR, int(id_ago(HOUR))),
        (id_ago(9 * HOUR), None, OLDEST),
        (None, NOW - HOUR, int(id_ago(HOUR + MARGIN))),
        (None, NOW - 9 * HOUR, OLDEST),
        ("hello-1", NOW - HOUR, int(id_ago(HOUR + MARGIN))),
    ],
)
def test_a_room_is_read_from_the_captains_record_or_from_where_somebody_last_listened(
    recorded: str | None, since: datetime | None, after: int
) -> None:
    last = id_ago(timedelta(minutes=1))
    assert gap(Channel("1", "2", 0, None, last), recorded, since, NOW) == Gap(after, int(last))
    assert gap(Channel("1", None), recorded, since, NOW) == Gap(after, None)


def test_nothing_is_missed_where_he_never_was_or_nothing_is_newer() -> None:
    last = id_ago(HOUR)
    assert gap(Channel("1", "2", 0, None, last), None, None, NOW) is None
    assert gap(Channel("1", "2", 0, None, last), last, None, NOW) is None


@pytest.mark.parametrize(
    ("kind", "ago", "may"),
    [(0, HOUR, True), (11, HOUR, True), (0, 7 * HOUR, False), (15, HOUR, False), (4, HOUR, False), (None, HOUR, False)],
)
def test_only_rooms_with_a_young_message_are_read(kind: int | None, ago: timedelta, may: bool) -> None:
    assert may_hold_something(Channel("1", "2", kind, None, id_ago(ago)), NOW) is may
    assert not may_hold_something(Channel("1", "2", kind), NOW)


def test_talk_is_kept_just_in_front_of_what_may_become_a_turn() -> None:
    talk, turn = False, True
    assert with_talk([]) == ()
    assert with_talk([talk, turn, talk]) == (True, True, False)
    assert with_talk([talk] * (TALK_BEFORE + 2) + [turn]) == (False, False, *[True] * (TALK_BEFORE + 1))
