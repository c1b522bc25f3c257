"""Animated pictures: whether they move, and a few moments of those that do. Runs in a worker."""

from collections.abc import Sequence
from typing import Final

from PIL import Image

from clankie_captain.media import stills
from clankie_captain.media.faults import OutOfTimeError
from clankie_captain.media.parcels import Shot
from clankie_settings import bounds

ANIMATED: Final = ("png", "gif", "webp")
"""Forms that may hold more than one frame."""


def moving(data: bytes, form: str) -> bool:
    """Whether the bytes hold more than one frame of one picture.

    Raises:
        TooLargeError: It has too many pixels.
        Exception: Whatever Pillow makes of bytes that are broken.
    """
    if form not in ANIMATED:
        return False
    with stills.opened(data, form) as image:
        return bool(getattr(image, "is_animated", False))


def moments(count: int, most: int) -> tuple[int, ...]:
    """Which frames of ``count`` stand for all: the first, the last and those evenly between. Source: IMG-5."""
    if count <= most:
        return tuple(range(count))
    return tuple(at * (count - 1) // (most - 1) for at in range(most)) if most > 1 else (0,)


def frames(data: bytes, form: str, most: int) -> list[Shot]:
    """At most ``most`` frames in their order, as PNG.

    Where the file is cut off, or claims frames that it has not, those stand for it that are there; where time runs out,
    those that it was enough for.

    Raises:
        Exception: Not even the first frame can be decoded.
    """
    seen: list[Shot] = []
    try:
        there = _gathered(data, form, (0,), seen)
        if most > 1 and there:
            count = _count(data, form)
            whole = _gathered(data, form, moments(count, most), seen)
            if whole < count and len(seen) < min(most, whole):
                _gathered(data, form, moments(whole, most), seen)
    except OutOfTimeError:
        if not seen:
            raise
    return seen


def _count(data: bytes, form: str) -> int:
    with stills.opened(data, form) as image:
        return int(getattr(image, "n_frames", 1))


def _gathered(data: bytes, form: str, wanted: Sequence[int], seen: list[Shot]) -> int:
    """Put the wanted frames into ``seen`` in place of what is there; how many frames were found to be whole.

    Where time runs out, ``seen`` becomes what was wanted and reached, and how far it came on the way to the next.
    """
    fresh: list[Shot] = []
    waypoint: Image.Image | None = None
    try:
        with stills.opened(data, form) as image:
            for at in range(wanted[-1] + 1):
                if not _whole(image, at):
                    seen[:] = fresh
                    return at
                if at in wanted:
                    fresh.append(_frame(image))
                    waypoint = None
                elif at.bit_count() == 1:
                    # At every doubling, so that a frame costs next to nothing and the newest is never far behind.
                    waypoint = stills.plain(image, bounds.FRAME_SIDE).copy()
    except OutOfTimeError:
        seen[:] = max(seen, [*fresh, *([] if waypoint is None else [_encoded(waypoint)])], key=len)
        raise
    seen[:] = fresh
    return wanted[-1] + 1


def _whole(image: Image.Image, at: int) -> bool:
    try:
        image.seek(at)
        image.load()
    except OutOfTimeError:
        raise
    except Exception:
        # Not even the first is for the caller to say; after it, those before stand for all.
        if at == 0:
            raise
        return False
    return True


def _frame(image: Image.Image) -> Shot:
    return _encoded(stills.plain(image, bounds.FRAME_SIDE))


def _encoded(image: Image.Image) -> Shot:
    return stills.encoded(image, lossless=True, moving=True)
