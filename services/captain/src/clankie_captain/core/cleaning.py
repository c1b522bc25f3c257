"""What a reply loses before anybody sees it: echoes of our own envelope, and calls that were only written.

The patterns of the envelope are made of the very sentences that render the envelope, so the two cannot drift apart.

Source: ROOM-7, C27.
"""

import re
from collections.abc import Collection
from typing import Final

from clankie_captain.core import context, exhibits
from clankie_captain.core.toolsyntax import without_written_calls

_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_OPENS: Final = re.compile(r"^\s*<<<(?:heard|talk|notes|task|report)-\S+ from=.*$")
_CLOSES: Final = re.compile(r"^\s*\S+>>>\s*$")


def _pattern(template: str) -> str:
    return re.sub(r"\\\{\w+\\\}", r".{1,100}?", re.escape(template))


_SITUATIONS: Final = (
    *(context.ADDRESSED, context.OVERHEARD, context.CAUGHT_UP),
    *(context.REPORT.replace("{pictures}", pictures) for pictures in ("", context.PICTURES_READY)),
)
_NOTES: Final = (
    context.ANSWERS,
    *(exhibits.SEEN, exhibits.UNSEEN, exhibits.BOTH),
    *(exhibits.TALK_SEEN, exhibits.TALK_KNOWN, exhibits.TALK_UNSEEN),
)
_SITUATION: Final = re.compile(
    rf"^\s*(?:(?:{'|'.join(map(_pattern, _NOTES))})\s*)*(?:{'|'.join(map(_pattern, _SITUATIONS))})\s*$"
)
_LONG: Final = 40
_OWN: Final = frozenset(
    line.strip()
    for text in (
        *(context.CONTRACT, context.STEERED, context.TALK, context.NOTES, context.TASK),
        *context.REGISTERS.values(),
    )
    for line in text.split("\n")
    if len(line.strip()) >= _LONG
)


def cleaned(text: str, tools: Collection[str] = ()) -> str:
    """The words without blocks, headers and sentences of ours, and without written calls; quoted code stays as it is.

    A block that was opened and never closed is an echo up to the end. ``tools`` names the tools that there are.
    """
    return without_written_calls(_without_echoes(text), tools).strip()


def _without_echoes(text: str) -> str:
    kept: list[str] = []
    fenced = echoing = False
    for line in text.split("\n"):
        if echoing:
            echoing = not _CLOSES.match(line)
            continue
        if _FENCE.match(line):
            fenced = not fenced
        if not fenced and _OPENS.match(line):
            echoing = True
        elif fenced or not _is_ours(line):
            kept.append(line)
    return "\n".join(kept)


def _is_ours(line: str) -> bool:
    return line.strip() in _OWN or bool(_SITUATION.match(line)) or bool(re.match(r"^\s*[0-9a-f]{12}>>>\s*$", line))
