"""A captain or a bridge from which a wall was taken away is caught."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.soak.mutants import MUTANTS
from tests.soak.trials import TRIALS, Verdict


@pytest.mark.system
@pytest.mark.timeout(400)
@pytest.mark.parametrize("trial", TRIALS.values(), ids=TRIALS.keys())
def test_a_mutant_is_caught(trial: Callable[[Path, Callable[[str], None]], Verdict], tmp_path: Path) -> None:
    verdict = trial(tmp_path, print)
    assert verdict.caught, verdict.detail


def test_every_mutant_is_tried() -> None:
    assert TRIALS.keys() == MUTANTS.keys()
