"""Text made safe without changing what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_bridge.core.text import cleaned, inert_name, is_visible

ANY = st.text(st.characters(codec=None, categories=None), max_size=200)


def test_clean_text_stays_as_it_is() -> None:
    assert cleaned("a\tb\nc é 😀") == "a\tb\nc é 😀"


def test_controls_go_and_half_a_pair_is_shown() -> None:
    assert cleaned("a\x00b\x1b\r\n\x7f\ud83d!") == "ab\n\ufffd!"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ann", "Ann"),
        ("  An\n\u2028n\u202e ", "An n"),
        ("\u2066\x00\u200b", ""),
        ("x" * 101, "x" * 100),
        ("a " * 60, ("a " * 50).strip()),
        ("\ud800Bob", "Bob"),
    ],
)
def test_a_name_is_one_line_that_turns_nothing_around(name: str, shown: str) -> None:
    assert inert_name(name, 100) == shown


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("", False),
        (" \n\x7f", False),
        ("\u200b\u2060\ufeff\u3164\u2800", False),
        ("\u0301", False),
        ("a", True),
        ("é", True),
        ("😀", True),
    ],
)
def test_only_what_a_reader_sees_is_visible(text: str, visible: bool) -> None:
    assert is_visible(text) is visible


@given(ANY)
def test_any_text_is_storable_once_cleaned(text: str) -> None:
    cleaned(text).encode()
    assert "\x00" not in cleaned(text)


@given(ANY)
def test_any_name_is_one_short_line(name: str) -> None:
    shown = inert_name(name, 100)
    shown.encode()
    assert len(shown) <= 100
    assert len(shown.splitlines()) <= 1
