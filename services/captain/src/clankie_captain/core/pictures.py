"""What is said of pictures: what bytes are, why one cannot be seen, and how many parts a delivery may show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import TypeAdapter

from clankie_settings import bounds
from clankie_settings.wire.attachment import Attachment, MediaType
from clankie_settings.wire.trigger import Trigger

Form = Literal["png", "jpeg", "gif", "webp", "bmp", "tiff", "avif", "heic", "video"]
"""What bytes are by their own beginning; ``video`` is any container that may hold a film. Source: IMG-3."""

Cause = Literal[
    "unsupported",
    "too_large",
    "over_limit",
    "off",
    "refused",
    "expired",
    "unreachable",
    "timed_out",
    "broken",
    "unavailable",
    "rejected",
]
"""Why a picture is not shown. Source: IMG-4.

``unsupported``  its bytes are nothing that is shown; ``too_large``  more bytes or pixels than are taken
``over_limit``   more pictures than one delivery shows; ``off``  pictures are switched off
``refused``      its address is none that is fetched from; ``expired``  its address leads nowhere any more
``unreachable``  the other side did not give it; ``timed_out``  fetching or decoding took too long
``broken``       its bytes cannot be decoded whole; ``unavailable``  decoding or storing failed here
``rejected``     the model's provider would not take it
"""

POLICY: Final[frozenset[Cause]] = frozenset({"unsupported", "too_large", "over_limit", "off"})
"""The causes by which a picture was left out; by all others one could not be resolved. Source: IMG-4."""

_SIGNATURES: Final[tuple[tuple[bytes, Form], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"BM", "bmp"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"\x1aE\xdf\xa3", "video"),
)
_AVIF: Final = frozenset({b"avif", b"avis"})
_HEIC: Final = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})


@dataclass(frozen=True, slots=True)
class Part:
    """One picture as a provider takes it: encoded bytes and their type, width and height in pixels. Source: IMG-3."""

    data: bytes
    media_type: MediaType
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """What some bytes show: one part for a still, chronological frames for something that moves. Source: IMG-5."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Bytes that cannot be shown, and why."""

    cause: Cause


Origin = Literal["message", "context"]
"""Whose a picture is: the message's own, or the one visual of the talk that came along. Source: CTX-5."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A part on the shelf, under the SHA-256 of its bytes in hexadecimal digits; its size in bytes. Source: IMG-7."""

    digest: str
    media_type: MediaType
    width: int
    height: int
    byte_size: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture that is shown: one part, or chronological frames of one that moves.

    ``still`` says that it moves and that only its preview is there.
    """

    origin: Origin
    parts: tuple[Stored, ...]
    still: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """A picture that is not shown, and why."""

    origin: Origin
    cause: Cause


@dataclass(frozen=True, slots=True)
class Pictures:
    """What became of a delivery's pictures, in their order. Source: IMG-4, IMG-7."""

    shown: tuple[Shown, ...] = ()
    unseen: tuple[Unseen, ...] = ()

    @property
    def parts(self) -> tuple[Stored, ...]:
        """All parts that are shown."""
        return tuple(part for each in self.shown for part in each.parts)


NO_PICTURES: Final = Pictures()
"""What a delivery of words alone has."""

PICTURES: Final = TypeAdapter(Pictures)
"""Pictures as JSON and back."""


@dataclass(frozen=True, slots=True)
class Source:
    """A picture that a delivery refers to."""

    origin: Origin
    attachment: Attachment


def sources(trigger: Trigger) -> tuple[Source, ...]:
    """The pictures that a delivery refers to, its own first. Source: IMG-1, CTX-5."""
    own = [Source("message", each) for each in trigger.attachments]
    visual = trigger.context_visual
    if visual is not None and visual.attachment is not None:
        own.append(Source("context", visual.attachment))
    return tuple(own)


def all_unseen(trigger: Trigger, cause: Cause) -> Pictures:
    """None of a delivery's pictures is shown, all for one cause."""
    return Pictures(unseen=tuple(Unseen(each.origin, cause) for each in sources(trigger)))


def sniff(data: bytes) -> Form | None:
    """What bytes are by their own beginning, whatever anybody claims; None for anything that is no picture.

    Source: IMG-3.
    """
    for signature, form in _SIGNATURES:
        if data.startswith(signature):
            return form
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:8] == b"ftyp":
        brand = data[8:12]
        return "avif" if brand in _AVIF else "heic" if brand in _HEIC else "video"
    return None


def shares(offered: Sequence[int], most: int = bounds.PICTURE_PARTS) -> tuple[int, ...]:
    """How many of its parts each source shows: one for each first, then further ones in turn. Source: IMG-5."""
    given = [0] * len(offered)
    left = most
    while left > 0:
        hungry = [at for at, parts in enumerate(offered) if given[at] < parts]
        if not hungry:
            break
        for at in hungry[:left]:
            given[at] += 1
        left -= len(hungry[:left])
    return tuple(given)


def spread(parts: int, share: int) -> tuple[int, ...]:
    """Which ``share`` of ``parts`` chronological frames are shown: the first and the last, the others between."""
    if share >= parts:
        return tuple(range(parts))
    if share == 1:
        return (0,)
    return tuple(at * (parts - 1) // (share - 1) for at in range(share))
