"""Pictures as tests of the loop need them: small PNGs on the lane's shelf, and words that show them."""

import hashlib
import itertools
import struct
import zlib
from typing import Any

from clankie_captain.core.pictures import Stored
from clankie_captain.core.run import Words
from clankie_settings.ids import DeliveryId
from tests.captain.agent.lane import Lane

CAPTION = "Picture 1, of the message 400:"


def png(grey: int, size: int = 0) -> bytes:
    """One pixel of a PNG, with padding that makes it larger."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(bytes([0, grey])))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"teSt", bytes(size)) + pixel + chunk(b"IEND", b"")


def looked(lane: Lane, text: str, *shown: bytes, delivery: str = "400", media_type: Any = "image/png") -> Words:
    """Words with pictures that lie on the lane's shelf."""
    parts = [Stored(hashlib.sha256(data).hexdigest(), media_type, 1, 1, len(data)) for data in shown]
    lane.pictures |= {part.digest: data for part, data in zip(parts, shown, strict=True)}
    exhibits = tuple(itertools.chain.from_iterable((CAPTION, part) for part in parts))
    return Words(DeliveryId(delivery), text, exhibits)
