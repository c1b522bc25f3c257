"""What captain and worker say to one another: four bytes of length, as much JSON, then the bytes that it announces.

Nothing that a worker says is trusted: it has read what strangers posted. So there is no pickle, every number is bounded
before it is believed, and the captain looks at the pictures' own first bytes again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal, cast

from clankie_settings import bounds

HEAD_BYTES: Final = 4_096
"""Longest JSON of a parcel, in bytes."""

LENGTH_BYTES: Final = 4
"""The length before it, big-endian."""

READY: Final = b"."
"""What a worker says when it is up; one that ends before has not seen the picture."""

Fault = Literal["unsupported", "too_large", "timed_out", "broken", "unavailable"]
"""Those of the causes of ``core.pictures`` that a worker may name."""

FAULTS: Final[tuple[Fault, ...]] = ("unsupported", "too_large", "timed_out", "broken", "unavailable")

_TYPES: Final = ("image/png", "image/jpeg")


@dataclass(frozen=True, slots=True)
class Errand:
    """What a worker is to do.

    Attributes:
        form: What the bytes are, as ``core.pictures.sniff`` has it.
        most: Pictures to bring back at most.
        size: How many bytes follow.
        seconds: How long frames of something that moves are gathered.
        folder: An empty folder for a film; gone when the worker has ended.
        ffmpeg: The program that takes a film apart; None where there is none.
    """

    form: str
    most: int
    size: int
    seconds: float
    folder: str | None = None
    ffmpeg: str | None = None


@dataclass(frozen=True, slots=True)
class Shot:
    """One encoded picture: its bytes, their type, width and height in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Announced:
    """What a worker says that it has: type, width, height and size in bytes of each picture; or why it has none."""

    shots: tuple[tuple[str, int, int, int], ...] = ()
    fault: Fault | None = None


class ParcelError(ValueError):
    """A parcel is none: too long, no JSON, or not of the agreed shape."""


def packed(head: Mapping[str, object]) -> bytes:
    """The beginning of a parcel."""
    said = json.dumps(head).encode()
    return len(said).to_bytes(LENGTH_BYTES, "big") + said


def errand_head(errand: Errand) -> bytes:
    """The beginning of an errand; its bytes follow."""
    return packed({name: getattr(errand, name) for name in Errand.__slots__})


def read_errand(source: BinaryIO) -> tuple[Errand, bytes]:
    """An errand and its bytes, as the captain sent them.

    Raises:
        ParcelError: The captain sent something else, or went away in the middle.
    """
    length = int.from_bytes(source.read(LENGTH_BYTES), "big")
    fields = _json(source.read(length))
    try:
        errand = Errand(**cast("dict[str, Any]", fields))
    except TypeError as error:
        raise ParcelError("no errand") from error
    data = source.read(errand.size)
    if len(data) != errand.size:
        raise ParcelError("it ends too early")
    return errand, data


def outcome(result: Sequence[Shot] | Fault) -> list[bytes]:
    """What a worker sends back, in pieces."""
    if isinstance(result, str):
        return [packed({"fault": result})]
    listed = [[each.media_type, each.width, each.height, len(each.data)] for each in result]
    return [packed({"shots": listed}), *(each.data for each in result)]


def announced(head: bytes, most: int) -> Announced:
    """What a worker announces, with every number within its bound.

    Raises:
        ParcelError: It is none of what was agreed.
    """
    fields = _json(head)
    fault, shots = fields.get("fault"), fields.get("shots")
    if fault is not None:
        if fault not in FAULTS:
            raise ParcelError("an unknown fault")
        return Announced(fault=fault)
    if not isinstance(shots, list):
        raise ParcelError("no shots")
    listed = tuple(_shot(each) for each in cast("list[object]", shots))
    if not 1 <= len(listed) <= most:
        raise ParcelError("too many shots, or none")
    return Announced(listed)


def _shot(said: object) -> tuple[str, int, int, int]:
    match said:
        case [str(media_type), int(width), int(height), int(size)]:
            within = 0 < width <= bounds.PICTURE_SIDE and 0 < height <= bounds.PICTURE_SIDE
            if media_type in _TYPES and within and 0 < size <= bounds.PICTURE_PART_BYTES:
                return media_type, width, height, size
        case _:
            pass
    raise ParcelError("a shot out of bounds")


def _json(text: bytes) -> dict[str, object]:
    if len(text) > HEAD_BYTES:
        raise ParcelError("too long")
    try:
        fields: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParcelError("no JSON") from error
    if not isinstance(fields, dict):
        raise ParcelError("no object")
    return cast("dict[str, object]", fields)
