"""Narrowing of parsed JSON, which arrives as plain objects."""

from typing import TypeAlias, cast

JsonObject: TypeAlias = dict[str, object]


def mapping(value: object) -> JsonObject | None:
    """The value as a JSON object, or None when it is something else."""
    return cast("JsonObject", value) if isinstance(value, dict) else None


def sequence(value: object) -> list[object] | None:
    """The value as a JSON array, or None when it is something else."""
    return cast("list[object]", value) if isinstance(value, list) else None


def is_integer(value: object) -> bool:
    """Whether the value is a JSON integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether the value is a JSON number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_blank(value: str) -> bool:
    """Whether a text says nothing: empty, or white space alone."""
    return not value.strip()
