"""What people wrote and tools found, between two lines that nothing in it can imitate. Source: CTX-4."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final, Literal, get_args

_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = (range(0xFE00, 0xFE0E), range(0xE0100, 0xE01F0))

Kind = Literal["heard", "talk", "task", "report", "notes", "record", "output", "file", "page", "found", "answer"]
"""What a block holds; there are no others, so whoever looks for blocks knows them all."""

OPENING: Final = re.compile(rf"<<<(?:{'|'.join(get_args(Kind))})-(?P<key>\S+) \w+=.*")
"""A line that opens a block with labels; all have some but `record`, which no lane is shown."""

CLOSING: Final = re.compile(r"\S+>>>")
"""A line that may close one; its own is its key and ``>>>``."""


def block(kind: Kind, delimiter: str, labels: str, *texts: str) -> str:
    """Texts in a block, below one another; the delimiter must occur in none of it. ``labels`` begin with a space."""
    return "\n".join([f"<<<{kind}-{delimiter}{labels}", *texts, f"{delimiter}>>>"])


def fenced(kind: Kind, labels: Mapping[str, str], text: str, fresh: Callable[[], str]) -> str:
    """Text from outside as the model reads it, with what is said of it.

    ``fresh`` makes random delimiters, of which the first is taken that occurs in none of it.
    """
    said = "".join(f" {name}={json.dumps(value, ensure_ascii=True)}" for name, value in labels.items())
    delimiter = fresh()
    while delimiter in text or delimiter in said:
        delimiter = fresh()
    return block(kind, delimiter, said, text)


def visible(text: str) -> str:
    """The text without what no reader sees: controls, marks of direction, tags, and selectors that hide letters.

    What joins letters and pictures stays, for words of some scripts are not the same without it.
    """
    return "".join(each for each in text if not _hidden(each))


def _hidden(char: str) -> bool:
    if char in "\n\t" or char in _JOINERS:
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co") or any(ord(char) in each for each in _SELECTORS)
