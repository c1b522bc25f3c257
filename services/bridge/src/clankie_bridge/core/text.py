"""What people typed, made safe to store and to show, without changing what it says."""

import re
import unicodedata
from typing import Final

_UNSTORABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_UNSAFE_IN_A_NAME: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]+"
)
_BLANK_LOOKING: Final = frozenset("\u2800\u3164\u115f\u1160\uffa0")
_MARKUP: Final = str.maketrans("", "", "`*_~|>#")
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp"})


def cleaned(text: str) -> str:
    """The text without control characters but newline and tab; half a surrogate pair becomes U+FFFD.

    Source: LANE-14.
    """
    if _UNSTORABLE.search(text) is None:
        return text
    return _UNSTORABLE.sub(lambda found: "\ufffd" if found[0] >= "\ud800" else "", text)


def inert_name(text: str, longest: int) -> str:
    """The text as one line that can neither break out of a line nor turn it around, at most ``longest`` characters.

    Empty where nothing readable is left.

    Source: CTX-4.
    """
    line = " ".join(_UNSAFE_IN_A_NAME.sub(" ", text).split())
    return line[:longest].rstrip()


def is_visible(text: str) -> bool:
    """Whether a reader would see anything of the text. Source: ING-1, ROOM-7."""
    for char in text:
        if char.isascii():
            if char > " " and char != "\x7f":
                return True
        elif char not in _BLANK_LOOKING and unicodedata.category(char) not in _INVISIBLE_CATEGORIES:
            return True
    return False


def shows_something(text: str) -> bool:
    """Whether a reader would see more of the text than marks that Discord takes for markup. Source: ROOM-7, C60."""
    return is_visible(text.translate(_MARKUP))
