"""How large a message is and how much work it makes, told before it is parsed: that holds everybody up, to its end."""

from typing import Final

from clankie_settings import bounds

LIGHT: Final = 16 * 1024
"""Bytes of a message that is never too much work."""


class Scales:
    """Weighs one message that comes in lines, or any number of them one after the other."""

    def __init__(self) -> None:
        self._size = self._parts = 0

    def takes(self, line: bytes) -> bool:
        """Whether a message may hold this further line, too."""
        self._size += len(line)
        self._parts += _parts(line)
        return self._size <= LIGHT or (
            self._size <= bounds.SERVER_MESSAGE_BYTES and self._parts <= bounds.SERVER_MESSAGE_PARTS
        )

    def has_room(self, rest: bytes | bytearray) -> bool:
        """Whether a message may be as long as with what has come of its next line."""
        return self._size + len(rest) <= bounds.SERVER_MESSAGE_BYTES

    def clear(self) -> None:
        """Begin with the next message."""
        self._size = self._parts = 0


def _parts(line: bytes) -> int:
    """The strings, lists, objects and members in some JSON."""
    bare = line.replace(rb"\\", b"").replace(rb"\"", b"")
    strings = bare.count(b'"') // 2
    if strings > bounds.SERVER_MESSAGE_PARTS:
        return strings
    outside = b"".join(bare.split(b'"')[::2])
    return strings + sum(outside.count(each) for each in (b",", b"{", b"["))
