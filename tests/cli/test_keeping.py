"""What follows when a program ends by itself."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_cli.keeping import FIRST_WAIT, LONGEST_WAIT, STEADY_AFTER, Again, GiveUp, after_end, ending

BRIEF = timedelta(seconds=1)


@pytest.mark.parametrize("name", ["stage", "captain", "bridge"])
def test_a_configuration_fault_ends_everything(name: str) -> None:
    assert after_end(name, 78, STEADY_AFTER, 0) == GiveUp(78)


@pytest.mark.parametrize(("code", "final"), [(0, 1), (1, 1), (2, 78), (-9, 1)])
def test_the_stage_is_never_started_again(code: int, final: int) -> None:
    assert after_end("stage", code, STEADY_AFTER, 0) == GiveUp(final)


@pytest.mark.parametrize("name", ["captain", "bridge"])
@pytest.mark.parametrize("code", [0, 1, 69, -9, -11])
def test_any_other_end_is_followed_by_a_new_start(name: str, code: int) -> None:
    assert after_end(name, code, BRIEF, 0) == Again(FIRST_WAIT, 1)


def test_the_wait_doubles_up_to_a_bound_and_begins_anew_after_a_steady_run() -> None:
    waits: list[float] = []
    failures = 0
    for _ in range(8):
        again = after_end("captain", 1, BRIEF, failures)
        assert isinstance(again, Again)
        waits.append(again.wait.total_seconds())
        failures = again.failures
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]
    assert after_end("captain", 1, STEADY_AFTER, failures) == Again(FIRST_WAIT, 1)


@given(st.integers(0, 100_000), st.timedeltas(timedelta(0), timedelta(days=9)))
def test_the_wait_is_always_bounded(failures: int, ran: timedelta) -> None:
    again = after_end("bridge", 1, ran, failures)
    assert isinstance(again, Again)
    assert FIRST_WAIT <= again.wait <= LONGEST_WAIT


@pytest.mark.parametrize(
    ("code", "said"),
    [(0, "ended with exit code 0"), (-9, "was killed by SIGKILL"), (-250, "was killed by signal 250")],
)
def test_an_ending_is_said_in_words(code: int, said: str) -> None:
    assert ending(code) == said
