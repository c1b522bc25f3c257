"""C49: too many refusals end all asking for a while, long before Discord's ban."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clankie_bridge.core.breaker import HELD_FOR, REFUSALS, SPAN, Breaker

START = timedelta(hours=1)
BAN = 10_000


def refused(times: int, status: int = 403, breaker: Breaker | None = None, every: timedelta = timedelta()) -> Breaker:
    breaker = breaker or Breaker()
    for number in range(times):
        breaker = breaker.after(status, START + number * every)
    return breaker


@pytest.mark.parametrize("status", [401, 403, 429])
def test_refusals_beyond_the_bound_hold_everything_back_for_a_while(status: int) -> None:
    assert refused(REFUSALS - 1, status).wait(START) == timedelta()
    held = refused(REFUSALS, status)
    assert held.wait(START) == HELD_FOR
    assert held.wait(START + HELD_FOR) == timedelta()
    # Then it is counted anew.
    assert held.after(status, START + HELD_FOR).wait(START + HELD_FOR) == timedelta()


@pytest.mark.parametrize("status", [200, 204, 400, 404, 500, 502])
def test_whatever_else_is_answered_counts_for_nothing(status: int) -> None:
    assert refused(2 * REFUSALS, status) == Breaker()


def test_a_limit_that_others_used_up_counts_for_nothing() -> None:
    breaker = Breaker()
    for _ in range(2 * REFUSALS):
        breaker = breaker.after(429, START, shared=True)
    assert breaker == Breaker()


def test_refusals_that_are_far_between_are_forgotten() -> None:
    assert refused(2 * REFUSALS, every=SPAN / REFUSALS * 2).until == timedelta()


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 5_000), max_size=80))
def test_whoever_asks_only_when_let_is_never_banned(pauses_ms: list[int]) -> None:
    """Bursts of refusals with any pauses: never does a span hold what gets an address banned."""
    breaker, now, asked = Breaker(), START, list[tuple[timedelta, int]]()
    for pause in pauses_ms:
        now += max(timedelta(milliseconds=pause), breaker.wait(now))
        for number in range(300):
            if breaker.wait(now):
                asked.append((now, number))
                break
            breaker = breaker.after(429, now)
        else:
            asked.append((now, 300))
        assert sum(count for at, count in asked if at > now - SPAN) <= 2 * REFUSALS < BAN
