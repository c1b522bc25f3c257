"""What people post, against the strict provider: it gets something that it takes, or the picture is counted. IMG-3."""

import asyncio
import base64
import functools
import gc
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from PIL import Image, features

from clankie_captain.core.pictures import Decoded, Undecodable
from clankie_captain.media.decoding import WorkerDecoder
from clankie_settings import bounds
from clankie_stage.provider.images import encoded_rules
from clankie_stage.provider.limits import Limits
from tests.captain.media.drawing import animated, boxed, colours, noise, one_bit_png, png_claiming, read, saved, wave
from tests.captain.media.filming import Studio

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script><image href='http://127.0.0.1:9/'/></svg>"
HTML = b"<!doctype html><title>This content is no longer available.</title>" + b"<p>log in</p>" * 4_000


def avif() -> bytes:
    return saved(noise(64, 48), "AVIF") if features.check("avif") else boxed(b"avif")


def tiff() -> bytes:
    return saved(noise(64, 48), "TIFF", save_all=True, append_images=colours("red", "lime", "blue", "white"))


SHOWN: dict[str, tuple[Callable[[], bytes], int]] = {
    "png": (lambda: saved(noise(64, 48)), 1),
    "jpeg": (lambda: saved(noise(64, 48), "JPEG"), 1),
    "gif": (lambda: saved(noise(64, 48), "GIF"), 1),
    "webp": (lambda: saved(noise(64, 48), "WEBP"), 1),
    "animated gif": (lambda: animated(colours("red", "lime", "blue")), 3),
    "apng": (lambda: animated(colours("red", "lime", "blue"), "PNG"), 3),
    "animated webp": (lambda: animated(colours("red", "lime", "blue"), "WEBP"), 3),
    "a strip of 12,000 px": (lambda: saved(Image.new("RGB", (12_000, 60), "red")), 1),
    "a column of 12,000 px": (lambda: saved(noise(60, 12_000)), 1),
    "noise of 1,400 x 1,400": (lambda: saved(noise(1400, 1400)), 1),
    "a photograph of 48 megapixels": (lambda: saved(Image.new("RGB", (8064, 6048), "red"), "JPEG"), 1),
    "a one-bit png of 7,900 x 7,900": (lambda: one_bit_png(7_900, 7_900), 1),
}
COUNTED: dict[str, tuple[Callable[[], bytes], str]] = {
    "heic": (lambda: boxed(b"heic"), "unsupported"),
    "avif": (avif, "unsupported"),
    "svg": (lambda: SVG, "unsupported"),
    "bmp": (lambda: saved(noise(64, 48), "BMP"), "unsupported"),
    "tiff of five pages": (tiff, "unsupported"),
    "ico": (lambda: saved(Image.new("RGB", (32, 32)), "ICO"), "unsupported"),
    "JPEG XL": (lambda: b"\xff\x0a" + bytes(200), "unsupported"),
    "pdf": (lambda: b"%PDF-1.7\n" + bytes(200), "unsupported"),
    "html": (lambda: HTML, "unsupported"),
    "json": (lambda: b'{"message": "404: Not Found"}', "unsupported"),
    "markdown": (lambda: b"# A picture\n", "unsupported"),
    "a program": (lambda: b"MZ\x90\x00" + bytes(500), "unsupported"),
    "zero bytes": (lambda: b"", "unsupported"),
    "one byte": (lambda: b"\x89", "unsupported"),
    "wav named webp": (wave, "unsupported"),
    "truncated png": (lambda: saved(noise(64, 48))[:-4_000], "broken"),
    "truncated jpeg": (lambda: saved(noise(64, 48), "JPEG")[:-900], "broken"),
    "truncated webp": (lambda: saved(noise(64, 48), "WEBP")[:-300], "broken"),
    "a png's first line": (lambda: b"\x89PNG\r\n\x1a\n", "broken"),
    "one-bit png of 9,000 x 9,000": (lambda: one_bit_png(9_000, 9_000), "too_large"),
    "a png that claims 60,000 x 60,000": (lambda: png_claiming(60_000, 60_000), "too_large"),
    "a png that claims 7,000 x 7,000": (lambda: png_claiming(7_000, 7_000), "broken"),
    "more than is fetched": (lambda: saved(noise(64, 48)) + bytes(bounds.ATTACHMENT_BYTES), "too_large"),
}


@functools.cache
def shown_bytes(kind: str) -> bytes:
    return SHOWN[kind][0]()


def taken(found: Decoded) -> None:
    """The strict provider takes each part, and it is what it says that it is."""
    for part in found.parts:
        encoded = base64.b64encode(part.data).decode()
        assert not [*encoded_rules(encoded, part.media_type, "image", Limits())]
        assert read(part.data).size == (part.width, part.height)
        assert max(part.width, part.height) <= bounds.PICTURE_SIDE


@pytest.mark.requirement("IMG-3", "IMG-5")
@pytest.mark.parametrize("kind", SHOWN)
async def test_what_is_shown_is_what_the_provider_takes(decoder: WorkerDecoder, kind: str) -> None:
    """C03, C32, C59."""
    found = await decoder.decode(shown_bytes(kind), 4)
    assert isinstance(found, Decoded), found
    assert len(found.parts) == SHOWN[kind][1]
    taken(found)


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("kind", COUNTED)
async def test_what_is_not_shown_is_counted_by_its_cause(decoder: WorkerDecoder, kind: str) -> None:
    """C03, C13, C23, C29, C55: the bytes decide; where they cannot be decoded there is no picture, never raw bytes."""
    make, cause = COUNTED[kind]
    found = await decoder.decode(make(), 4)
    assert isinstance(found, Undecodable), found
    assert found.cause == cause


@pytest.mark.requirement("IMG-3", "IMG-5")
async def test_a_film_named_as_a_picture_is_a_film(decoder: WorkerDecoder, studio: Studio) -> None:
    found = await decoder.decode(studio.colours("red", "lime"), 4)
    assert isinstance(found, Decoded)
    assert len(found.parts) == bounds.PICTURE_FRAMES
    taken(found)


@pytest.mark.requirement("IMG-3")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process its highest use of memory")
async def test_the_captains_memory_stays_where_it_is_whatever_is_decoded(decoder: WorkerDecoder) -> None:
    """Four of the heaviest at a time; what they unfold to, they unfold to elsewhere."""
    heavy = [shown_bytes(kind) for kind in SHOWN]
    heavy += [one_bit_png(9_000, 9_000), saved(Image.new("RGBA", (6_000, 6_000), "red"), compress_level=1)]
    gc.collect()
    before = psutil.Process().memory_info().rss
    forget_highest()
    for at in range(0, len(heavy), 4):
        await asyncio.gather(*(decoder.decode(data, 4) for data in heavy[at : at + 4]))
    assert highest() - before < bounds.CAPTAIN_GROWTH


def forget_highest() -> None:
    Path("/proc/self/clear_refs").write_text("5", "ascii")


def highest() -> int:
    """The most that this process had in memory since it was reset, in bytes."""
    status = Path("/proc/self/status").read_text("ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024
