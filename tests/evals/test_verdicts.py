"""What code judges: every expectation can fail, and says how."""

from typing import Any

import pytest

from evals.observed import End, Observed
from evals.verdicts import faults
from tests.evals.making import absorbed, case, replied, seen

ONE = {"replies": {"least": 1, "most": 1}}
SILENT, FAILED = End(state="silent"), End(state="failed", code="captain_turn_stalled")


@pytest.mark.parametrize(
    ("expect", "observed"),
    [
        (ONE, seen(replied("tea, bread"), absorbed("first"))),
        ({"contains": ["TEA"], "lacks": ["milk"]}, seen(replied("tea"), absorbed("first"))),
        ({"silence": True, "ends": {"first": ["silent"]}}, seen(SILENT, SILENT)),
        ({"says": {"second": ["tea"]}, "absorbed": {"second": "first"}}, seen(replied("tea"), absorbed("first"))),
        ({"replied_to": ["first"], "tool": "look"}, seen(replied("tea"), absorbed("first"), tools=("look",))),
        ({"ends": {"second": ["failed"]}}, seen(replied("tea"), FAILED)),
        ({"replies": {"least": 2, "most": 2}}, seen(replied("yes"), replied("yes"), "yes", "yes")),
    ],
)
def test_what_is_as_expected_has_no_fault(expect: dict[str, Any], observed: Observed) -> None:
    assert faults(case(**expect), observed) == ()


@pytest.mark.parametrize(
    ("expect", "observed", "said"),
    [
        (ONE, seen(replied("a"), replied("b")), "2 replies instead of 1"),
        (ONE, seen(replied("a"), absorbed("first"), "a", "a"), "2 replies instead of 1"),
        ({"replies": {"least": 1, "most": 2}}, seen(SILENT, SILENT), "0 replies instead of 1 to 2"),
        ({}, seen(replied("a"), absorbed("first"), "another"), "a reply never reached the room"),
        ({"silence": True}, seen(SILENT, SILENT, "oh"), "1 messages where silence was due"),
        ({"contains": ["tea"]}, seen(replied("bread"), absorbed("first")), "lacks “tea”"),
        ({"lacks": ["tea"]}, seen(replied("Tea"), absorbed("first")), "says “tea”"),
        ({"says": {"second": ["b"]}}, seen(replied("b"), replied("a")), "second is not told “b”"),
        ({"says": {"second": ["b"]}}, seen(replied("b"), SILENT), "second is not told “b”"),
        ({"ends": {"first": ["silent"]}}, seen(replied("a"), SILENT), "first was replied instead of silent"),
        ({}, seen(replied("a"), FAILED), "second failed (captain_turn_stalled)"),
        ({}, Observed(ends={"first": SILENT}), "second has no end"),
        ({"replied_to": ["first"]}, seen(SILENT, replied("a")), "second carries a reply"),
        (
            {"absorbed": {"second": "first"}},
            seen(replied("a"), absorbed("another")),
            "second was not absorbed by first",
        ),
        ({"absorbed": {"second": "first"}}, seen(replied("a"), replied("b")), "second was not absorbed by first"),
        ({"tool": "look"}, seen(replied("a"), SILENT), "look was not used"),
    ],
)
def test_what_is_not_as_expected_is_said(expect: dict[str, Any], observed: Observed, said: str) -> None:
    assert said in faults(case(**expect), observed)


def test_a_performance_that_came_to_no_end_has_that_fault_alone() -> None:
    assert faults(case(**ONE), Observed(ends={}, fault="the captain ended")) == ("the captain ended",)
