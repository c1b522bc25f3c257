"""The name that Discord knows a message by before it exists, so that sending it twice makes one. Source: OUT-1, C45."""

import base64
import hashlib
from typing import Final, Literal

Purpose = Literal["reply", "update", "post", "notice", "card"]
"""Why words are posted; two purposes never share a nonce."""

_CHARS: Final = 24


def nonce(purpose: Purpose, channel_id: str, subject: str, part: int) -> str:
    """The nonce of one part, 24 characters; the same for every attempt, and for no other part.

    ``subject`` is the delivery or the action that the words belong to.

    Source: C19, C45.
    """
    named = "\n".join((purpose, channel_id, subject, str(part)))
    return base64.b32encode(hashlib.sha256(named.encode()).digest())[:_CHARS].decode().lower()
