"""Image parts: the declared type against the bytes, and cheap signs of a truncated file."""

import base64
import binascii
from collections.abc import Iterator

from clankie_stage.provider.image_sizes import moves, pixels
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal, invalid, missing, wrong_type
from clankie_stage.provider.shapes import JsonObject, mapping

TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"
_JPEG_TAIL = 1024


def sniff(data: bytes) -> str | None:
    """The image type that the bytes themselves claim, or None when they are none of the four. Source: C03."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def truncated(data: bytes, media_type: str) -> bool:
    """Whether the file visibly lacks its end. False proves nothing: only decoding finds every cut. Source: C13."""
    match media_type:
        case "image/png":
            return not _png_ends(data)
        case "image/jpeg":
            # Writers may leave padding after the end mark; a thumbnail's end mark sits near the start.
            return _JPEG_END not in data[max(3, len(data) - _JPEG_TAIL) :]
        case "image/gif":
            return not data.rstrip(b"\x00").endswith(b";")
        case _:
            return len(data) < 20 or int.from_bytes(data[4:8], "little") + 8 > len(data)


def image_rules(part: JsonObject, path: str, limits: Limits) -> Iterator[Refusal]:
    """What makes an ``image_url`` part unacceptable. Source: C03, C04, C13, C32, C55."""
    if not limits.vision:
        yield invalid(path, "This model takes no images: unknown variant `image_url`, expected `text`.")
        return
    image = mapping(part.get("image_url"))
    if image is None:
        yield wrong_type(f"{path}.image_url", "an object")
        return
    if image.get("detail", "auto") not in ("auto", "low", "high", "original"):
        yield invalid(f"{path}.image_url.detail", "detail is auto, low, high or original.")
    url = image.get("url")
    if url is None:
        yield missing(f"{path}.image_url.url")
    elif not isinstance(url, str):
        yield wrong_type(f"{path}.image_url.url", "a string")
    else:
        yield from _url_rules(url, f"{path}.image_url.url", limits)


def _url_rules(url: str, path: str, limits: Limits) -> Iterator[Refusal]:
    head, comma, encoded = url.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        yield invalid(path, "Expected a base64 data URL: this provider downloads nothing.", "invalid_image_url")
        return
    declared = head.removeprefix("data:").removesuffix(";base64")
    yield from encoded_rules(encoded, declared, path, limits)


def encoded_rules(encoded: str, declared: object, path: str, limits: Limits) -> Iterator[Refusal]:
    """What makes base64 text of a declared image type unacceptable. Source: C03, C13, C32."""
    if declared not in TYPES:
        yield invalid(path, f"Unsupported image type: one of {', '.join(TYPES)}.", "invalid_image_format")
        return
    if len(encoded) > limits.image_base64_chars:
        bound = limits.image_base64_chars
        yield invalid(path, f"Image exceeds the maximum of {bound} bytes: {len(encoded)} bytes.", "image_too_large")
        return
    yield from _data_rules(encoded, declared, path, limits)


def _data_rules(encoded: str, declared: object, path: str, limits: Limits) -> Iterator[Refusal]:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        yield invalid(path, "The image is not valid base64.", "invalid_base64")
        return
    found = sniff(data)
    if found is None:
        yield invalid(path, "Could not process image: not png, jpeg, gif or webp.", "image_parse_error")
    elif found != declared:
        yield invalid(path, f"The image was specified as {declared}, but is {found}.", "invalid_image_format")
    elif truncated(data, found):
        yield invalid(path, "Could not process image: the file is cut off.", "image_parse_error")
    else:
        yield from _shape_rules(data, found, path, limits)


def _shape_rules(data: bytes, media_type: str, path: str, limits: Limits) -> Iterator[Refusal]:
    size = pixels(data, media_type)
    if size is None or min(size) < 1:
        yield invalid(path, "Could not process image: its header says no size.", "image_parse_error")
    elif max(size) > limits.image_side:
        yield invalid(path, f"Image dimensions exceed {limits.image_side} pixels.", "image_too_large")
    elif moves(data, media_type):
        yield invalid(path, "Animated images are not taken.", "invalid_image_format")


def _png_ends(data: bytes) -> bool:
    """Whether the chunks lead, by their own lengths, to an end chunk."""
    at = len(_PNG)
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"IEND":
            return True
        at += 12 + size
    return False
