"""What a run costs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.run import Broken, Usage, room_refused
from clankie_settings.wire.failure import FailureCode

pytestmark = pytest.mark.requirement("OPS-6")

usages = st.builds(Usage, *[st.integers(0, 10**9)] * 5)


@given(usages, usages)
def test_the_cost_of_two_requests_is_the_sum_of_each_count(one: Usage, other: Usage) -> None:
    first, second, both = (json.loads(each.to_json()) for each in (one, other, one.plus(other)))
    assert both == {name: count + second[name] for name, count in first.items()}


def test_a_cost_is_written_as_one_object_of_counts() -> None:
    assert json.loads(Usage(5, 4, 3, 2, 1).to_json()) == {
        "input_tokens": 5,
        "output_tokens": 4,
        "cached_tokens": 3,
        "requests": 2,
        "tool_calls": 1,
    }


def test_no_request_costs_nothing() -> None:
    assert set(json.loads(Usage().to_json()).values()) == {0}


def test_a_broken_run_names_no_cause_unless_it_has_one() -> None:
    assert Broken(FailureCode.CAPTAIN_INTERRUPTED).cause == ""


@pytest.mark.requirement("ROOM-3")
def test_words_that_a_room_did_not_take_are_refused_with_the_rooms_own_code() -> None:
    assert room_refused("no_permission") == "the room: no_permission"
