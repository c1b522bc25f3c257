"""What is no result is not written down."""

from collections.abc import Sequence

import pytest

from evals.campaign import refuse_dead_model
from evals.observed import End
from evals.processes import HouseError
from tests.evals.making import absorbed, replied, result, seen

DEAD = End(state="failed", code="captain_model_failed")


@pytest.mark.parametrize(
    "ends",
    [
        (replied("yes"), DEAD),
        (DEAD, absorbed("first")),
        (End(state="failed", code="not_permitted"), DEAD),
        (End(state="silent"), End(state="silent")),
    ],
)
def test_a_model_that_answers_something_gives_results(ends: Sequence[End]) -> None:
    refuse_dead_model(result("one", "lane").model_copy(update={"observed": seen(ends[0], ends[1])}))


def test_a_model_that_answers_nothing_is_said_instead_of_written_down() -> None:
    with pytest.raises(HouseError, match=r"answers nothing \(captain_model_failed\); check its key"):
        refuse_dead_model(result("one", "lane").model_copy(update={"observed": seen(DEAD, DEAD)}))
