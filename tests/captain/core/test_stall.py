"""When a run counts as dead, on a clock that a test moves as hosts move theirs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.stall import Limits, Verdict, Watch, limits, share, tick, watch
from clankie_settings import bounds

pytestmark = pytest.mark.requirement("FAIL-1", "FAIL-2", "FAIL-3")

START = timedelta(days=3)
TICK = bounds.STALL_TICK
STALL = bounds.STALL_AFTER


class Host:
    """A run under its watchdog; ``minutes`` it stayed alive can be read from ``now``."""

    def __init__(self, limit: Limits | None = None) -> None:
        self.limit = limit or Limits()
        self.now = START
        self.state: Watch = watch(START)
        self.verdict: Verdict = "alive"

    def passes(self, duration: timedelta) -> None:
        self.now += duration

    def ticks(self, *, event: bool = False, received: bool = False) -> Verdict:
        if event:
            self.state = replace(self.state, event=self.now)
        if received:
            self.state = replace(self.state, received=self.now)
        self.state, self.verdict = tick(self.state, self.now, self.limit)
        return self.verdict

    def lives(self, duration: timedelta, *, event: bool = False, received: bool = False) -> timedelta | None:
        """Tick through ``duration``; the time from the start at which the run counted as dead, or None."""
        until = self.now + duration
        while self.now < until:
            self.passes(self.limit.tick)
            if self.ticks(event=event, received=received) == "stalled":
                return self.now - START
        return None


@pytest.mark.requirement("FAIL-1")
def test_five_minutes_without_any_sign_of_life_end_a_run() -> None:
    assert Host().lives(timedelta(hours=1)) == STALL


@pytest.mark.requirement("FAIL-1")
def test_no_clock_caps_a_run_that_gives_events() -> None:
    assert Host().lives(timedelta(hours=48), event=True) is None


@pytest.mark.requirement("FAIL-1")
def test_one_event_in_just_under_five_minutes_is_enough() -> None:
    host = Host()
    for _ in range(20):
        assert host.lives(STALL - TICK) is None
        host.ticks(event=True)


@pytest.mark.requirement("FAIL-3")
def test_bytes_without_an_event_hold_a_run_for_fifteen_minutes() -> None:
    assert Host().lives(timedelta(hours=1), received=True) == bounds.BYTES_HOLD


@pytest.mark.requirement("FAIL-3")
def test_the_fifteen_minutes_of_bytes_count_from_the_last_event() -> None:
    host = Host()
    host.lives(timedelta(minutes=10), event=True)
    assert host.lives(timedelta(hours=1), received=True) == timedelta(minutes=10) + bounds.BYTES_HOLD


@pytest.mark.requirement("FAIL-3")
def test_a_run_whose_bytes_cease_has_five_more_minutes() -> None:
    host = Host()
    host.lives(timedelta(minutes=4), received=True)
    assert host.lives(timedelta(hours=1)) == timedelta(minutes=4) + STALL


@pytest.mark.requirement("FAIL-2")
@pytest.mark.parametrize("slept", [timedelta(seconds=11), timedelta(minutes=6), timedelta(hours=9), timedelta(days=20)])
def test_a_suspended_host_gives_its_run_one_tick_and_then_the_rule_applies(slept: timedelta) -> None:
    host = Host()
    host.lives(timedelta(minutes=1), event=True)
    host.passes(slept)
    assert host.ticks() == "alive"
    host.passes(TICK)
    assert host.ticks() == ("stalled" if slept + TICK >= STALL else "alive")


@pytest.mark.requirement("FAIL-2")
def test_a_stream_that_goes_on_after_a_suspend_lives_on() -> None:
    host = Host()
    host.passes(timedelta(hours=9))
    assert host.ticks() == "alive"
    assert host.lives(timedelta(minutes=30), event=True) is None


@pytest.mark.requirement("FAIL-2")
def test_a_tick_that_is_a_little_late_is_no_suspend() -> None:
    host = Host()
    host.lives(STALL - TICK)
    host.passes(2 * TICK)
    assert host.ticks() == "stalled"


@pytest.mark.requirement("FAIL-2")
@pytest.mark.parametrize("back", [timedelta(seconds=1), timedelta(hours=1)])
def test_a_clock_that_jumps_back_never_ends_a_run(back: timedelta) -> None:
    host = Host()
    host.lives(STALL - TICK)
    host.passes(-back)
    assert host.ticks() == "alive"


@pytest.mark.parametrize("seconds", [0.5, 5.0, 60.0, 300.0, 86_400.0])
def test_a_configured_bound_keeps_the_proportions(seconds: float) -> None:
    chosen = limits(timedelta(seconds=seconds))
    assert chosen.bytes == 3 * chosen.silence
    assert chosen.tick <= bounds.STALL_TICK
    assert chosen.tick * 5 <= chosen.silence
    assert Host(chosen).lives(4 * chosen.silence) == chosen.silence


def test_the_default_limits_are_those_of_the_default_bound() -> None:
    assert limits(bounds.STALL_AFTER) == Limits()


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.booleans()), max_size=60))
def test_a_run_ends_only_when_it_gave_no_sign_of_life_for_the_bound(steps: list[tuple[int, bool, bool]]) -> None:
    host = Host(limits(timedelta(seconds=25)))
    for seconds, event, received in steps:
        host.passes(timedelta(seconds=seconds))
        state = host.state
        if host.ticks(event=event, received=received) == "stalled":
            assert not event
            assert host.now - state.event >= host.limit.silence
            assert not received or host.now - state.event >= host.limit.bytes
            return


@given(st.timedeltas(timedelta(milliseconds=1), timedelta(days=1)), st.timedeltas(timedelta(), timedelta(days=2)))
def test_a_call_of_a_tool_is_over_before_its_run_counts_as_dead(silence: timedelta, most: timedelta) -> None:
    assert share(most, silence) == min(most, silence * bounds.TOOL_SHARE) < silence * bounds.TOOL_END < silence
