"""Rates and waits."""

from datetime import timedelta

from clankie_bridge.core.nonce import nonce
from clankie_bridge.core.pace import ZERO, Backoff, Bucket, Rate

SECOND = timedelta(seconds=1)
ROOM = Rate(burst=5, every=SECOND)


def test_a_burst_passes_and_then_one_each_interval() -> None:
    bucket, waits = Bucket(ROOM), list[timedelta]()
    for _ in range(8):
        bucket, wait = bucket.take(SECOND * 100)
        waits.append(wait)
    assert waits == [ZERO] * 5 + [SECOND, SECOND * 2, SECOND * 3]


def test_an_idle_bucket_has_its_whole_burst_again_and_no_more() -> None:
    bucket = Bucket(ROOM)
    for _ in range(5):
        bucket, _ = bucket.take(ZERO)
    for _ in range(5):
        bucket, wait = bucket.take(SECOND * 60)
        assert wait == ZERO
    assert bucket.take(SECOND * 60)[1] == SECOND


def test_a_held_bucket_lets_one_pass_after_the_wait() -> None:
    bucket, wait = Bucket(ROOM).held(SECOND * 10, SECOND * 3).take(SECOND * 10)
    assert wait == SECOND * 3
    assert bucket.take(SECOND * 13)[1] == SECOND


def test_holding_never_shortens_what_has_to_be_waited_for() -> None:
    held = Bucket(ROOM).held(ZERO, SECOND * 60)
    assert held.held(ZERO, SECOND) == held


def test_waits_double_to_a_longest_and_jitter_takes_up_to_half() -> None:
    backoff = Backoff(SECOND, SECOND * 5)
    assert [backoff.wait(attempt, 0.0) for attempt in (0, 1, 2, 3, 10_000)] == [
        SECOND,
        SECOND * 2,
        SECOND * 4,
        SECOND * 5,
        SECOND * 5,
    ]
    assert backoff.wait(0, 1.0) == SECOND / 2


def test_each_purpose_room_subject_and_part_has_its_own_nonce_that_discord_takes() -> None:
    made = {
        nonce("reply", "1", "2", 1),
        nonce("reply", "1", "2", 2),
        nonce("update", "1", "2", 1),
        nonce("notice", "1", "2", 1),
        nonce("reply", "1", "22", 1),
        nonce("reply", "11", "2", 1),
    }
    assert len(made) == 6
    assert all(len(each) <= 25 and each.isalnum() for each in made)
    assert nonce("reply", "1", "2", 1) == nonce("reply", "1", "2", 1)
