"""Which file is meant, what it is called in a room, and what words say of one that is missing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_bridge.core.artifacts import (
    LARGEST,
    NAME_CHARS,
    NOTE_UNITS,
    Cause,
    Picture,
    Place,
    lightened,
    named_apart,
    noted,
    picture,
    place,
    reads_as,
)
from clankie_bridge.core.render import Words, parts, units
from clankie_settings import bounds
from clankie_settings.wire.attachment import Artifact

DIGEST = "ab" * 32
SAFE = re.compile(r"[a-z0-9][a-z0-9-]*\.(png|jpg|gif|webp|bin)")
NOTE = "(I could not attach a picture: its file is gone.)"


def artifact(filename: str, media_type: str = "image/png", ref: str = f"sha256:{DIGEST}:diagrams/a.png") -> Artifact:
    return Artifact.model_construct(ref=ref, filename=filename, media_type=media_type, byte_size=1)


@pytest.mark.requirement("ART-3")
@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (f"sha256:{DIGEST}:diagrams/a.png", Place(DIGEST, "diagrams", "a.png")),
        (f"sha256:{DIGEST}:diagrams/a..png", Place(DIGEST, "diagrams", "a..png")),
        (f"sha256:{DIGEST}:../a.png", None),
        (f"sha256:{DIGEST}:diagrams/../secrets/captain-token", None),
        (f"sha256:{DIGEST}:diagrams/..", None),
        (f"sha256:{DIGEST}:./a.png", None),
        (f"sha256:{DIGEST}:/etc/passwd", None),
        (f"sha256:{DIGEST}:diagrams//a.png", None),
        (f"sha256:{DIGEST}:diagrams/a.png/b", None),
        (f"sha256:{DIGEST}:diagrams/.hidden", None),
        (f"sha256:{DIGEST}:diagrams/a\\..\\b", None),
        (f"sha256:{DIGEST}:diagrams/a.png\n", None),
        (f"sha256:{DIGEST}:diagrams/a\0.png", None),
        (f"sha256:{DIGEST}:diagrams/%2e%2e", None),
        (f"sha256:{DIGEST}:diagrams/{'a' * 300}", None),
        (f"sha256:{DIGEST.upper()}:diagrams/a.png", None),
        (f"sha256:{DIGEST[:-1]}:diagrams/a.png", None),
        (f"md5:{DIGEST}:diagrams/a.png", None),
        (f"sha256:{DIGEST}:a.png", None),
        ("https://example.com/a.png", None),
        ("", None),
    ],
)
def test_a_reference_names_one_file_in_one_folder_or_nothing(ref: str, expected: Place | None) -> None:
    assert place(ref) == expected


@pytest.mark.requirement("ART-3")
@given(st.text() | st.from_regex(r"sha256:[0-9a-f]{64}:[./\\%a-z\n\0~]{1,12}", fullmatch=True))
def test_no_reference_leads_out_of_the_root(ref: str) -> None:
    found = place(ref)
    if found is not None:
        for step in (found.folder, found.name):
            assert "/" not in step
            assert "\\" not in step
            assert "\0" not in step
            assert step.strip(".") != ""


@pytest.mark.requirement("ART-4")
@pytest.mark.parametrize(
    ("filename", "media_type", "expected"),
    [
        ("who-calls-whom-1a2b3c4d.png", "image/png", "who-calls-whom-1a2b3c4d.png"),
        ("../../etc/passwd.png", "image/png", "etc-passwd.png"),
        ("SPOILER_a.png", "image/png", "spoiler-a.png"),
        ("page.html", "image/webp", "page.webp"),
        ("page.html", "text/html", "page.bin"),
        ("あ" * 90 + ".png", "image/png", "picture.png"),
        ("no suffix", "image/gif", "picture.gif"),
        ("a\r\nContent-Type: text/html.jpg", "image/jpeg", "a-content-type-text-html.jpg"),
        ('a"; filename="b.exe', "image/png", "a-filename-b.png"),
        ("a" * 100, "image/png", "picture.png"),
        ("a" * 90 + ".png", "image/png", "a" * 60 + ".png"),
    ],
)
def test_a_file_goes_out_under_a_safe_and_short_name(filename: str, media_type: str, expected: str) -> None:
    """C68."""
    assert picture(artifact(filename, media_type), b"x").filename == expected


def test_a_type_that_no_tool_makes_goes_out_as_mere_bytes() -> None:
    assert picture(artifact("a.html", "text/html"), b"x").media_type == "application/octet-stream"
    assert picture(artifact("a.png"), b"x").media_type == "image/png"


@pytest.mark.requirement("ART-4")
@given(st.lists(st.text(max_size=100) | st.sampled_from(["a.png", "a-2.png", "A.png", "あ.png"]), max_size=10))
def test_names_in_one_message_are_safe_and_differ(names: list[str]) -> None:
    """C68."""
    shown = [each.filename for each in named_apart(picture(artifact(name), b"x") for name in names)]
    assert len(set(shown)) == len(names)
    assert all(SAFE.fullmatch(each) and len(each) <= NAME_CHARS for each in shown)


@pytest.mark.requirement("ART-3")
@pytest.mark.parametrize(
    ("cause", "expected"),
    [(Cause.TOO_LARGE, "ac"), (Cause.NOT_PERMITTED, ""), (Cause.REFUSED, "")],
)
def test_where_size_was_the_cause_the_largest_goes_and_the_others_stay(cause: Cause, expected: str) -> None:
    """C31: two artifacts, one too large."""
    pictures = [Picture(name, "image/png", bytes(size)) for name, size in [("a", 1), ("b", 3), ("c", 2)]]
    assert "".join(each.filename for each in lightened(pictures, cause)) == expected


@pytest.mark.requirement("ART-3")
@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ((), "Here."),
        ((Cause.GONE,), f"Here.\n\n{NOTE}"),
        ((Cause.GONE,) * 3, "Here.\n\n(I could not attach 3 pictures: their files are gone.)"),
        (
            (Cause.GONE, Cause.TOO_LARGE),
            "Here.\n\n(I could not attach 2 pictures: each for a reason of its own.)",
        ),
    ],
)
def test_words_say_how_many_pictures_are_missing_and_why(left_out: tuple[Cause, ...], expected: str) -> None:
    assert noted("Here.", left_out) == expected
    assert reads_as(expected, "Here.")


def test_pictures_without_words_have_none_but_of_what_is_missing() -> None:
    assert (noted("", ()), noted("", (Cause.GONE,))) == ("", NOTE)
    assert reads_as("", "")
    assert reads_as(NOTE, "")


@pytest.mark.parametrize(
    "content", ["Here", "Here.\n\nThere.", "Here. (I could not attach a picture)", f"There.\n\n{NOTE}"]
)
def test_other_words_are_not_taken_for_these(content: str) -> None:
    assert not reads_as(content, "Here.")


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("count", [1, 4])
def test_whatever_is_missing_fits_in_what_words_leave_free(cause: Cause, count: int) -> None:
    long = parts("word " * 3_000, bounds.MESSAGE_CHARS - NOTE_UNITS)[0]
    assert isinstance(long, Words)
    assert units(noted(long.text, (cause,) * count)) <= bounds.MESSAGE_CHARS


def test_every_file_that_a_tool_makes_fits_into_a_message() -> None:
    assert bounds.ARTIFACT_BYTES <= LARGEST
