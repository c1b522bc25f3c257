"""What the model's last response amounts to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clankie_captain.core.artifacts import artifact
from clankie_captain.core.reply import Missing, Said, Silence, read_reply, visible
from clankie_captain.core.silence import MARKER
from clankie_settings import bounds
from clankie_settings.wire.result import Replied

UNSEEN = {
    "nothing at all": None,
    "empty": "",
    "spaces": " \n\t",
    "zero width space": "\u200b",
    "joiners": "\u2060\ufeff\u200d",
    "hangul filler": "\u3164",
    "half width filler": "\uffa0",
    "jamo fillers": "\u115f\u1160",
    "braille blank": "\u2800",
    "empty code block": "```\n```",
    "empty bold": "** **",
    "empty struck": "~~ ~~",
    "empty quote": "> ",
    "empty heading": "# ",
    "empty spoiler": "|| ||",
    "lonely accent": "\u0301",
    "controls": "\x00\x1b\x7f",
    "bidi marks": "\u202e\u202c",
    "variation selector": "\ufe0f",
}


@pytest.mark.requirement("ROOM-1")
@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN.keys())
def test_a_reply_that_nobody_could_see_is_missing_and_never_silence(text: str | None) -> None:
    assert read_reply(text) == Missing()


@pytest.mark.requirement("ART-2")
@pytest.mark.parametrize("text", [*UNSEEN.values(), "<tool_call>{}</tool_call>"], ids=[*UNSEEN, "only tool syntax"])
def test_a_picture_without_words_goes_out_by_its_name(text: str | None) -> None:
    """C60."""
    made = artifact("diagrams", b"a", "image/png", "How it works")
    assert read_reply(text, ("draw_diagram",), (made,)) == Said(made.filename, (made,))


@pytest.mark.requirement("ROOM-1", "ART-2")
def test_a_picture_goes_with_words_and_is_not_shown_where_he_stays_silent() -> None:
    made = artifact("diagrams", b"a", "image/png", "How it works")
    assert read_reply("Here", (), (made,)) == Said("Here", (made,))
    assert read_reply(MARKER, (), (made,)) == Silence()


@pytest.mark.parametrize("text", ["a", "…", "?", "👍", "한", "`x`", "\u200bhi", "1", "\u3164x", "é", "…\u0301"])
def test_whatever_a_reader_would_see_is_said(text: str) -> None:
    assert read_reply(text) == Said(text.strip())


def test_a_marker_beside_nothing_that_can_be_seen_is_silence() -> None:
    assert read_reply(f"\u200b\n{MARKER}\n```\n```") == Silence()


def test_invisible_words_around_a_marker_that_no_code_quotes_are_missing() -> None:
    assert read_reply(f"\u3164\n{MARKER}") == Missing()


@pytest.mark.requirement("LANE-15")
@pytest.mark.parametrize("length", [1, bounds.REPLY_CHARS - 1, bounds.REPLY_CHARS])
def test_a_reply_within_the_wire_is_posted_whole(length: int) -> None:
    assert read_reply("x" * length) == Said("x" * length)


@pytest.mark.requirement("LANE-15")
@pytest.mark.parametrize("length", [bounds.REPLY_CHARS + 1, 10 * bounds.REPLY_CHARS])
def test_a_reply_beyond_the_wire_ends_in_an_ellipsis_there(length: int) -> None:
    read = read_reply("x" * length)
    assert isinstance(read, Said)
    assert (len(read.text), read.text[-2:]) == (bounds.REPLY_CHARS, "x…")


storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


@settings(max_examples=30)
@given(st.one_of(storable, storable.map(lambda text: (text * 20_000)[:20_000])))
def test_whatever_is_said_fits_the_wire_and_can_be_seen(text: str) -> None:
    read = read_reply(text)
    if isinstance(read, Said):
        assert visible(read.text)
        Replied(delivery_id="1", turn_id="2", run_id="3", owed=True, text=read.text)
