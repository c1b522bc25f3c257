"""Signatures of thinking blocks: what a provider gives out, and what it takes back unmodified alone."""

import base64
import hashlib

_SECRET = b"the stage's own; it guards nothing"


def signature(thought: str) -> str:
    """The signature under which a thought is given out."""
    digest = hashlib.blake2b(thought.encode("utf-8", "surrogatepass"), key=_SECRET).digest()
    return base64.b64encode(digest).decode()
