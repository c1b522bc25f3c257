"""Pictures must be what they say, whole, small and few."""

import pytest

from clankie_stage.provider.limits import Limits
from tests.stage.provider.samples import GIF, JPEG, WEBP, picture, png, raw, said
from tests.stage.provider.verdicts import accepted, refused

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
}


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
