"""Pictures must be what they say, whole, small and few."""

import pytest

from clankie_stage.provider.image_sizes import pixels
from clankie_stage.provider.limits import Limits
from tests.stage.provider.samples import GIF, JPEG, WEBP, chunk, picture, png, raw, said
from tests.stage.provider.verdicts import accepted, refused

VP8X = b"RIFF" + (22).to_bytes(4, "little") + b"WEBPVP8X\x0a\0\0\0\x02\0\0\0\x04\0\0\x03\0\0"
"""A WebP that says that it moves, five pixels wide and four high."""

PICTURES: dict[str, tuple[bytes, str, str]] = {
    "a png called webp": (png(), "image/webp", "invalid_image_format"),
    "a webp called png": (WEBP, "image/png", "invalid_image_format"),
    "a jpeg called gif": (JPEG, "image/gif", "invalid_image_format"),
    "a type that is not taken": (b"BM" + bytes(60), "image/bmp", "invalid_image_format"),
    "a heic": (b"\x00\x00\x00\x18ftypheic" + bytes(20), "image/heic", "invalid_image_format"),
    "a sound in RIFF": (b"RIFF\x24\x00\x00\x00WAVEfmt ", "image/webp", "image_parse_error"),
    "an HTML page": (b"<!doctype html>", "image/png", "image_parse_error"),
    "junk before a jpeg": (b"\xef\xbb\xbf" + JPEG, "image/jpeg", "image_parse_error"),
    "nothing": (b"", "image/png", "image_parse_error"),
    "half a png": (png()[:-14], "image/png", "image_parse_error"),
    "half a jpeg": (JPEG[:-20], "image/jpeg", "image_parse_error"),
    "half a gif": (GIF[:-1], "image/gif", "image_parse_error"),
    "half a webp": (WEBP[:-3], "image/webp", "image_parse_error"),
    "a png of no width": (png(0, 5), "image/png", "image_parse_error"),
    "a jpeg without a frame": (b"\xff\xd8\xff\xe0\x00\x02\xff\xd9", "image/jpeg", "image_parse_error"),
    "a png that moves": (png(before=chunk(b"acTL", bytes(8))), "image/png", "invalid_image_format"),
    "a gif that moves": (GIF[:-1] + b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00;", "image/gif", "invalid_image_format"),
    "a webp that moves": (VP8X, "image/webp", "invalid_image_format"),
    "a png that is too long": (png(8_001, 1), "image/png", "image_too_large"),
}


SIZES: dict[str, tuple[bytes, str, tuple[int, int] | None]] = {
    "png": (png(3, 2), "image/png", (3, 2)),
    "gif": (GIF, "image/gif", (1, 1)),
    "jpeg": (JPEG, "image/jpeg", (2, 1)),
    "jpeg with filling bytes": (JPEG[:2] + b"\xff\xff\x01" + JPEG[2:], "image/jpeg", (2, 1)),
    "jpeg with junk": (JPEG[:2] + b"\x00" + JPEG[2:], "image/jpeg", None),
    "webp without loss": (WEBP, "image/webp", (1, 1)),
    "webp": (b"RIFF\0\0\0\0WEBPVP8 " + bytes(4) + b"\0\0\0\x9d\x01\x2a\x03\x00\x02\x40", "image/webp", (3, 2)),
    "extended webp": (VP8X, "image/webp", (5, 4)),
    "webp of another kind": (b"RIFF\0\0\0\0WEBPNOPE" + bytes(20), "image/webp", None),
    "a header that ends": (b"\x89PNG\r\n\x1a\n", "image/png", None),
}


@pytest.mark.parametrize(("data", "media_type", "size"), SIZES.values(), ids=SIZES.keys())
def test_a_header_says_how_large_a_picture_is(data: bytes, media_type: str, size: tuple[int, int] | None) -> None:
    assert pixels(data, media_type) == size


def test_where_there_are_many_pictures_each_must_be_smaller() -> None:
    few, many = [picture(png(2_001, 1))] * 20, [picture(png(2_001, 1))] * 21
    accepted(raw(*few))
    assert refused(raw(*many)).code == "image_too_large"
    accepted(raw(*[picture(png(2_000, 1))] * 21))


@pytest.mark.parametrize(("data", "media_type", "code"), PICTURES.values(), ids=PICTURES.keys())
def test_a_picture_that_is_not_what_it_says_is_refused(data: bytes, media_type: str, code: str) -> None:
    found = refused(raw(picture(data, media_type)))
    assert (found.param, found.code) == ("messages.[0].content[0].image_url.url", code)


def test_a_jpeg_whose_only_end_mark_is_its_thumbnails_is_refused() -> None:
    data = b"\xff\xd8\xff\xe1" + JPEG + b"\x10" * 4_000
    assert refused(raw(picture(data, "image/jpeg"))).code == "image_parse_error"


URLS: dict[str, object] = {
    "a remote address": "https://example.com/a.png",
    "a data URL without base64": "data:image/png,abc",
    "broken base64": "data:image/png;base64,@@@@",
    "base64 without padding": "data:image/png;base64,iVBORw0KGg",
    "no string": 7,
    "nothing": None,
}


@pytest.mark.parametrize("url", URLS.values(), ids=URLS.keys())
def test_an_image_address_that_cannot_be_read_is_refused(url: object) -> None:
    part = {"type": "image_url", "image_url": {"url": url}}
    found = refused(raw({"role": "user", "content": [part]}))
    assert found.param == "messages.[0].content[0].image_url.url"


def test_the_image_limit_counts_base64_characters_and_not_bytes() -> None:
    data = png() + bytes(3_000)
    encoded = -(-len(data) // 3) * 4
    accepted(raw(picture(data)), Limits(image_base64_chars=encoded))
    assert refused(raw(picture(data)), Limits(image_base64_chars=encoded - 1)).code == "image_too_large"


def test_the_default_image_limit_is_below_an_eight_megabyte_file() -> None:
    data = png() + bytes(3_932_160 - len(png()))
    accepted(raw(picture(data)))
    assert refused(raw(picture(data + b"x"))).code == "image_too_large"


def test_more_images_than_the_limit_are_refused_over_the_whole_history() -> None:
    history = [picture(png()), said("nice"), picture(png()), said("nice"), picture(png())]
    accepted(raw(*history), Limits(images=3))
    assert refused(raw(*history), Limits(images=2)).code == "too_many_images"


def test_a_model_without_vision_refuses_any_image() -> None:
    assert "image_url" in refused(raw(picture(png())), Limits(vision=False)).message


def test_an_image_costs_tokens_whatever_its_base64_length() -> None:
    small, large = accepted(raw(picture(png()))), accepted(raw(picture(png() + bytes(500_000))))
    assert small.prompt_tokens == large.prompt_tokens > 900
