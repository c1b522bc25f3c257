"""Which steered words a boundary takes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.steering import Steered, takeable
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId
from tests.captain.core.speech import NOON

pytestmark = pytest.mark.requirement("LANE-16")

HOLD = bounds.STEER_HOLD.total_seconds()


def steered(number: int, *, ready: bool = True, waited: float = 1.0) -> Steered:
    return Steered(DeliveryId(str(number)), ready, NOON - timedelta(seconds=waited))


def test_nothing_waits_and_nothing_is_taken() -> None:
    assert takeable([], NOON) == ()


def test_all_that_are_ready_are_taken_in_the_order_of_acceptance() -> None:
    assert takeable([steered(3), steered(1), steered(2)], NOON) == ("3", "1", "2")


@pytest.mark.parametrize(
    ("waited", "taken"), [(0.0, ("1",)), (HOLD - 0.001, ("1",)), (HOLD, ("1", "2", "3")), (HOLD * 9, ("1", "2", "3"))]
)
def test_one_without_its_pictures_holds_those_behind_it_for_ten_seconds(waited: float, taken: tuple[str, ...]) -> None:
    assert takeable([steered(1), steered(2, ready=False, waited=waited), steered(3)], NOON) == taken


def test_a_clock_that_went_backwards_holds_nothing_longer() -> None:
    assert takeable([steered(1, ready=False, waited=-3600), steered(2)], NOON) == ("1", "2")


@given(
    st.lists(st.builds(steered, st.integers(), ready=st.booleans(), waited=st.floats(-1e5, 1e5)), max_size=8),
    st.datetimes(timezones=st.just(UTC), min_value=datetime(2025, 1, 1), max_value=datetime(2027, 1, 1)),  # noqa: DTZ001
)
def test_what_is_taken_is_always_a_first_part_of_what_waits(waiting: list[Steered], now: datetime) -> None:
    taken = takeable(waiting, now)
    assert taken == tuple(each.delivery for each in waiting[: len(taken)])


@given(st.lists(st.builds(steered, st.integers(), ready=st.booleans(), waited=st.floats(-1e5, 1e5)), max_size=8))
def test_after_ten_seconds_nothing_is_held_any_more(waiting: list[Steered]) -> None:
    latest = max([NOON, *(each.accepted_at for each in waiting)])
    assert len(takeable(waiting, latest + bounds.STEER_HOLD)) == len(waiting)
