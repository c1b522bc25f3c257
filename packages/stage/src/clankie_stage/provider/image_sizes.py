"""Width and height of a picture, and whether it moves, by its header alone."""

import struct

_NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


def pixels(data: bytes, media_type: str) -> tuple[int, int] | None:
    """Width and height in pixels; None where the header does not say them."""
    try:
        match media_type:
            case "image/png":
                return struct.unpack_from(">II", data, 16)
            case "image/gif":
                return struct.unpack_from("<HH", data, 6)
            case "image/webp":
                return _webp(data)
            case _:
                return _jpeg(data)
    except (struct.error, IndexError):
        return None


def moves(data: bytes, media_type: str) -> bool:
    """Whether it is an animation by its own flag: of several frames only one would be seen. Source: C59."""
    if media_type == "image/gif":
        return b"NETSCAPE2.0" in data
    if media_type == "image/png":
        return b"acTL" in data[: data.find(b"IDAT")]
    return media_type == "image/webp" and data[12:16] == b"VP8X" and bool(data[20] & 2)


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            packed = struct.unpack_from("<I", data, 21)[0]
            return 1 + (packed & 0x3FFF), 1 + (packed >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at < len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF or marker in _BARE:
            at += 1 if marker == 0xFF else 2
            continue
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None
