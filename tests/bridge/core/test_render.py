"""A reply in parts: inside Discord's limit, with nothing lost and fences whole."""

import re

import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie_bridge.core.render import MESSAGES, Part, TextFile, Words, last_message, parts, units
from clankie_bridge.core.text import is_visible

words = st.text(st.sampled_from("ab .!\n`~é😀\u0301\u200d"), max_size=400)
blocks = st.lists(
    st.sampled_from(["```py\nx = 1\n```\n", "```\nlong line of code\n", "~~~\n", "Words. ", "w" * 90 + "\n", "\n\n"])
)


CLUSTERS = [
    "x",
    "家",
    "한",
    "\u1112\u1161\u11ab",
    "e\u0301",
    "नि",
    "👩🏽‍🚀",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "🇩🇪",
    "1️⃣",
    "😀",
]


def fenced(mark: str, info: str, inner: str) -> str:
    return f"{mark}{info}\n{inner}\n{mark}\n"


def repeated(pieces: list[str], times: int) -> str:
    return ("".join(pieces) * times)[:50_000]


fences = st.builds(
    fenced,
    st.sampled_from(["```", "````", "~~~", "``````"]),
    st.sampled_from(["", "py", "markdown"]),
    st.sampled_from(
        ["    x = 1\n\n    y = 2", "```py\nnested\n```", "~~~\nnested\n~~~", "界" * 700, "long line " * 90]
    ),
)
long_texts = st.builds(
    repeated,
    st.lists(
        st.one_of(
            fences,
            st.lists(st.sampled_from(CLUSTERS), max_size=60).map("".join),
            st.sampled_from(
                ["```\nnever closed\n", "Words of a sentence. ", "\n\n", "line\n", "w" * 900, "`` ` ```x`"]
            ),
        ),
        max_size=12,
    ),
    st.sampled_from([1, 2, 30]),
)


def still_open(text: str) -> str | None:
    """The mark of the code block that a text leaves open, judged line by line."""
    mark: str | None = None
    for line in text.split("\n"):
        found = re.fullmatch(r" {0,3}(`{3,}|~{3,})([^`]*)", line)
        if found is None:
            continue
        if mark is None:
            mark = found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            mark = None
    return mark


def is_mark(text: str) -> bool:
    """Whether the last line of a text only closes a block."""
    return re.fullmatch(r" {0,3}(`{3,}|~{3,})\s*", text.rpartition("\n")[2]) is not None


def left_of(text: str, made: tuple[Part, ...]) -> str:
    """What is left of a text when its parts, less their repairs, are taken from its beginning one after the other."""
    rest, carried = text, None
    for part in made:
        body = part.text
        if carried is not None and isinstance(part, Words):
            closing = re.match(rf"\n* {{0,3}}{re.escape(carried)}{carried[0]}*[ \t]*(\n|$)", rest)
            if closing is not None:
                rest = rest[closing.end() :]
            else:
                head, _, body = body.partition("\n")
                assert head.startswith(carried)
                lost = rest[: len(rest) - len(rest.lstrip())]
                assert lost.endswith(body[: len(body) - len(body.lstrip())]), "the indentation of code stays"
        rest, body, carried = rest.lstrip(), body.strip(), None
        if not re.match(re.escape(body) + (r"\s*$" if is_mark(body) else ""), rest, re.MULTILINE):
            body, _, carried = body.rpartition("\n")
            body = body.rstrip()
        assert rest.startswith(body)
        rest = rest[len(body) :]
    return rest


def text_of(part: Part) -> str:
    return part.text


def seen(text: str) -> str:
    return "".join(char for char in text if is_visible(char))


def unfenced(text: str) -> str:
    """The text without white space and fence lines, which splitting may change."""
    return re.sub(r"\s", "", re.sub(r"^ {0,3}(`{3,}|~{3,})[^\n`]*$", "", text, flags=re.MULTILINE))


def test_a_short_reply_is_one_part_as_it_stands() -> None:
    assert parts("Yes.\n\nNo.") == (Words("Yes.\n\nNo."),)


@pytest.mark.requirement("ROOM-7")
@pytest.mark.parametrize(
    "text",
    ["", " \n", "\u200b", "\u2060\ufeff", "\u3164", "\x7f", "```\n```", "** **", "||\u200b||", "`\u2800`", "> "],
)
def test_a_reply_that_nobody_could_see_has_no_parts(text: str) -> None:
    """C60."""
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


def test_a_block_that_the_text_leaves_open_is_closed() -> None:
    assert parts("```py\nx = 1") == (Words("```py\nx = 1\n```"),)


def test_a_mark_too_long_to_repeat_opens_nothing() -> None:
    made = parts("`" * 3_000 + "\n" + "code\n" * 400)
    assert all(units(each.text) <= 2_000 for each in made if isinstance(each, Words))
    assert not text_of(made[-1]).endswith("```")


@pytest.mark.parametrize("text", ["`" * 3 + "py" * 30 + "\ncode", "word " * 3 + "\n" + "`" * 3 + "py " * 30 + "\ncode"])
def test_no_cut_goes_through_a_fence_where_there_is_another_place(text: str) -> None:
    assert text_of(parts("word\n" + text, limit=40)[0]) in {"word", "word\nword word word"}


def test_a_stretch_that_nobody_could_see_makes_no_part() -> None:
    made = parts("seen" + "\u2060" * 60 + "seen " + "\u2060" * 30, limit=20)
    assert "".join(text_of(each) for each in made).replace("\u2060", "").split() == ["seenseen"]
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


def test_white_space_that_carries_a_mark_is_no_place_for_a_cut() -> None:
    made = parts("some words here \u0301and more of them", limit=18)
    assert [text_of(each) for each in made] == ["some words", "here \u0301and more of", "them"]
    assert [text_of(each) for each in parts("some words \u0301and", limit=11)] == ["some words", " \u0301and"]


def test_a_block_that_only_its_closing_makes_too_long_is_cut_as_well() -> None:
    made = parts("```\n" + "x" * 15, limit=20)
    assert [text_of(each) for each in made] == ["```\n" + "x" * 12 + "\n```", "```\nxxx\n```"]


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


@pytest.mark.requirement("ROOM-5")
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(long_texts)
def test_parts_of_any_long_text_fit_are_balanced_and_join_to_the_text(text: str) -> None:
    made = parts(text)
    assert len(made) <= MESSAGES + 1
    for each in made:
        if isinstance(each, Words):
            assert units(each.text) <= 2_000
            assert still_open(each.text) is None
    assert left_of(text, made).strip() == ""


@pytest.mark.requirement("ROOM-5")
@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=120), st.integers(24, 64))
def test_no_cut_parts_what_a_reader_takes_for_one_letter(clusters: list[str], limit: int) -> None:
    """Words without a space, so that every cut goes through them."""
    text = "".join(clusters)
    whole = regex.findall(r"\X", text)
    found = [each for part in parts(text, limit) for each in regex.findall(r"\X", part.text)]
    assert found == whole


@pytest.mark.requirement("ROOM-5")
def test_fifty_thousand_characters_are_four_messages_and_a_file() -> None:
    text = "家族👨‍👩‍👧 は元気です。\n```py\n    x = 1\n" * 2_000
    made = parts(text[:50_000])
    assert [type(each) for each in made] == [Words] * MESSAGES + [TextFile]
    assert left_of(text[:50_000], made) == ""


@pytest.mark.requirement("ART-3")
@pytest.mark.parametrize(
    ("made", "expected"),
    [((), 0), ((Words("a"),), 1), ((Words("a"), Words("b")), 2), ((Words("a"), TextFile("b")), 1)],
)
def test_the_last_part_that_is_a_message_is_known(made: tuple[Part, ...], expected: int) -> None:
    assert last_message(made) == expected
