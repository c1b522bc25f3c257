"""Files that people post, under every claim about them and served as every type, and what has to become of each."""

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PIL import Image, features

from clankie_captain.core.pictures import Cause
from clankie_settings import bounds
from tests.captain.media.drawing import animated, boxed, colours, noise, one_bit_png, png_claiming, saved, wave

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Claims with which a file comes along. Source: IMG-1."""

SUFFIXES = frozenset({"png", "jpg", "jpeg", "gif", "webp"})
"""The same for a name without a claim. Source: IMG-1."""

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script><image href='http://127.0.0.1:9/'/></svg>"
HTML = b"<!doctype html><title>This content is no longer available.</title>" + b"<p>log in</p>" * 4_000
PAGE = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file.

    Attributes:
        make: Its bytes.
        media_type: What it is.
        suffix: What it is rightly called.
        fate: As how many parts it is seen, or why it is not.
        named: The picture that it is passed off as.
        slow: Whether decoding it takes so long that it is posted in few ways, in which each claim and served type is.
    """

    make: Callable[[], bytes]
    media_type: str
    suffix: str
    fate: int | Cause
    named: str = "png"
    slow: bool = False


def avif() -> bytes:
    return saved(noise(64, 48), "AVIF") if features.check("avif") else boxed(b"avif")


def tiff() -> bytes:
    return saved(noise(64, 48), "TIFF", save_all=True, append_images=colours("red", "lime", "blue", "white"))


def kinds(film: bytes) -> dict[str, Kind]:
    """Kinds that are posted in every way."""
    moves = colours("red", "lime", "blue")
    return {
        "png": Kind(lambda: saved(noise(64, 48)), "image/png", "png", 1, "webp"),
        "jpeg": Kind(lambda: saved(noise(64, 48), "JPEG"), "image/jpeg", "jpg", 1),
        "gif": Kind(lambda: saved(noise(64, 48), "GIF"), "image/gif", "gif", 1),
        "webp": Kind(lambda: saved(noise(64, 48), "WEBP"), "image/webp", "webp", 1),
        "animated gif": Kind(lambda: animated(moves), "image/gif", "gif", 3),
        "apng": Kind(lambda: animated(moves, "PNG"), "image/png", "png", 3, "gif"),
        "animated webp": Kind(lambda: animated(moves, "WEBP"), "image/webp", "webp", 3, "jpeg"),
        "heic": Kind(lambda: boxed(b"heic"), "image/heic", "heic", "unsupported", "jpeg"),
        "avif": Kind(avif, "image/avif", "avif", "unsupported"),
        "svg": Kind(lambda: SVG, "image/svg+xml", "svg", "unsupported"),
        "bmp": Kind(lambda: saved(noise(64, 48), "BMP"), "image/bmp", "bmp", "unsupported"),
        "tiff of five pages": Kind(tiff, "image/tiff", "tiff", "unsupported"),
        "truncated": Kind(lambda: saved(noise(64, 48))[:-4_000], "image/png", "png", "broken", "webp"),
        "zero bytes": Kind(lambda: b"", "image/png", "png", "broken", "gif"),
        "html": Kind(lambda: HTML, PAGE, "html", "unsupported"),
        "wav": Kind(wave, "audio/wav", "wav", "unsupported", "webp"),
        "mp4": Kind(lambda: film, "video/mp4", "mp4", bounds.PICTURE_FRAMES),
        "one-bit png of 9,000 x 9,000": Kind(
            lambda: one_bit_png(9_000, 9_000), "image/png", "png", "too_large", "jpeg"
        ),
        "a strip of 12,000 px": Kind(
            lambda: saved(Image.new("RGB", (12_000, 60), "red")), "image/png", "png", 1, "webp"
        ),
        "a column of 12,000 px": Kind(lambda: saved(noise(60, 12_000)), "image/png", "png", 1, "jpeg"),
        "noise of 1,400 x 1,400": Kind(lambda: saved(noise(1_400, 1_400)), "image/png", "png", 1, "webp", slow=True),
    }


def others() -> dict[str, Kind]:
    """Kinds that are posted once, each as a picture: the heaviest that are decoded, and more that is none."""

    def passed_off(make: Callable[[], bytes], fate: int | Cause) -> Kind:
        return Kind(make, "image/png", "png", fate)

    return {
        "a photograph of 48 megapixels": passed_off(lambda: saved(Image.new("RGB", (8064, 6048), "red"), "JPEG"), 1),
        "a one-bit png of 7,900 x 7,900": passed_off(lambda: one_bit_png(7_900, 7_900), 1),
        "36 megapixels with alpha": passed_off(
            lambda: saved(Image.new("RGBA", (6_000, 6_000), "red"), compress_level=1), 1
        ),
        "truncated jpeg": passed_off(lambda: saved(noise(64, 48), "JPEG")[:-900], "broken"),
        "truncated webp": passed_off(lambda: saved(noise(64, 48), "WEBP")[:-300], "broken"),
        "a png's first line": passed_off(lambda: b"\x89PNG\r\n\x1a\n", "broken"),
        "a png that claims 60,000 x 60,000": passed_off(lambda: png_claiming(60_000, 60_000), "too_large"),
        "a png that claims 7,000 x 7,000": passed_off(lambda: png_claiming(7_000, 7_000), "broken"),
        "ico": passed_off(lambda: saved(Image.new("RGB", (32, 32)), "ICO"), "unsupported"),
        "JPEG XL": passed_off(lambda: b"\xff\x0a" + bytes(200), "unsupported"),
        "pdf": passed_off(lambda: b"%PDF-1.7\n" + bytes(200), "unsupported"),
        "json": passed_off(lambda: b'{"message": "404: Not Found"}', "unsupported"),
        "a program": passed_off(lambda: b"MZ\x90\x00" + bytes(500), "unsupported"),
        "one byte": passed_off(lambda: b"\x89", "unsupported"),
    }


@dataclass(frozen=True, slots=True)
class Posted:
    """One file as somebody posts it.

    Attributes:
        number: Its own.
        data: Its bytes.
        claim: The type that Discord states, if any.
        name: What it is called.
        served: As what the CDN serves it, if it says so.
        fate: What the captain makes of it: so many parts, or a cause.
    """

    number: int
    data: bytes
    claim: str | None
    name: str
    served: str | None
    fate: int | Cause

    @property
    def comes(self) -> bool:
        """Whether the bridge lets it come along: a claim counts, and without one the suffix. Source: IMG-1."""
        return self.name.partition(".")[2] in SUFFIXES if self.claim is None else self.claim in PICTURES

    @property
    def path(self) -> str:
        """Where the CDN has it."""
        return f"/attachments/300/{self.number}/{self.name}"

    @property
    def payload(self) -> dict[str, object]:
        """As the gateway tells of it."""
        told = {"content_type": self.claim} if self.claim is not None else {}
        address = f"https://cdn.discordapp.com{self.path}?ex=1&is=2&hm=3&"
        return {"id": str(self.number), "filename": self.name, "size": len(self.data), "url": address, **told}


def all_posted(film: bytes) -> list[Posted]:
    """Each kind in each of its ways."""
    found: list[Posted] = []
    for kind in kinds(film).values():
        data = kind.make()
        for claim, name, served in _ways(kind):
            fate: int | Cause = "unsupported" if served == PAGE else kind.fate
            found.append(Posted(len(found), data, claim, name, served, fate))
    for kind in others().values():
        found.append(Posted(len(found), kind.make(), kind.media_type, "a.png", None, kind.fate))
    return found


def _ways(kind: Kind) -> Iterable[tuple[str | None, str, str | None]]:
    """Claims, names and served types: {right, wrong, name alone} x {right, wrong, none}, and each further way once."""
    own, other, passed_off = f"a.{kind.suffix}", f"a.{kind.named}", f"image/{kind.named}"
    claims = ((kind.media_type, own), (passed_off, other), (None, own))
    served = (kind.media_type, passed_off, None)
    yield kind.media_type, own, PAGE
    yield None, "a", None
    for (claim, name), as_type in zip(claims, served, strict=True) if kind.slow else itertools.product(claims, served):
        yield claim, name, as_type
    if not kind.slow:
        yield kind.media_type, other, None
        yield None, other, None


def in_messages(posted: Sequence[Posted]) -> list[tuple[Posted, ...]]:
    """As many in a message as are shown at once, of mixed kinds; what does not come along stands among them."""
    mixed = random.Random(0).sample(posted, len(posted))
    coming = [each for each in mixed if each.comes]
    messages = [coming[at : at + bounds.ATTACHMENTS] for at in range(0, len(coming), bounds.ATTACHMENTS)]
    for at, each in enumerate(each for each in mixed if not each.comes):
        messages[at % len(messages)].insert(at % 3, each)
    return [tuple(each) for each in messages]
