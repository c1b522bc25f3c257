"""Reading untyped JSON: each reader gives the value in its type, or nothing."""

from collections.abc import Mapping
from typing import Any, Final, cast

from clankie_bridge.core.text import cleaned

Json = Mapping[str, Any]
"""A JSON object as Discord sends it."""

NO_OBJECT: Final[Json] = {}

_LARGEST_SNOWFLAKE: Final = 1 << 63


def snowflake(value: object) -> str | None:
    """An id that came as text or as a number."""
    if isinstance(value, str):
        return value if value.isascii() and value.isdecimal() and len(value) <= 19 else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if 0 <= value < _LARGEST_SNOWFLAKE else None
    return None


def text(value: object) -> str:
    """A text, made safe to store; empty where there is none."""
    return cleaned(value) if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """A whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def json_object(value: object) -> Json:
    """A JSON object; empty where there is none."""
    return cast("Json", value) if isinstance(value, Mapping) else NO_OBJECT


def objects(value: object) -> list[Json]:
    """The JSON objects of a list."""
    if not isinstance(value, list):
        return []
    return [cast("Json", each) for each in cast("list[object]", value) if isinstance(each, Mapping)]


def snowflakes(value: object) -> tuple[str, ...]:
    """The ids of a list."""
    if not isinstance(value, list):
        return ()
    return tuple(found for each in cast("list[object]", value) if (found := snowflake(each)) is not None)
