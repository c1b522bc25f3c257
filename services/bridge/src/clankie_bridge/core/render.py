"""A reply as Discord takes it: parts inside the limit, code fences whole in each. Source: ROOM-5."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from clankie_bridge.core.text import is_visible
from clankie_settings import bounds

MESSAGES: Final = bounds.REPLY_PARTS - 1
"""Parts that are messages; beyond them the rest is one text file."""

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_BREAKS: Final = (re.compile(r"\n{2,}"), re.compile(r"\n"), re.compile(r"[.!?…]['\")\]]*\s"), re.compile(r"\s"))
_JOINS_BACKWARD: Final = frozenset({"Mn", "Me", "Mc", "Cf", "Sk"})


@dataclass(frozen=True, slots=True)
class Words:
    """A part that is a message."""

    text: str


@dataclass(frozen=True, slots=True)
class TextFile:
    """The part that holds what did not fit, as a text file."""

    text: str
    filename: str = "reply.txt"


Part = Words | TextFile
"""One of at most five parts of a reply."""


@dataclass(frozen=True, slots=True)
class _Fence:
    mark: str
    opening: str


def parts(text: str, limit: int = bounds.MESSAGE_CHARS) -> tuple[Part, ...]:
    """The text in parts of at most ``limit`` characters; empty where nobody could see anything of it.

    It is cut at a paragraph, line, sentence or word, in this order, and only a longer word is cut inside. A code
    fence that a cut goes through is closed before and opened again after it. At most four parts are
    messages; the rest is one text file.

    Source: ROOM-5, C60.
    """
    rest = text.strip()
    if not is_visible(rest):
        return ()
    made: list[Part] = []
    fence: _Fence | None = None
    while rest:
        if len(made) == MESSAGES:
            return (*made, TextFile(rest))
        head = f"{fence.opening}\n" if fence else ""
        if units(head + rest) <= limit:
            return (*made, Words(head + rest)) if is_visible(rest) else tuple(made)
        cut, fence = _cut(rest, fence, limit - units(head))
        tail = f"\n{fence.mark}" if fence else ""
        # Discord refuses a message in which nobody sees anything.
        if is_visible(rest[:cut]):
            made.append(Words(head + rest[:cut].rstrip() + tail))
        rest, fence = _after_closing(rest[cut:].lstrip("\n"), fence) if fence else (rest[cut:].lstrip(), None)
    return tuple(made)


def units(text: str) -> int:
    """The length of a text as a careful reading of Discord's limit counts it: UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str, fence: _Fence | None, room: int) -> tuple[int, _Fence | None]:
    """Where to cut so that part and closing fence fit in ``room`` units, and the fence that is open there."""
    cut = _break(text, _fitting(text, room), fence)
    still_open = _open_after(text[:cut], fence)
    if still_open is not None:
        cut = _break(text, _fitting(text, room - units(still_open.mark) - 1), fence)
        still_open = _open_after(text[:cut], fence)
    return cut, still_open


def _break(text: str, most: int, fence: _Fence | None) -> int:
    least = most // 2
    in_code = fence is not None or "```" in text[:most]
    for sort in _BREAKS[1:2] if in_code else _BREAKS:
        # White space may stand beyond the limit, since a part loses it at its end.
        found = [each.end() for each in sort.finditer(text, least, most + 1)]
        if found:
            return found[-1]
    return _between_graphemes(text, most)


def _between_graphemes(text: str, most: int) -> int:
    for cut in range(most, max(most - 32, 1), -1):
        joined = unicodedata.category(text[cut]) in _JOINS_BACKWARD or text[cut - 1] == "\u200d"
        if not joined:
            return cut
    return most


def _fitting(text: str, room: int) -> int:
    """How many characters of a text that is longer fit in ``room`` units; at least one, so that cutting ends."""
    index = taken = 0
    while taken <= room:
        taken += 2 if text[index] > "\uffff" else 1
        index += 1
    return max(index - 1, 1)


def _after_closing(text: str, fence: _Fence) -> tuple[str, _Fence | None]:
    """The text without the fence that would only close what was closed already."""
    found = _FENCE.match(text)
    if found is None or _open_after(found[0], fence) is not None:
        return text, fence
    return text[found.end() :].lstrip(), None


def _open_after(text: str, fence: _Fence | None) -> _Fence | None:
    for found in _FENCE.finditer(text):
        mark, info = found[1], found[2].strip()
        if fence is None:
            fence = _Fence(mark, f"{mark}{info}" if len(info) <= 20 else mark)
        elif mark[0] == fence.mark[0] and len(mark) >= len(fence.mark) and not info:
            fence = None
    return fence
