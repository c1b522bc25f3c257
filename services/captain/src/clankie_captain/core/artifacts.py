"""Files that tools made, as a reply refers to them. Source: ART-2, ART-4."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal, get_args

from clankie_settings import bounds
from clankie_settings.wire.attachment import Artifact

Made = Literal["diagrams", "pages", "paintings"]
"""The folders under the attachment root that tools write to, each one tool's own. Source: ART-2."""

MADE: Final[tuple[Made, ...]] = get_args(Made)
"""All of them: what is forgotten is taken out of each. Source: OPS-12."""

_SUFFIXES: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
_WORD_CHARS: Final = 48
_UNIQUE_CHARS: Final = 8
_NAME_CHARS: Final = 32


def artifact(folder: Made, data: bytes, media_type: str, title: str) -> Artifact:
    """The reference to a file of these bytes in a tool's own folder; ``title`` only makes its shown name readable.

    Raises:
        KeyError: No tool makes files of this type.
    """
    digest = hashlib.sha256(data).hexdigest()
    suffix = _SUFFIXES[media_type]
    return Artifact(
        ref=f"sha256:{digest}:{folder}/{digest[:_NAME_CHARS]}.{suffix}",
        filename=_shown(title, digest, suffix),
        media_type=media_type,
        byte_size=len(data),
    )


def place(ref: str) -> tuple[str, str, str]:
    """Hash, folder and file name of a reference."""
    _, digest, path = ref.split(":", 2)
    folder, _, name = path.partition("/")
    return digest, folder, name


def newest(made: Iterable[Artifact]) -> tuple[Artifact, ...]:
    """As many as a reply carries, each once, in the order in which they were made; the newest win. Source: LANE-10."""
    once = {each.ref: each for each in reversed(list(made))}
    return tuple(reversed(list(once.values())[: bounds.ARTIFACTS]))


def _shown(title: str, digest: str, suffix: str) -> str:
    # What it is called in the room: never a path, never hidden, never another file's name, readable everywhere.
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = _UNSAFE.sub("-", plain).strip("-")[:_WORD_CHARS].strip("-") or "picture"
    return f"{words}-{digest[:_UNIQUE_CHARS]}.{suffix}"
