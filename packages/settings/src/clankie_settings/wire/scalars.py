"""Bounded scalars of the wire."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from clankie_settings import bounds


class WireModel(BaseModel):
    """A shape of the wire: frozen, strict, closed to unknown keys, and silent about what it refused.

    Source: WIRE-1, SEC-2.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


def _storable(text: str) -> str:
    if "\x00" in text or any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise ValueError("holds a NUL or half of a surrogate pair")
    return text


def _spoken(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank; leave the key away where nothing was written")
    return text


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside of the years 1 to 9999 in UTC") from None


Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]+$", min_length=1, max_length=bounds.ID_CHARS)]
"""An id of 1 to 64 characters that is safe in a path."""

Text = Annotated[str, AfterValidator(_storable)]
"""Text that every store and provider takes: no NUL, no lone surrogate. Source: LANE-14."""

Body = Annotated[Text, Field(min_length=1, max_length=bounds.BODY_CHARS), AfterValidator(_spoken)]
"""Words of a person, 1 to 16,384 characters, not blank. Source: WIRE-2."""

Name = Annotated[Text, Field(min_length=1, max_length=bounds.NAME_CHARS)]
"""A name to show, never to trust."""

Url = Annotated[Text, Field(min_length=1, max_length=bounds.URL_CHARS, pattern=r"^https?://\S+$")]
"""An address as the platform gave it; what may be fetched is judged elsewhere. Source: IMG-2."""

Moment = Annotated[AwareDatetime, AfterValidator(_utc)]
"""An aware timestamp, held in UTC."""

Count = Annotated[int, Field(ge=0, le=1_000)]
"""A small count."""

Code = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A stable lower-case code; never a person's or a provider's words."""
