"""What the model's words amount to, those of its last response or of an update: all that leaves comes by here.

Source: ROOM-1, ROOM-7, LANE-15, C17, C27, C60.
"""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from clankie_captain.core.cleaning import cleaned
from clankie_captain.core.silence import is_silence, without_marker_lines
from clankie_settings import bounds
from clankie_settings.wire.attachment import Artifact

_BLANK_LOOKING: Final = "\u3164\u2800\u115f\u1160\uffa0"
_MARKUP: Final = "`*_~|>#"


@dataclass(frozen=True, slots=True)
class Said:
    """Words for the room, 1 to 16,384 characters, and the files that go with them."""

    text: str
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True, slots=True)
class Silence:
    """He chose not to speak."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The model wrote nothing that anybody could see."""


Reply = Said | Silence | Missing
"""The three readings of a response."""


def read_reply(text: str | None, tools: Collection[str] = (), artifacts: tuple[Artifact, ...] = ()) -> Reply:
    """What a finished response, or an update, amounts to.

    ``tools`` names the tools that were offered, so that a call that was only written is known. Text over the wire's
    limit is cut there, with an ellipsis. ``artifacts`` go with the words; without any they go by their names, and where
    he stays silent nothing is shown.
    """
    if text is None or not visible(text):
        return _shown(artifacts)
    words = cleaned(text, tools)
    if is_silence(words):
        return Silence()
    words = without_marker_lines(words)
    if not visible(words):
        return _shown(artifacts)
    return Said(words if len(words) <= bounds.REPLY_CHARS else words[: bounds.REPLY_CHARS - 1] + "…", artifacts)


def _shown(artifacts: tuple[Artifact, ...]) -> Said | Missing:
    return Said(names(artifacts), artifacts) if artifacts else Missing()


def names(artifacts: tuple[Artifact, ...]) -> str:
    """What is said where files go out without a word."""
    return ", ".join(each.filename for each in artifacts)


def visible(text: str) -> bool:
    """Whether a reader would see anything: not only spaces, invisible characters, bare marks and bare markup."""
    return any(
        unicodedata.category(char)[0] not in "ZCM" and char not in _BLANK_LOOKING and char not in _MARKUP
        for char in unicodedata.normalize("NFKC", text)
    )
