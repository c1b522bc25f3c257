"""Errors as RFC 9457 problem documents. Source: WIRE-1."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from clankie_settings.wire.scalars import Code, WireModel

PROBLEM_TYPE: Final = "application/problem+json"
"""Media type of an error answer."""


class Problem(WireModel):
    """An error answer: what is wrong, in a code and in words that hold nothing a person wrote.

    ``field`` names the part of the request that was refused, as a dotted path.
    """

    type: str = "about:blank"
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    code: Code
    field: str | None = None


_TAG_ERRORS: Final = ("union_tag_invalid", "union_tag_not_found")
_PATH_CHARS: Final = 128


def refused_field(error: ValidationError) -> tuple[str, str]:
    """The first refused field of a validation error as a dotted path, and what was wrong with it.

    The reason is pydantic's own sentence without the input, so that no content reaches an error answer. Names of
    unknown keys are the caller's own, so the path ends after 128 characters.

    Source: WIRE-1, SEC-2.
    """
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    path, reason = _dotted(first["loc"]), first["msg"].removeprefix("Value error, ")
    if first["type"] in _TAG_ERRORS:  # pydantic's sentence would quote the tag
        return _dotted([*first["loc"], "state"]), "is none of the known ones"
    named, separator, rest = reason.partition(": ")
    # A rule on the whole names its field in its own sentence, since pydantic cannot.
    if first["type"] == "value_error" and not path and separator:
        return named, rest
    return path or "(whole document)", reason


def _dotted(location: Sequence[Any]) -> str:
    return ".".join(str(each) for each in location)[:_PATH_CHARS]
