"""What his words lose before anybody sees them: echoes of our own envelope, and calls that were only written.

The envelope is known by the very sentences, and the blocks by the very kinds, that render it, so the two cannot drift
apart.

Source: ROOM-7, C27.
"""

import re
from collections.abc import Collection
from itertools import pairwise
from typing import Final

from clankie_captain.core import context, exhibits
from clankie_captain.core.quoting import CLOSING, OPENING
from clankie_captain.core.stand_ins import GONE
from clankie_captain.core.toolsyntax import without_written_calls

_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_STRAY: Final = re.compile(r"[0-9a-f]{12}>>>")

_ANYTHING: Final = r"[^.\n]{1,400}?"
_FILLED: Final = {
    "where": "|".join(map(re.escape, context.PLACES)),
    "message_id": r"[^\s.]{1,100}",
    **dict.fromkeys(("number", "frames"), r"\d+"),
    **dict.fromkeys(("what", "more"), r"\d+ [a-z ]{1,40}"),
}


def _pattern(template: str) -> str:
    # None of what stands there holds a full stop, so that one sentence cannot pass for several.
    return re.sub(r"\\\{(\w+)\\\}", lambda found: f"(?:{_FILLED.get(found[1], _ANYTHING)})", re.escape(template))


_TEMPLATES: Final = (
    *(context.ADDRESSED, context.OVERHEARD, context.CAUGHT_UP, context.ANSWERS),
    *(context.REPORT.replace("{pictures}", pictures) for pictures in ("", context.PICTURES_READY)),
    *(exhibits.SEEN, exhibits.UNSEEN, exhibits.BOTH),
    *(exhibits.TALK_SEEN, exhibits.TALK_KNOWN, exhibits.TALK_UNSEEN),
    *(exhibits.STILL, exhibits.MOVING, exhibits.PREVIEW),
)
# Possessive: a line that repeats a sentence of ours must not be tried in every combination.
_SENTENCES: Final = re.compile(rf"(?:(?:{'|'.join(map(_pattern, _TEMPLATES))})\s*)++")

_LONG: Final = 40
_TEXTS: Final = tuple(
    [line.strip() for line in text.split("\n") if line.strip()]
    for text in (
        *(context.CONTRACT, context.STEERED, context.TALK, context.NOTES, context.TASK),
        *context.REGISTERS.values(),
        *(exhibits.POSTED, GONE),
    )
)
_OWN: Final = tuple(line for lines in _TEXTS for line in lines if len(line) >= _LONG)
_WHOLE: Final = frozenset(lines[0] for lines in _TEXTS if len(lines) == 1)
_NEXT: Final = {line: after for lines in _TEXTS for line, after in pairwise(lines)}
_BEFORE: Final = {after: line for line, after in _NEXT.items()}


def cleaned(text: str, tools: Collection[str] = ()) -> str:
    """The words without blocks, headers and sentences of ours, and without written calls; quoted code stays as it is.

    A block that was opened and never closed is an echo up to the end, and so is a text of ours that breaks off.
    ``tools`` names the tools that there are.
    """
    return without_written_calls(_without_echoes(text), tools).strip()


def _without_echoes(text: str) -> str:
    lines = text.split("\n")
    closings = {line.strip(): at for at, line in enumerate(lines) if CLOSING.fullmatch(line.strip())}
    kept: list[str] = []
    fenced = False
    closing = follows = None
    for at, line in enumerate(lines):
        said = line.strip()
        if closing is not None:
            closing = None if closing.fullmatch(said) else closing
            continue
        if _FENCE.match(line):
            fenced = not fenced
        if fenced:
            kept.append(line)
        elif (opens := OPENING.fullmatch(said)) is not None:
            own = f"{opens['key']}>>>"
            # With a mistaken key, the first line that might close it does.
            closing = re.compile(re.escape(own)) if closings.get(own, at) > at else CLOSING
        elif (own := _own(said, follows)) is not None:
            if kept and _BEFORE.get(own) == kept[-1].strip():
                # A heading, too short to be known by itself.
                kept.pop()
            follows = _NEXT.get(own) if said == own else None
        elif not _SENTENCES.fullmatch(said) and not _STRAY.fullmatch(said) and (said or follows is None):
            kept.append(line)
            follows = None
    return "\n".join(kept)


def _own(said: str, follows: str | None) -> str | None:
    """The whole line of ours that this one is, or begins; ``follows`` is the one that would come now in an echo."""
    if follows is not None and said and follows.startswith(said):
        return follows
    if said in _WHOLE:
        return said
    return next((own for own in _OWN if own.startswith(said)), None) if len(said) >= _LONG else None
