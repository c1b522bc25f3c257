"""A reply as Discord takes it: parts inside the limit, code fences whole in each. Source: ROOM-5."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import regex

from clankie_bridge.core.text import is_visible, shows_something
from clankie_settings import bounds

MESSAGES: Final = bounds.REPLY_PARTS - 1
"""Parts that are messages; beyond them the rest is one text file."""

LONGEST_MARK: Final = 32
"""A longer run of backticks or tildes opens no fence: repairing it would fill the parts with it."""

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_BREAKS: Final = (re.compile(r"\n{2,}"), re.compile(r"\n"), re.compile(r"[.!?…]['\")\]]*\s"), re.compile(r"\s"))
_FENCE_BEGUN: Final = re.compile(r" {0,3}(?:`{3}|~{3})")
_CLUSTER: Final = regex.compile(r"\X")
_BLANK: Final = regex.compile(r"\A(?:\s(?![\p{M}\p{Emoji_Modifier}\u200c\u200d]))+")


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
class Fence:
    """An open code block: the mark that closes it, and the line that opens it again."""

    mark: str
    opening: str


def parts(text: str, limit: int = bounds.MESSAGE_CHARS) -> tuple[Part, ...]:
    """The text in parts of at most ``limit`` characters; empty where nobody could see anything of it.

    It is cut at a paragraph, line, sentence or word, in this order, and only a longer word is cut inside, between
    what a reader takes for letters. A code fence that a cut goes through is closed before and opened again after
    it, and one that the text leaves open is closed at the end. At most four parts are messages; the rest is one
    text file.

    Source: ROOM-5, C60.
    """
    rest = text.strip()
    if not shows_something(rest):
        return ()
    made: list[Part] = []
    fence: Fence | None = None
    while rest:
        if len(made) == MESSAGES:
            return (*made, TextFile(rest))
        head = f"{fence.opening}\n" if fence else ""
        last = head + rest + _closing(open_after(rest, fence))
        if units(last) <= limit:
            return (*made, Words(last)) if is_visible(rest) else tuple(made)
        cut, fence = _cut(rest, fence, limit - units(head))
        # Discord refuses a message in which nobody sees anything.
        if is_visible(rest[:cut]):
            made.append(Words(head + rest[:cut].rstrip() + _closing(fence)))
        rest, fence = _after_closing(rest[cut:].lstrip("\n"), fence) if fence else (_begun(rest[cut:]), None)
    return tuple(made)


def last_message(made: Sequence[Part]) -> int:
    """The number of the last part that is a message, counted from 1; 0 where there is none.

    What goes with words goes with these: a message is known again by its words, and has room for a sentence.

    Source: ART-3.
    """
    return max((number for number, part in enumerate(made, start=1) if isinstance(part, Words)), default=0)


def units(text: str) -> int:
    """The length of a text as a careful reading of Discord's limit counts it: UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def open_after(text: str, fence: Fence | None = None) -> Fence | None:
    """The code block that is open at the end of a text, where ``fence`` is the one that was open before it."""
    for found in _FENCE.finditer(text):
        mark, info = found[1], found[2].strip()
        if fence is not None:
            if mark[0] == fence.mark[0] and len(mark) >= len(fence.mark) and not info:
                fence = None
        elif len(mark) <= LONGEST_MARK:
            fence = Fence(mark, f"{mark}{info}" if len(info) <= 20 else mark)
    return fence


def _closing(fence: Fence | None) -> str:
    return f"\n{fence.mark}" if fence else ""


def _cut(text: str, fence: Fence | None, room: int) -> tuple[int, Fence | None]:
    """Where to cut so that part and closing fence fit in ``room`` units, and the fence that is open there."""
    kept_free = 0
    while True:
        cut = _break(text, _fitting(text, room - kept_free), fence)
        still_open = open_after(text[:cut], fence)
        # An earlier cut may lie in another block, with a longer mark.
        if units(_closing(still_open)) <= kept_free:
            return cut, still_open
        kept_free = units(_closing(still_open))


def _break(text: str, most: int, fence: Fence | None) -> int:
    in_code = fence is not None or _FENCE.search(text, 0, most) is not None
    for sort in _BREAKS[1:2] if in_code else _BREAKS:
        # White space may stand beyond the limit, since a part loses it at its end.
        for found in reversed([*sort.finditer(text, most // 2, most + 1)]):
            # White space may carry a mark of its own, and then belongs to it.
            if _between_clusters(text, found.end()) == found.end():
                return _outside_fence_line(text, found.end())
    return _between_clusters(text, _outside_fence_line(text, most))


def _outside_fence_line(text: str, cut: int) -> int:
    """The start of the line where the cut would go through a fence, for half a fence is none."""
    start = text.rfind("\n", 0, cut) + 1
    return start if 0 < start < cut and _FENCE_BEGUN.match(text, start) is not None else cut


def _between_clusters(text: str, most: int) -> int:
    """The last place up to ``most`` that parts no letter, emoji or flag; ``most`` where one alone is longer."""
    cut = 0
    for found in _CLUSTER.finditer(text):
        if found.end() > most:
            break
        cut = found.end()
    return cut or most


def _fitting(text: str, room: int) -> int:
    """How many characters of a text that is longer fit in ``room`` units; at least one, so that cutting ends."""
    index = taken = 0
    while index < len(text):
        taken += 2 if text[index] > "\uffff" else 1
        if taken > room:
            break
        index += 1
    return max(index, 1)


def _after_closing(text: str, fence: Fence) -> tuple[str, Fence | None]:
    """The text without the fence that would only close what was closed already."""
    found = _FENCE.match(text)
    if found is None or open_after(found[0], fence) is not None:
        return text, fence
    return _begun(text[found.end() :]), None


def _begun(text: str) -> str:
    """The text from its first letter on; white space that carries a mark is one."""
    return _BLANK.sub("", text, count=1)
