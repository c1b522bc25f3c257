"""Pictures that go with words: which file is meant, what it is called in the room, and what is said where it is not.

Nothing of a reference is trusted here, though the captain makes it: it comes over a wire. Source: ART-3, ART-4.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from clankie_settings.wire.attachment import Artifact

NAME_CHARS: Final = 64
"""Longest name of a file in a room, in characters. Source: C68."""

LARGEST: Final = 10 * 1024 * 1024
"""Largest file that Discord takes from a bot in any room, in bytes. Source: Discord's documentation, C31."""

_SUFFIXES: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_ANY_BYTES: Final = "application/octet-stream"
_REF: Final = re.compile(r"sha256:([0-9a-f]{64}):([A-Za-z0-9_-]{1,64})/([A-Za-z0-9][A-Za-z0-9._-]{0,127})")
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
_SEPARATOR: Final = "\n\n"
_COUNTS: Final = range(1, 5)


class Cause(Enum):
    """Why a picture is not with its words: a stable code, then how a room is told of one and of several.

    Attributes:
        code: What log and evidence say.
        one: The reason for one picture.
        several: The same for more.
    """

    GONE = ("gone", "its file is gone", "their files are gone")
    ALTERED = ("altered", "its file is not the one that I made", "their files are not those that I made")
    OUTSIDE = ("outside", "its file is not where my pictures belong", "their files are not where my pictures belong")
    UNREADABLE = ("unreadable", "its file could not be read", "their files could not be read")
    NO_FOLDER = ("no_folder", "the folder of my pictures is not here", "the folder of my pictures is not here")
    TOO_LARGE = ("too_large", "it is too large for Discord", "they are too large for Discord")
    NOT_PERMITTED = ("not_permitted", "I may not attach files here", "I may not attach files here")
    REFUSED = ("refused", "Discord did not take it", "Discord did not take them")
    SEVERAL = ("several", "something was wrong with it", "each for a reason of its own")

    def __init__(self, code: str, one: str, several: str) -> None:
        self.code = code
        self.one = one
        self.several = several


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file lies under the attachment root, and the SHA-256 of its bytes in hexadecimal."""

    digest: str
    folder: str
    name: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A file that goes out with words, under a name that is safe to show."""

    filename: str
    media_type: str
    data: bytes


def place(ref: str) -> Place | None:
    """The place that a reference names; None where it is none inside the root.

    Source: ART-3.
    """
    found = _REF.fullmatch(ref)
    return None if found is None else Place(found[1], found[2], found[3])


def picture(artifact: Artifact, data: bytes) -> Picture:
    """A file's bytes under a safe and short name, with a type that its suffix agrees with.

    Source: ART-4, C68.
    """
    suffix = _SUFFIXES.get(artifact.media_type, "bin")
    stem = artifact.filename.lower().rpartition(".")[0]
    words = _UNSAFE.sub("-", stem).strip("-")[: NAME_CHARS - len(suffix) - 1].strip("-") or "picture"
    return Picture(f"{words}.{suffix}", artifact.media_type if suffix != "bin" else _ANY_BYTES, data)


def named_apart(pictures: Iterable[Picture]) -> tuple[Picture, ...]:
    """The same pictures, of which no two have one name. Source: ART-4, C68."""
    taken: set[str] = set()
    apart: list[Picture] = []
    for each in pictures:
        name, number = each.filename, 1
        stem, _, suffix = name.rpartition(".")
        while name in taken:
            number += 1
            name = f"{stem[: NAME_CHARS - len(suffix) - 4].rstrip('-')}-{number}.{suffix}"
        taken.add(name)
        apart.append(replace(each, filename=name))
    return tuple(apart)


def lightened(pictures: Sequence[Picture], cause: Cause) -> tuple[Picture, ...]:
    """What may still go out after Discord refused pictures: all but the largest where size was the cause, else none.

    Source: ART-3, C31.
    """
    if cause is not Cause.TOO_LARGE:
        return ()
    largest = max(range(len(pictures)), key=lambda at: len(pictures[at].data))
    return (*pictures[:largest], *pictures[largest + 1 :])


def noted(text: str, left_out: Sequence[Cause]) -> str:
    """Words that say themselves how many pictures are missing, and why.

    Source: ART-3.
    """
    if not left_out:
        return text
    causes = Counter(left_out)
    cause = next(iter(causes)) if len(causes) == 1 else Cause.SEVERAL
    note = _note(cause, len(left_out))
    return f"{text}{_SEPARATOR}{note}" if text else note


def reads_as(content: str, text: str) -> bool:
    """Whether a message of this content is these words, whatever it says of pictures.

    Another life of the bridge may have found other pictures than this one.

    Source: OUT-1.
    """
    if content == text:
        return True
    return content.startswith(text) and any(
        content == noted(text, (cause,) * count) for cause in Cause for count in _COUNTS
    )


def _note(cause: Cause, count: int) -> str:
    if count == 1:
        return f"(I could not attach a picture: {cause.one}.)"
    return f"(I could not attach {count} pictures: {cause.several}.)"


NOTE_UNITS: Final = len(_SEPARATOR) + max(len(_note(cause, count)) for cause in Cause for count in _COUNTS)
"""What words that may be noted need to leave free, in UTF-16 units."""
