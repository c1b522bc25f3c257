"""The real clock and ids keep what decisions rely on."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from clankie_settings.clock import RandomIds, SystemClock


def test_now_is_aware_and_in_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert now.utcoffset() == timedelta(0)
    assert before <= now <= datetime.now(UTC)


def test_elapsed_never_goes_back() -> None:
    clock = SystemClock()
    read = [clock.elapsed() for _ in range(100)]
    assert read == sorted(read)


@pytest.mark.requirement("FAIL-2")
def test_elapsed_counts_suspension_where_the_platform_can(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def read(source: int) -> int:
        asked.append(source)
        return 1_500_000_000

    monkeypatch.setattr(time, "CLOCK_BOOTTIME", 77, raising=False)
    monkeypatch.setattr(time, "clock_gettime_ns", read)
    assert SystemClock().elapsed() == timedelta(seconds=1.5)
    monkeypatch.delattr(time, "CLOCK_BOOTTIME")
    SystemClock().elapsed()
    assert asked == [77, time.CLOCK_MONOTONIC]


async def test_sleep_lets_awake_time_pass() -> None:
    clock = SystemClock()
    before = time.monotonic()
    await clock.sleep(timedelta(milliseconds=5))
    assert time.monotonic() > before


def test_ids_begin_with_their_kind_and_do_not_repeat() -> None:
    ids = [RandomIds().new("run") for _ in range(100)]
    assert len(set(ids)) == 100
    assert all(each.startswith("run_") and len(each) == 36 for each in ids)
