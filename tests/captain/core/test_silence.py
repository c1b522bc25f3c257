"""The silence marker, judged alike for the posted reply and for the typing indicator."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clankie_captain.core.reply import Missing, Said, Silence, read_reply
from clankie_captain.core.silence import MARKER, Gate, is_silence, squeezed, without_marker_lines

M = MARKER

DECORATED = {
    "as it is": M,
    "full stop": f"{M}.",
    "ellipsis": f"{M}…",
    "quotes": f'"{M}"',
    "curly quotes": f"“{M}”",
    "code ticks": f"`{M}`",
    "code block": f"```\n{M}\n```",
    "code block of a language": f"```{M}```",
    "bold": f"**{M}**",
    "struck": f"~~{M}~~",
    "spoiler": f"||{M}||",
    "quoted line": f"> {M}",
    "heading": f"# {M}",
    "list item": f"* {M}",
    "twice": f"{M}\n\n{M}",
    "thrice on a line": f"{M} {M} {M}",
    "upper case": M.upper(),
    "full width": "\uff3b\uff3bstay-silent\uff3d\uff3d",
    "full width letters": "[[\uff53\uff54\uff41\uff59-\uff53\uff49\uff4c\uff45\uff4e\uff54]]",
    "no-break space": "[[stay\u00a0-\u00a0silent]]",
    "zero width space": "[[stay\u200b-silent\u200b]]",
    "soft hyphen": "[[stay-si\u00adlent]]",
    "byte order mark": f"\ufeff{M}",
    "right to left": f"\u202e{M}\u202c",
    "no-break hyphen": "[[stay\u2011silent]]",
    "en dash": "[[stay\u2013silent]]",
    "long s": "[[\u017ftay-\u017filent]]",
    "ligature": "[[ﬆay-silent]]",
    "combining accent": "[[stay-sile\u0301nt]]",
    "composed accent": "[[stay-silént]]",
    "spaces around": f" \n\t{M}\n ",
    "spaces within": "[[ stay-silent ]]",
}

SPOKEN = {
    "a question of its own": f"{M}\n\nWait, they asked me. Hi!",
    "words first": f"Done.\n\n{M}",
    "asked about the marker": f"Use {M} to keep quiet",
    "half of it": "[[stay-sil",
    "one bracket": "[stay-silent]",
    "a footnote": "[1] per the docs",
    "another word": "[[stay-silently]]",
    "with words in a code block": f"Like this:\n```\n{M}\n```",
    "nothing": "",
    "only marks": "...",
    "digits": f"{M}1",
}

around = st.sampled_from([*M, M, "[[", "]]", "stay-", "SILENT", "s", " ", "\n", ".", "`", "```", '"', "*", "|", ">"])
odd = st.sampled_from(
    ["\u200b", "\u0301", "\u00ad", "\uff3b", "\uff3d", "ﬆ", "\u017f", "é", "\u2011", "한", "\u3164", "\ufdfa", "\0"]
)
texts = st.one_of(
    st.text(max_size=30),
    st.lists(st.one_of(around, odd), max_size=16).map("".join),
    st.lists(st.sampled_from([M, M.upper(), " ", "\n", "word", "```", "`", ".", "\0", "> "]), max_size=12).map("".join),
)


@pytest.mark.requirement("ROOM-1")
@pytest.mark.parametrize("text", DECORATED.values(), ids=DECORATED.keys())
def test_a_decorated_marker_is_silence(text: str) -> None:
    assert is_silence(text)
    assert read_reply(text) == Silence()


@pytest.mark.requirement("ROOM-1")
@pytest.mark.parametrize("text", SPOKEN.values(), ids=SPOKEN.keys())
def test_a_reply_that_says_more_than_the_marker_is_no_silence(text: str) -> None:
    assert not is_silence(text)


@pytest.mark.requirement("ROOM-1")
@pytest.mark.parametrize(
    ("text", "posted"),
    [
        (f"{M}\n\nWait, they asked me. Hi!", "Wait, they asked me. Hi!"),
        (f"Done.\n\n{M}", "Done."),
        (f"One.\n**{M}**\nTwo.", "One.\nTwo."),
        (f"Use {M} to keep quiet", f"Use {M} to keep quiet"),
        (f"`{M}` keeps him quiet.", f"`{M}` keeps him quiet."),
        (f"So:\n```\n{M}\n```", f"So:\n```\n{M}\n```"),
        (f"So:\n```text\na\n{M}\n```\n{M}", f"So:\n```text\na\n{M}\n```"),
        (f"In one line ```{M}```\n{M}", f"In one line ```{M}```"),
        (f"It starts here ```\n{M}\n``` and ends.\n{M}", f"It starts here ```\n{M}\n``` and ends."),
        (f"Code:\n```\nx\n``` {M}\nbye", "Code:\n```\nx\n```\nbye"),
        (f"Never closed:\n```\n{M}", "Never closed:\n```"),
        (f"a\0b\n{M}", "ab"),
    ],
)
def test_a_line_that_holds_only_the_marker_is_not_posted_and_a_quoted_one_is(text: str, posted: str) -> None:
    assert read_reply(text) == Said(posted)


@pytest.mark.requirement("ROOM-1")
@given(texts)
@example(f"x\n```y```\n{M}")
@example(f"x\n``````{M}")
def test_posted_words_never_carry_a_marker_line_outside_code(text: str) -> None:
    match read_reply(text):
        case Said(words):
            outside = "".join(
                part for n, part in enumerate(words.split("```")) if n % 2 == 0 or words.count("```") == n
            )
            assert not any(is_silence(line) for line in outside.split("\n"))
            assert without_marker_lines(words) == words
        case Silence():
            assert is_silence(text)
        case Missing():
            pass


@pytest.mark.requirement("ROOM-1")
@given(st.lists(st.sampled_from(["a word", "two words", "[link]", "x = [[1]]", "- item", ""]), min_size=1, max_size=9))
def test_words_without_a_marker_are_posted_as_they_are(lines: list[str]) -> None:
    text = "\n".join(lines).strip()
    assert without_marker_lines(text) == text


def opened_at(parts: list[str]) -> list[bool]:
    gate = Gate()
    return [gate.feed(part) for part in parts]


def could_still_be_the_marker(text: str) -> bool:
    rest = squeezed(text)
    return (M * (len(rest) // len(M) + 1)).startswith(rest)


@pytest.mark.requirement("ROOM-2")
@given(texts, st.lists(st.integers(0, 30), max_size=6))
@example("[[stay-sile\u0301nt]]", [11])
@example("\u1112\u1161", [1])
def test_however_words_are_streamed_typing_is_judged_by_the_whole(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    gate = Gate()
    for start, end in pairwise(edges):
        lit = gate.feed(text[start:end])
        assert gate.open == (not could_still_be_the_marker(text[:end]))
        assert lit == (gate.open and could_still_be_the_marker(text[:start]))


@pytest.mark.requirement("ROOM-2")
@given(texts)
def test_every_split_into_two_deltas_gives_the_judgement_of_one(text: str) -> None:
    whole = Gate()
    whole.feed(text)
    for cut in range(len(text) + 1):
        gate = Gate()
        gate.feed(text[:cut])
        gate.feed(text[cut:])
        assert gate.open == whole.open


@pytest.mark.requirement("ROOM-2")
@given(texts)
def test_typing_never_lights_for_a_silence(text: str) -> None:
    gate = Gate()
    gate.feed(text)
    assert not (gate.open and is_silence(text))


@pytest.mark.requirement("ROOM-2")
@pytest.mark.parametrize(
    ("deltas", "lit"),
    [
        (["[", "[", "stay", "-sil", "ent", "]]"], None),
        (["  \n[", "[stay-silent]]", "."], None),
        (["[", "1] per the docs"], 1),
        (["", " ", "\n"], None),
        (["[[stay-silent]]", "\n\nWait"], 1),
        (["[[stay-silent]]", "[[stay-silent]]"], None),
        (["Hello"], 0),
        (["[[st", "op"], 1),
    ],
)
def test_typing_lights_at_the_first_delta_that_deviates_and_only_once(deltas: list[str], lit: int | None) -> None:
    """C58."""
    assert opened_at([*deltas, "more words", "and more"][: len(deltas)]) == [n == lit for n in range(len(deltas))]


def test_an_open_gate_says_so_only_once() -> None:
    assert opened_at(["Hello", " there", M]) == [True, False, False]
