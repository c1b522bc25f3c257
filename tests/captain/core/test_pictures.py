"""What bytes are, and how many parts of each picture are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.pictures import (
    NO_PICTURES,
    POLICY,
    Decoded,
    Pictures,
    Shown,
    Stored,
    Undecodable,
    Unseen,
    shares,
    sniff,
    spread,
)
from clankie_settings import bounds

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize(
    ("beginning", "form"),
    [
        (PNG + b"rest", "png"),
        (b"\xff\xd8\xff\xe0", "jpeg"),
        (b"GIF87a", "gif"),
        (b"GIF89a", "gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "webp"),
        (b"BM\x36\0", "bmp"),
        (b"II*\0", "tiff"),
        (b"MM\0*", "tiff"),
        (b"\0\0\0\x1cftypavif", "avif"),
        (b"\0\0\0\x1cftypheic", "heic"),
        (b"\0\0\0\x1cftypmif1", "heic"),
        (b"\0\0\0\x1cftypisom", "video"),
        (b"\0\0\0\x1cftypqt  ", "video"),
        (b"\x1aE\xdf\xa3", "video"),
        (b"RIFF\x10\0\0\0WAVEfmt ", None),
        (b"\xef\xbb\xbf\xff\xd8\xff\xe0", None),
        (b"<!doctype html>", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"%PDF-1.7", None),
        (b"", None),
    ],
)
def test_bytes_are_what_they_begin_as(beginning: bytes, form: str | None) -> None:
    """C03, C23, C29."""
    assert sniff(beginning) == form


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize(
    ("offered", "given"),
    [
        ((), ()),
        ((1,), (1,)),
        ((4,), (4,)),
        ((4, 4), (4, 4)),
        ((4, 4, 4), (3, 3, 2)),
        ((4, 4, 4, 4), (2, 2, 2, 2)),
        ((1, 1, 1, 4), (1, 1, 1, 4)),
        ((4, 1, 4, 4), (3, 1, 2, 2)),
    ],
)
def test_each_source_shows_one_part_before_any_shows_a_second(offered: tuple[int, ...], given: tuple[int, ...]) -> None:
    """C59."""
    assert shares(offered) == given


@pytest.mark.requirement("IMG-5")
@given(st.lists(st.integers(1, 4), max_size=4), st.integers(0, 12))
def test_no_more_parts_are_shown_than_may_be_and_none_is_held_back_in_vain(offered: list[int], most: int) -> None:
    given = shares(offered, most)
    assert sum(given) == min(most, sum(offered))
    assert all(share <= parts for share, parts in zip(given, offered, strict=True))


@pytest.mark.requirement("IMG-5")
def test_frames_that_are_left_out_are_left_out_between_the_first_and_the_last() -> None:
    assert spread(4, 4) == (0, 1, 2, 3)
    assert spread(4, 3) == (0, 1, 3)
    assert spread(4, 2) == (0, 3)
    assert spread(4, 1) == (0,)
    assert spread(1, 2) == (0,)


def test_nothing_of_a_delivery_without_pictures_is_shown_or_missed() -> None:
    assert (NO_PICTURES.shown, NO_PICTURES.unseen, NO_PICTURES.parts) == ((), (), ())


def test_the_parts_of_all_pictures_keep_their_order() -> None:
    first, second, third = (Stored(digest, "image/png", 1, 1, 1) for digest in ("a", "b", "c"))
    pictures = Pictures((Shown("message", (first, second)), Shown("context", (third,))), (Unseen("message", "broken"),))
    assert pictures.parts == (first, second, third)


def test_a_picture_that_was_left_out_is_told_from_one_that_could_not_be_had() -> None:
    assert "too_large" in POLICY
    assert "unreachable" not in POLICY
    assert Decoded(()) != Undecodable("broken")
    assert bounds.PICTURE_SOURCES <= bounds.PICTURE_PARTS
