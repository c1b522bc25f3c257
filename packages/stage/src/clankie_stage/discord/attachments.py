"""Posted files: safe names, the type that the name claims, and the size of a picture."""

import mimetypes
import re
import struct
from typing import cast

from clankie_stage.discord.calls import Upload
from clankie_stage.discord.world import Attachment, Json

IS_SPOILER = 1 << 3

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def safe_filename(name: str) -> str:
    """The name as Discord puts it into an address: ASCII letters, digits, dot, dash, underscore."""
    return _UNSAFE.sub("_", name).strip("._")[-120:] or "unknown"


def picture_size(content: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG or GIF by its header; None for anything else."""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) >= 24:
        width, height = struct.unpack(">II", content[16:24])
        return width, height
    if content[:6] in {b"GIF87a", b"GIF89a"} and len(content) >= 10:
        width, height = struct.unpack("<HH", content[6:10])
        return width, height
    return None


def attachment_of(new_id: str, filename: str, content: bytes, claimed: str | None, details: Json) -> Attachment:
    """A posted file; ``details`` may hold ``description`` and payload keys to add or override."""
    name = safe_filename(filename)
    size = picture_size(content)
    extra = {key: value for key, value in details.items() if key not in {"id", "filename", "description"}}
    if name != filename:
        extra.setdefault("title", filename.rsplit(".", 1)[0])
    if filename.startswith("SPOILER_"):
        extra.setdefault("flags", IS_SPOILER)
    return Attachment(
        id=new_id,
        filename=name,
        content=content,
        content_type=claimed or mimetypes.guess_type(name)[0],
        description=cast("str | None", details.get("description")),
        width=size[0] if size else None,
        height=size[1] if size else None,
        extra=extra,
    )


def details_of(upload: Upload, declared: list[Json]) -> Json:
    """What the JSON body says about an uploaded file: the entry whose ``id`` is the file's index."""
    for entry in declared:
        if str(entry.get("id")) == str(upload.index):
            return {key: entry[key] for key in ("filename", "description") if entry.get(key) is not None}
    return {}
