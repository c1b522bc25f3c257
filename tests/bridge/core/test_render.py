"""A reply in parts: inside Discord's limit, with nothing lost and fences whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_bridge.core.render import MESSAGES, Part, TextFile, Words, parts, units
from clankie_bridge.core.text import is_visible

words = st.text(st.sampled_from("ab .!\n`~é😀\u0301\u200d"), max_size=400)
blocks = st.lists(
    st.sampled_from(["```py\nx = 1\n```\n", "```\nlong line of code\n", "~~~\n", "Words. ", "w" * 90 + "\n", "\n\n"])
)


def text_of(part: Part) -> str:
    return part.text


def seen(text: str) -> str:
    return "".join(char for char in text if is_visible(char))


def unfenced(text: str) -> str:
    """The text without white space and fence lines, which splitting may change."""
    return re.sub(r"\s", "", re.sub(r"^ {0,3}(`{3,}|~{3,})[^\n`]*$", "", text, flags=re.MULTILINE))


def test_a_short_reply_is_one_part_as_it_stands() -> None:
    assert parts("Yes.\n\nNo.") == (Words("Yes.\n\nNo."),)


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\u2060\ufeff", "\u3164", "\x7f"])
def test_a_reply_that_nobody_could_see_has_no_parts(text: str) -> None:
    assert parts(text) == ()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("first one.\n\nsecond. Third\nfourth and fifth", "first one."),
        ("first line\nsecond line and then more words", "first line"),
        ("One sentence here. Another sentence that goes on", "One sentence here."),
        ("several words that never come to an end at all", "several words that"),
        ("x" * 50, "x" * 20),
    ],
)
def test_a_cut_prefers_paragraph_then_line_then_sentence_then_word(text: str, first: str) -> None:
    assert text_of(parts(text, limit=20)[0]) == first


def test_a_fence_is_closed_before_a_cut_and_opened_again_after_it() -> None:
    made = parts("```py\nfirst line\nsecond line\nthird line\n```", limit=24)
    assert [text_of(each) for each in made] == [
        "```py\nfirst line\n```",
        "```py\nsecond line\n```",
        "```py\nthird line\n```",
    ]


def test_a_block_that_ends_at_the_cut_is_not_opened_again() -> None:
    made = parts("```py\nfirst line\n```\nAnd then some words.", limit=20)
    assert [text_of(each) for each in made] == ["```py\nfirst line\n```", "And then some words."]


def test_a_block_whose_end_alone_is_left_makes_no_part_of_it() -> None:
    assert parts("````\nfirst line\n`````", limit=20) == (Words("````\nfirst line\n````"),)


def test_a_stretch_that_nobody_could_see_makes_no_part() -> None:
    made = parts("seen" + "\u2060" * 60 + "seen " + "\u2060" * 30, limit=20)
    assert "".join(text_of(each) for each in made).replace("\u2060", "") == "seenseen"
    assert all(is_visible(text_of(each)) for each in made)


def test_a_long_info_string_is_not_repeated() -> None:
    made = parts("```" + "i" * 30 + "\n" + "code line\n" * 6 + "```", limit=60)
    assert text_of(made[1]).startswith("```\n")


def test_beyond_four_messages_the_rest_is_one_file() -> None:
    made = parts("word " * 100, limit=50)
    assert [type(each) for each in made] == [Words] * MESSAGES + [TextFile]
    assert "".join("".join(text_of(each).split()) for each in made) == "word" * 100


def test_a_cut_never_parts_a_letter_from_what_belongs_to_it() -> None:
    made = parts("e\u0301" * 30, limit=21)
    assert not any(text_of(each).startswith("\u0301") for each in made)


def test_a_heap_of_marks_longer_than_any_letter_is_cut_all_the_same() -> None:
    assert [len(text_of(each)) for each in parts("e" + "\u0301" * 99 + "e", limit=40)] == [40, 21]


def test_length_is_counted_as_discord_might_count_it() -> None:
    assert units("a😀é") == 4


@given(words, st.integers(min_value=16, max_value=60))
def test_every_part_fits_and_nothing_is_lost(text: str, limit: int) -> None:
    made = parts(text, limit)
    assert all(units(each.text) <= limit for each in made if isinstance(each, Words))
    assert len(made) <= MESSAGES + 1
    if made and "```" not in text and "~~~" not in text:
        assert seen("".join(text_of(each) for each in made)) == seen(text)


@given(blocks)
def test_parts_of_code_fit_and_keep_every_word(blocks: list[str]) -> None:
    text = "".join(blocks)
    made = parts(text, limit=100)
    assert all(units(each.text) <= 100 for each in made if isinstance(each, Words))
    if made:
        assert unfenced("\n".join(text_of(each) for each in made)) == unfenced(text)


@given(st.text())
def test_any_text_is_split_without_a_fault(text: str) -> None:
    assert all(units(each.text) <= 2_000 for each in parts(text) if isinstance(each, Words))
