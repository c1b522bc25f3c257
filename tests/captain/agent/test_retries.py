"""Which failures are worth another try, and when."""

from datetime import timedelta

import pytest
from pydantic_ai import exceptions as library

from clankie_captain.agent.failures import RefusedError
from clankie_captain.agent.retries import FIRST_PAUSE, LONGEST_PAUSE, pause
from clankie_settings import bounds
from clankie_settings.ids import RunId

RUN = RunId("run_1")
DOWN = library.ModelServerError("m", "x")


@pytest.mark.requirement("FAIL-5")
def test_pauses_grow_up_to_a_bound_and_end_after_the_last_retry() -> None:
    pauses = [pause(DOWN, attempt, RUN) for attempt in range(1, bounds.MODEL_RETRIES + 2)]
    assert pauses[-1] is None
    waits = [wait for wait in pauses if wait is not None]
    assert len(waits) == bounds.MODEL_RETRIES
    for number, wait in enumerate(waits):
        assert FIRST_PAUSE * 2**number <= wait <= FIRST_PAUSE * 2**number * 1.25
    assert sum(waits, timedelta()) < bounds.STALL_AFTER


@pytest.mark.requirement("FAIL-5")
def test_runs_do_not_come_back_together() -> None:
    assert len({pause(DOWN, 1, RunId(f"run_{number}")) for number in range(50)}) > 40


@pytest.mark.requirement("FAIL-5")
def test_what_would_fail_again_is_not_tried_again() -> None:
    for error in (RefusedError(), ValueError(), library.UserError("x"), library.UsageLimitExceeded("x")):
        assert pause(error, 1, RUN) is None


@pytest.mark.requirement("FAIL-5")
def test_a_chain_of_models_is_tried_again_only_where_each_of_them_may_come_back() -> None:
    refused = library.ModelRequestRejectedError("m", "x")
    assert pause(library.FallbackExceptionGroup("x", [DOWN, DOWN]), 1, RUN) is not None
    assert pause(library.FallbackExceptionGroup("x", [DOWN, refused]), 1, RUN) is None


def test_the_longest_wait_that_is_granted_leaves_the_watchdog_asleep() -> None:
    assert LONGEST_PAUSE * 1.25 < bounds.STALL_AFTER
