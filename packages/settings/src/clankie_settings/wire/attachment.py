"""References to what people posted and to what tools made; never the bytes. Source: WIRE-3."""

from typing import Annotated, Literal

from pydantic import Field

from clankie_settings import bounds
from clankie_settings.wire.scalars import Count, Id, Text, Url, WireModel

MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
"""What Discord serves and vision models accept. Source: IMG-1."""


class Attachment(WireModel):
    """A reference to a picture that a person posted.

    ``motion_url`` is the moving form of a still preview; ``byte_size`` is the platform's claim, in bytes.

    Source: WIRE-3.
    """

    id: Id
    url: Url
    motion_url: Url | None = None
    media_type: MediaType
    filename: Annotated[Text, Field(min_length=1, max_length=bounds.FILENAME_CHARS)] | None = None
    byte_size: Annotated[int, Field(ge=1, le=bounds.ATTACHMENT_BYTES)] | None = None


class AttachmentsOmitted(WireModel):
    """How many pictures of a message were left out at ingress, by cause. Source: IMG-1."""

    unsupported: Count = 0
    too_large: Count = 0
    over_limit: Count = 0


class Artifact(WireModel):
    """A hash-bound reference to a file that a tool made, relative to the attachment root. Source: ART-2."""

    ref: Annotated[
        str, Field(pattern=r"^sha256:[0-9a-f]{64}:[A-Za-z0-9_-]+/[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=256)
    ]
    filename: Annotated[Text, Field(min_length=1, max_length=bounds.ARTIFACT_NAME_CHARS)]
    media_type: Annotated[str, Field(pattern=r"^[a-z]+/[a-z0-9.+-]+$", max_length=100)]
    byte_size: Annotated[int, Field(ge=1)]
