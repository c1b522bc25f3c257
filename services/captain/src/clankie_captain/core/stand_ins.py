"""What stands for a picture in a lane's history: its hash and size, never its bytes. Source: IMG-7, LANE-14."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, cast

from clankie_captain.core.pictures import Stored
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId

GONE: Final = "(a picture that cannot be shown any more)"
"""What is read where a picture stood that the provider refused, that had to make room, or whose file is gone."""

_STAND_IN: Final = re.compile(r"picture:([0-9a-f]{64})/([0-9]{1,12})/\S*")


def stand_in(stored: Stored, delivery: DeliveryId) -> str:
    """What stands for a part that came with a delivery; the same picture of another delivery is another."""
    return f"picture:{stored.digest}/{stored.byte_size}/{delivery}"


def digest_of(text: str) -> str | None:
    """The hash of what a text stands for; None where it stands for no picture."""
    found = _STAND_IN.fullmatch(text)
    return found[1] if found else None


def without(payload: str, gone: Collection[str]) -> str | None:
    """An entry's payload with words in the place of these pictures; None where it holds none of them."""
    if not any(each in payload for each in gone):
        return None

    def replaced(item: Any) -> Any:
        return GONE if isinstance(item, dict) and cast("dict[str, Any]", item).get("url") in gone else cast("Any", item)

    document = json.loads(payload)
    parts = [_with_items(part, replaced) for part in document.get("parts", ())]
    return json.dumps({**document, "parts": parts}, ensure_ascii=False, separators=(",", ":"))


def surplus(
    shown: Sequence[str],
    latest: int,
    most_bytes: int = bounds.PICTURE_REQUEST_BYTES,
    most: int = bounds.PICTURES_A_REQUEST,
) -> tuple[str, ...]:
    """Which of the pictures of a request must go, the oldest first; the last ``latest`` are those of this very message.

    A provider takes so many and so large ones, and no more. Where they are too many, half of the room is made free at
    once: each time that something goes, the provider reads the history anew.
    """
    if _fits(shown, most_bytes, most):
        return ()
    for room_bytes, room in ((most_bytes // 2, most // 2), (most_bytes, most)):
        stay = next(at for at in range(len(shown) + 1) if _fits(shown[at:], room_bytes, room))
        if len(shown) - stay >= latest:
            break
    return tuple(shown[:stay])


def _fits(shown: Sequence[str], most_bytes: int, most: int) -> bool:
    return len(shown) <= most and sum(map(_size, shown)) <= most_bytes


def _size(text: str) -> int:
    found = _STAND_IN.fullmatch(text)
    return int(found[2]) if found else 0


def _with_items(part: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    content = part.get("content")
    if not isinstance(content, list):
        return part
    return {**part, "content": [change(each) for each in cast("list[Any]", content)]}
