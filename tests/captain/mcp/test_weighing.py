"""What a message weighs is told without parsing it, and no text in it weighs anything."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clankie_captain.mcp.weighing import LIGHT, Scales
from clankie_settings import bounds


@settings(max_examples=15)
@given(st.lists(st.text(), max_size=20))
def test_what_stands_in_a_text_is_not_counted(texts: list[str]) -> None:
    padding = '{"a": [1, 2, 3], "b\\\\": "c"},' * 40_000
    assert Scales().takes(json.dumps({"texts": texts, "text": padding}).encode())


@pytest.mark.parametrize("part", ["1", "{}", '"x"', "[]", f'"{"a" * 120}"'])
def test_a_message_of_too_many_parts_is_refused_and_a_small_one_never(part: str) -> None:
    junk = f"[{', '.join([part] * 17_000)}]".encode()
    assert not Scales().takes(junk)
    assert Scales().takes(junk[:LIGHT])


def test_lines_of_one_message_are_weighed_together_and_the_next_one_anew() -> None:
    scales, line = Scales(), json.dumps(["x"] * 6_000).encode()
    assert scales.takes(line)
    assert not scales.takes(line)
    scales.clear()
    assert scales.takes(line)
    assert scales.has_room(b"x" * 1_000_000)
    assert not scales.has_room(b"x" * bounds.SERVER_MESSAGE_BYTES)
