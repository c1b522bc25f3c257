"""Pictures for tests, as bytes; each is made by Pillow or by hand, and none is kept in the repository."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# Pillow's types name numpy's, and numpy is not here.

import io
import random
import struct
import zlib
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageCms


def saved(image: Image.Image, form: str = "PNG", **settings: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **settings)
    return out.getvalue()


def read(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def noise(width: int, height: int) -> Image.Image:
    """Pixels that no codec can fold; the same ones each time."""
    return Image.frombytes("RGB", (width, height), random.Random(width).randbytes(width * height * 3))


def srgb() -> bytes:
    """The profile of sRGB."""
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def colours(*names: str, size: tuple[int, int] = (48, 32)) -> list[Image.Image]:
    return [Image.new("RGB", size, name) for name in names]


def animated(frames: Sequence[Image.Image], form: str = "GIF", **settings: Any) -> bytes:
    if form == "WEBP":
        settings.setdefault("lossless", True)
    settings.setdefault("duration", 40)
    return saved(frames[0], form, save_all=True, append_images=list(frames[1:]), **settings)


def one_bit_png(width: int, height: int) -> bytes:
    """A white one-bit PNG of any size, without ever having its pixels here."""
    row = b"\x00" + b"\xff" * ((width + 7) // 8)
    folded = zlib.compressobj(9)
    body = b"".join(folded.compress(row) for _ in range(height)) + folded.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def png_claiming(width: int, height: int) -> bytes:
    """A PNG that says it is so large, and holds next to nothing."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(1_000_000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def wave() -> bytes:
    """A WAV file, whose first four bytes are those of a WebP."""
    body = (
        b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + b"data" + struct.pack("<I", 64) + b"\x80" * 64
    )
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


def boxed(brand: bytes) -> bytes:
    """The beginning of an ISO base media file of a brand, with nothing in it."""
    return struct.pack(">I", 24) + b"ftyp" + brand + b"\x00\x00\x00\x00" + brand + b"mif1" + b"\x00" * 64
