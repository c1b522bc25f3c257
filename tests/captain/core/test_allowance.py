"""How much one person, one room and everybody together may ask of him."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.allowance import Allowance, Over, Standing, over
from clankie_settings.wire.failure import FailureCode

pytestmark = pytest.mark.requirement("ING-10")

SPENT = FailureCode.BUDGET_REACHED
LIMITED = Allowance(messages=20, room_tokens=1_000, tokens=5_000, exempt=frozenset({"10"}))

counts = st.integers(0, 10_000)
limits = st.one_of(st.none(), counts)
standings = st.builds(Standing, counts, counts, counts, st.booleans(), st.booleans(), st.booleans())


@pytest.mark.parametrize(
    ("standing", "refused"),
    [
        (Standing(), None),
        (Standing(messages=19, room_tokens=999, tokens=4_999), None),
        (Standing(messages=20), Over(SPENT, notice=True)),
        (Standing(messages=20, warned=True), Over(SPENT, notice=False)),
        (Standing(room_tokens=1_000), Over(SPENT, notice=True)),
        (Standing(tokens=5_000), Over(SPENT, notice=True)),
        (Standing(tokens=5_000, told=True), Over(SPENT, notice=False)),
        (Standing(quiet=True), Over(FailureCode.NOT_PERMITTED, notice=False)),
        (Standing(messages=20, quiet=True), Over(FailureCode.NOT_PERMITTED, notice=False)),
    ],
)
def test_what_is_beyond_a_limit_is_refused_and_the_room_told_once(standing: Standing, refused: Over | None) -> None:
    assert over(LIMITED, standing, "11") == refused


@given(standings)
def test_whoever_is_exempt_is_held_back_by_quiet_alone(standing: Standing) -> None:
    assert (over(LIMITED, standing, "10") is None) == (not standing.quiet)


@given(standings, st.text(max_size=3))
def test_where_nothing_is_limited_nothing_is_refused(standing: Standing, actor: str) -> None:
    assert over(Allowance(), replace(standing, quiet=False), actor) is None


@given(st.builds(Allowance, messages=limits, room_tokens=limits, tokens=limits), standings, counts)
def test_using_more_never_opens_a_door_that_was_closed(allowance: Allowance, standing: Standing, more: int) -> None:
    if over(allowance, standing, "11") is not None:
        worse = replace(standing, messages=standing.messages + more, tokens=standing.tokens + more)
        assert over(allowance, worse, "11") is not None
