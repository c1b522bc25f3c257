"""Transport compression of the gateway: one context per socket, flushed after every payload."""

import sys
import zlib
from typing import Protocol

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Compressor(Protocol):
    """Turns one JSON payload into the bytes of one binary frame."""

    def compress(self, payload: bytes) -> bytes:
        """The frame for a payload."""
        ...


class ZlibStream:
    """``zlib-stream``: every frame ends with a sync flush."""

    def __init__(self) -> None:
        self._context = zlib.compressobj()

    def compress(self, payload: bytes) -> bytes:
        """The frame for a payload."""
        return self._context.compress(payload) + self._context.flush(zlib.Z_SYNC_FLUSH)


class ZstdStream:
    """``zstd-stream``: every frame ends with a block flush."""

    def __init__(self) -> None:
        self._context = zstd.ZstdCompressor()

    def compress(self, payload: bytes) -> bytes:
        """The frame for a payload."""
        return self._context.compress(payload, zstd.ZstdCompressor.FLUSH_BLOCK)


def compressor(name: str) -> Compressor | None:
    """The compressor that a gateway address asks for; None for plain text frames."""
    match name:
        case "zstd-stream":
            return ZstdStream()
        case "zlib-stream":
            return ZlibStream()
        case _:
            return None
