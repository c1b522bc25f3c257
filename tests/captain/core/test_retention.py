"""What is old enough to go: at a boundary, by time that has certainly passed."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.retention import Written, cut, cutoff, proven, snowflake, snowflake_moment
from tests.captain.core.speech import NOON

pytestmark = pytest.mark.requirement("OPS-11")

DAY = timedelta(days=1)
YEAR = 365 * DAY


@st.composite
def lanes(draw: st.DrawFn) -> list[Written]:
    moments = sorted(draw(st.lists(st.integers(0, 20), max_size=12)))
    runs = draw(st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=12, max_size=12))
    return [Written(3 * n, runs[n], NOON + day * DAY) for n, day in enumerate(moments)]


@given(lanes(), st.integers(0, 20), st.booleans())
def test_nothing_young_goes_and_no_run_is_cut_in_two(entries: list[Written], day: int, whole: bool) -> None:
    before = NOON + day * DAY
    stays = cut(entries, before, whole=whole)
    gone = [each for each in entries if stays is not None and each.seq < stays]
    left = entries[len(gone) :]
    assert all(each.at < before for each in gone)
    assert not (gone and left and left[0].run and gone[-1].run == left[0].run)


@given(lanes(), st.integers(0, 20))
def test_all_that_is_old_goes_but_for_the_run_that_reaches_into_the_present(entries: list[Written], day: int) -> None:
    before = NOON + day * DAY
    stays = cut(entries, before, whole=True)
    kept_old = [each for each in entries if each.at < before and (stays is None or each.seq >= stays)]
    young = [each for each in entries if each.at >= before]
    assert not kept_old or {each.run for each in kept_old} == {young[0].run}


@pytest.mark.parametrize("passed", [timedelta(), 30 * DAY])
def test_a_clock_that_jumps_ahead_proves_nothing(passed: timedelta) -> None:
    assert proven(NOON, passed, NOON + passed + YEAR, []) == NOON + passed


def test_what_a_captain_rested_is_proven_by_discord() -> None:
    message = snowflake(NOON + YEAR)
    assert proven(NOON, timedelta(), NOON + YEAR + DAY, [message, "c-1", "42"]) == NOON + YEAR


def test_it_is_never_later_than_the_clock_says() -> None:
    assert proven(NOON, YEAR, NOON, [snowflake(NOON + YEAR)]) == NOON


def test_where_nothing_is_known_the_clock_is_believed() -> None:
    assert proven(None, timedelta(), NOON, []) == NOON


def test_days_are_counted_from_the_beginning_of_one() -> None:
    assert cutoff(NOON, 7) == datetime(2025, 12, 26, tzinfo=UTC)
    assert cutoff(NOON + timedelta(hours=11), 7) == cutoff(NOON, 7)


def test_an_id_of_discords_tells_its_moment() -> None:
    # From Discord's documentation of snowflakes.
    assert snowflake_moment("175928847299117063") == datetime(2016, 4, 30, 11, 18, 25, 796000, tzinfo=UTC)
    assert snowflake_moment(snowflake(NOON)) == NOON


@pytest.mark.parametrize("message", ["", "400", "c-1", "1" * 21, "²" * 18])
def test_any_other_id_tells_none(message: str) -> None:
    assert snowflake_moment(message) is None
