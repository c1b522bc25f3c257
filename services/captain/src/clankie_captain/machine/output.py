"""What a command writes, of which beginning and end are kept. Source: GRANT-4."""

from asyncio import StreamReader
from collections import deque
from typing import Final

from clankie_captain.core.printing import shortened

PIECE: Final = 64 * 1024
"""Bytes that are read at a time."""


class Output:
    """Keeps ``most`` bytes, half from the beginning and half from the end, of whatever is written."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._head = bytearray()
        self._tail = deque[bytes]()
        self._behind = 0
        self._dropped = 0

    @property
    def size(self) -> int:
        """Bytes that were written in all."""
        return len(self._head) + self._behind + self._dropped

    @property
    def cut(self) -> int:
        """Bytes of the middle that are left out."""
        return self._dropped + max(0, self._behind - self._half)

    async def listen(self, source: StreamReader, flood: int) -> bool:
        """Take what comes until it ends; true where it did, false where more than ``flood`` bytes came."""
        while piece := await source.read(PIECE):
            self._take(piece)
            if self.size > flood:
                return False
        return True

    def text(self) -> str:
        """Beginning and end as text, with a word on what is missing between them."""
        behind = b"".join(self._tail)
        return shortened(bytes(self._head), behind[max(0, len(behind) - self._half) :], self.cut)

    def _take(self, piece: bytes) -> None:
        room = self._half - len(self._head)
        self._head += piece[:room]
        if rest := piece[room:]:
            self._tail.append(rest)
            self._behind += len(rest)
        while self._tail and self._behind - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._behind -= gone
            self._dropped += gone
