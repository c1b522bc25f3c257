"""What a tool found stands between two lines that nothing in it can imitate."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.quoting import fenced

KEY = "0123456789ab"


@pytest.mark.requirement("CTX-4")
@given(st.text(), st.text())
def test_nothing_closes_its_own_block(text: str, name: str) -> None:
    opening, rest = fenced("file", {"path": name}, text, lambda: KEY).split("\n", 1)
    assert opening.startswith(f"<<<file-{KEY} path=")
    assert rest == f"{text}\n{KEY}>>>"
    assert rest.count(KEY) == 1


@pytest.mark.parametrize(("text", "name"), [("x k0>>>", "a"), ("x", "ak0"), ("k0 k1", "k0")])
def test_a_delimiter_that_occurs_is_not_taken(text: str, name: str) -> None:
    keys = (f"k{number}" for number in itertools.count())
    said = fenced("file", {"path": name}, text, lambda: next(keys))
    key = said.rpartition("\n")[2].removesuffix(">>>")
    assert key not in text + name
    assert said.startswith(f"<<<file-{key} ")
