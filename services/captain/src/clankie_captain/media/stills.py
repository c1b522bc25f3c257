"""Stills: decoded whole, upright, in sRGB, without metadata, as small as a provider wants them. Runs in a worker."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# Pillow's types name numpy's, and numpy is not here.

import io
import struct
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final

from PIL import GifImagePlugin, Image, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

from clankie_captain.media.faults import TooLargeError
from clankie_captain.media.parcels import Shot
from clankie_settings import bounds

PLUGINS: Final = {
    "png": PngImagePlugin.PngImageFile.format,
    "jpeg": JpegImagePlugin.JpegImageFile.format,
    "gif": GifImagePlugin.GifImageFile.format,
    "webp": WebPImagePlugin.WebPImageFile.format,
}
"""The one Pillow plugin for each form that is shown: no other looks at the bytes."""

QUALITIES: Final = (85, 70, 50)
"""Of JPEG, tried in turn before a picture is made smaller."""

SHRINK: Final = 0.75
"""By how much a picture becomes smaller that is still too many bytes."""

LIGHT: Final = 160
"""Mean brightness, of 255, from which what is drawn on nothing is laid on a dark ground."""

_ORIENTATION: Final = 0x0112
_DARK: Final = (49, 51, 56)
_WHITE: Final = (255, 255, 255)
_DEEP: Final = 256


def still(data: bytes, form: str) -> Shot:
    """The one picture that the bytes hold, or the first.

    Raises:
        TooLargeError: It has too many pixels.
        MemoryError: It needs more memory than the worker has.
        Exception: Whatever Pillow makes of bytes that are broken.
    """
    with opened(data, form) as image:
        if form == "jpeg":
            # libjpeg decodes at an eighth, a quarter or a half without the memory for the whole.
            image.draft(None, (bounds.PICTURE_SIDE, bounds.PICTURE_SIDE))
        image.load()
        profile, turned = _profile(image), _orientation(image)
        seen = plain(image, bounds.PICTURE_SIDE, profile)
    if turned is not None:
        seen = seen.transpose(turned)
    return encoded(seen, lossless=form != "jpeg")


@contextmanager
def opened(data: bytes, form: str) -> Generator[Image.Image]:
    """A picture whose beginning is read and whose pixels are counted.

    Raises:
        TooLargeError: It has too many pixels.
        Exception: Whatever Pillow makes of bytes that are broken.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(data), formats=[str(PLUGINS[form])]) as image:
                if image.width * image.height > bounds.PICTURE_PIXELS:
                    raise TooLargeError
                yield image
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise TooLargeError from error


def plain(image: Image.Image, side: int, profile: bytes | None = None) -> Image.Image:
    """A decoded picture inside ``side`` pixels squared, as grey or RGB in sRGB, on a ground, without anything else."""
    small = _shrunk(_eight_bits(image), side)
    flat = _grounded(small)
    return _in_srgb(flat, profile)


def encoded(image: Image.Image, *, lossless: bool, moving: bool = False) -> Shot:
    """A grey or RGB picture within the bytes that a part may have: PNG where it was lossless and fits, else JPEG.

    Frames of something that moves (``moving``) stay PNG and become smaller instead. Source: IMG-3, IMG-5.
    """
    image = image.copy()
    image.info = {}
    while True:
        for form, settings in _encodings(lossless=lossless, moving=moving):
            out = io.BytesIO()
            image.save(out, form, **settings)
            if out.tell() <= bounds.PICTURE_PART_BYTES:
                return Shot(out.getvalue(), f"image/{form.lower()}", *image.size)
        image = _shrunk(image, max(1, int(max(image.size) * SHRINK)))


def _encodings(*, lossless: bool, moving: bool) -> Iterator[tuple[str, dict[str, int]]]:
    if lossless or moving:
        yield "PNG", {}
    if not moving:
        yield from (("JPEG", {"quality": quality}) for quality in QUALITIES)


def _eight_bits(image: Image.Image) -> Image.Image:
    if "transparency" in image.info and image.mode in ("1", "L", "P", "RGB"):
        return image.convert("RGBA")
    match image.mode:
        case "L" | "RGB" | "RGBA" | "LA" | "CMYK":
            return image
        case "1":
            return image.convert("L")
        case "PA":
            return image.convert("RGBA")
        case mode if mode.startswith("I"):
            # 16 bits of grey: Pillow would cut off at 255 what is brighter.
            return image.convert("I").point(lambda value: value * (1 / _DEEP)).convert("L")
        case _:
            return image.convert("RGB")


def _shrunk(image: Image.Image, side: int) -> Image.Image:
    longest = max(image.size)
    if longest <= side:
        return image
    width, height = (max(1, round(length * side / longest)) for length in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)


def _grounded(image: Image.Image) -> Image.Image:
    if image.mode not in ("RGBA", "LA"):
        return image
    image = image.convert("RGBA")
    alpha = image.getchannel("A")
    # What is drawn in white on nothing would vanish on white.
    seen = image.convert("RGB").convert("L").histogram(alpha.point([255 * (value >= LIGHT) for value in range(256)]))
    weight = sum(seen)
    light = weight > 0 and sum(value * count for value, count in enumerate(seen)) / weight >= LIGHT
    ground = Image.new("RGB", image.size, _DARK if light else _WHITE)
    ground.paste(image, mask=alpha)
    return ground


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if profile is not None:
        # Most pictures have none, and every worker pays for what it imports.
        from PIL import ImageCms

        try:
            found = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            converted = ImageCms.profileToProfile(image, found, ImageCms.createProfile("sRGB"), outputMode="RGB")
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            # A profile that does not fit costs the exact colours, and not the picture.
            converted = None
        if converted is not None:
            return converted
    return image if image.mode in ("L", "RGB") else image.convert("RGB")


def _profile(image: Image.Image) -> bytes | None:
    found = image.info.get("icc_profile")
    return found if isinstance(found, bytes) and found else None


def _orientation(image: Image.Image) -> Image.Transpose | None:
    try:
        said: object = image.getexif().get(_ORIENTATION)
    except (OSError, SyntaxError, ValueError, struct.error, KeyError, IndexError, TypeError):
        # Broken metadata is none.
        return None
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    return turns.get(said) if isinstance(said, int) else None
