"""Pictures that people post, and pictures that a provider was sent."""

import base64
import io
from typing import Any, cast

from PIL import Image

from clankie_stage.provider.records import Record


def posted(data: bytes, filename: str = "picture.png", **how: Any) -> dict[str, Any]:
    return {"filename": filename, "content": base64.b64encode(data).decode(), **how}


def seen(record: Record) -> list[tuple[int, int]]:
    """The sizes of the pictures of a request, each decoded whole."""
    contents: list[Any] = [message["content"] for message in record.messages]
    parts = [part for content in contents if isinstance(content, list) for part in cast("list[Any]", content)]
    urls: list[str] = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [_size(base64.b64decode(url.partition(",")[2])) for url in urls]


def _size(data: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return image.size
