"""What a tool found, between two lines that nothing in it can imitate. Source: CTX-4."""

import json
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = (range(0xFE00, 0xFE0E), range(0xE0100, 0xE01F0))


def quoted(text: str, name: str, delimiter: str) -> str:
    """Text of a file as the model reads it; ``delimiter`` is random and new for each.

    Raises:
        ValueError: The delimiter occurs in it; take another.
    """
    return _between("file", {"path": name}, text, delimiter)


def fenced(kind: str, labels: Mapping[str, str], text: str, fresh: Callable[[], str]) -> str:
    """Text from outside as the model reads it, with what is said of it; ``fresh`` makes a random delimiter."""
    while True:
        try:
            return _between(kind, labels, text, fresh())
        except ValueError:
            continue


def visible(text: str) -> str:
    """The text without what no reader sees: controls, marks of direction, tags, and selectors that hide letters.

    What joins letters and pictures stays, for words of some scripts are not the same without it.
    """
    return "".join(each for each in text if not _hidden(each))


def _hidden(char: str) -> bool:
    if char in "\n\t" or char in _JOINERS:
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co") or any(ord(char) in each for each in _SELECTORS)


def _between(kind: str, labels: Mapping[str, str], text: str, delimiter: str) -> str:
    said = "".join(f" {name}={json.dumps(value, ensure_ascii=True)}" for name, value in labels.items())
    if delimiter in text or delimiter in said:
        raise ValueError("the delimiter occurs in it")
    return f"<<<{kind}-{delimiter}{said}\n{text}\n{delimiter}>>>"
