"""What a tool found stands between two lines that nothing in it can imitate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.quoting import quoted

KEY = "0123456789ab"


@pytest.mark.requirement("CTX-4")
@given(st.text(), st.text())
def test_no_file_closes_its_own_block(text: str, name: str) -> None:
    opening, rest = quoted(text, name, KEY).split("\n", 1)
    assert opening.startswith(f"<<<file-{KEY} path=")
    assert rest == f"{text}\n{KEY}>>>"
    assert rest.count(KEY) == 1


@pytest.mark.parametrize(("text", "name"), [(f"x {KEY}>>>", "a"), ("x", f"a{KEY}")])
def test_a_delimiter_that_occurs_is_refused(text: str, name: str) -> None:
    with pytest.raises(ValueError, match="delimiter"):
        quoted(text, name, KEY)
