"""Two sides that speak different versions refuse each other, and say which one to upgrade."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_settings.wire.version import WIRE_VERSION, Side, disagreement

pytestmark = pytest.mark.requirement("WIRE-7")
SIDES: tuple[Side, Side] = ("captain", "presence")


@pytest.mark.parametrize("own", SIDES)
@pytest.mark.parametrize("theirs", [WIRE_VERSION, str(WIRE_VERSION)])
def test_the_same_version_agrees(own: Side, theirs: str | int) -> None:
    assert disagreement(own, theirs) is None


@pytest.mark.parametrize(
    ("own", "theirs", "sentence"),
    [
        ("captain", 0, "the presence speaks wire version 0, the captain speaks 1: upgrade the presence"),
        ("captain", "2", "the presence speaks wire version 2, the captain speaks 1: upgrade the captain"),
        ("presence", 0, "the captain speaks wire version 0, the presence speaks 1: upgrade the captain"),
        ("presence", "2", "the captain speaks wire version 2, the presence speaks 1: upgrade the presence"),
        ("captain", None, "the presence states no wire version (this side speaks 1): upgrade the presence"),
        ("presence", None, "the captain states no wire version (this side speaks 1): upgrade the captain"),
        ("captain", "one", "the presence states a wire version that is no number: upgrade the presence"),
        ("presence", "", "the captain states a wire version that is no number: upgrade the captain"),
    ],
)
def test_the_sentence_names_the_older_side(own: Side, theirs: str | int | None, sentence: str) -> None:
    assert disagreement(own, theirs) == sentence


@given(st.sampled_from(SIDES), st.one_of(st.none(), st.integers(), st.text(max_size=30)))
def test_both_sides_name_the_same_one_to_upgrade(own: Side, theirs: str | int | None) -> None:
    sentence = disagreement(own, theirs)
    assert sentence is None or sentence.endswith(("upgrade the captain", "upgrade the presence"))
