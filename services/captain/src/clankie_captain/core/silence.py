"""The silence marker: one normalizer for the posted reply and for the typing indicator. Source: ROOM-1, ROOM-2."""

import re
import unicodedata
from typing import Final

MARKER: Final = "[[stay-silent]]"
"""What he answers when he chooses not to speak."""

_CODE: Final = re.compile(r"```.*?```", re.DOTALL)
_MARKUP: Final = "`~^|<>"


def squeezed(text: str) -> str:
    """The text without what forgiveness ignores: case, width, invisible characters, spaces, quotes, markup, full stops.

    Brackets and the hyphen stay, since the marker is made of them. Squeezing the parts of a text, however it was cut,
    gives the parts of what squeezing all of it gives.
    """
    # Decomposed, not composed: composing would let a later part change what an earlier one meant.
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(_kept(char) for char in folded)


def _kept(char: str) -> str:
    category = unicodedata.category(char)
    if char in "[]":
        return char
    if category == "Pd":
        return "-"
    return "" if category[0] in "ZPCM" or char in _MARKUP else char


def is_silence(text: str) -> bool:
    """Whether a reply is the marker and nothing else, repeated or decorated as models do. Source: ROOM-1."""
    rest = squeezed(text)
    return bool(rest) and not rest.replace(MARKER, "")


def without_marker_lines(text: str) -> str:
    """A reply of real words without the lines outside code blocks that hold only the marker.

    Such a line is meant for us; a marker in a sentence or in a code block is quoted and stays.

    Source: ROOM-1.
    """
    # Each closed code block becomes a single stand-in, so that a line is judged by what stands around its code.
    text = text.replace("\0", "")
    blocks = _CODE.findall(text)
    lines = _CODE.sub("\0", text).split("\n")
    kept = [_without_marker(line) for line in lines]
    left = "\n".join(line for line in kept if line is not None)
    return re.sub("\0", lambda _: blocks.pop(0), left).strip()


def _without_marker(line: str) -> str | None:
    if not is_silence(line):
        return line
    return "\0" * line.count("\0") or None


class Gate:
    """Says at which streamed words a response can no longer become the marker. Source: ROOM-2."""

    def __init__(self) -> None:
        self._length = 0
        self._open = False

    @property
    def open(self) -> bool:
        """Whether the words so far are an answer."""
        return self._open

    def feed(self, delta: str) -> bool:
        """Take further words; True exactly once, when they stop being able to become the marker."""
        if self._open:
            return False
        for char in squeezed(delta):
            if char != MARKER[self._length % len(MARKER)]:
                self._open = True
                return True
            self._length += 1
        return False
