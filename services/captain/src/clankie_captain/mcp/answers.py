"""A server's answer in words: what is no text is named by its kind and size. Source: CTX-4."""

import json
from dataclasses import dataclass
from typing import Final, assert_never

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ResourceLink,
    TextContent,
)

ASKED_BACK: Final = "it asks for something that a person would have to answer, and nobody is asked"
"""What is said where a server wants more before it goes on."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a server answered, as text, and whether it calls that a failure."""

    text: str
    failed: bool


def words(answer: CallToolResult | InputRequiredResult) -> Words:
    """An answer as text."""
    if isinstance(answer, InputRequiredResult):
        return Words(ASKED_BACK, failed=True)
    text = "\n".join(_part(each) for each in answer.content)
    if not text.strip() and answer.structured_content is not None:
        text = json.dumps(answer.structured_content, ensure_ascii=False)
    return Words(text, answer.is_error)


def _part(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ImageContent(data=data, mime_type=kind):
            return _unseen("a picture", kind, data)
        case AudioContent(data=data, mime_type=kind):
            return _unseen("a sound", kind, data)
        case EmbeddedResource(resource=BlobResourceContents(blob=data, mime_type=kind)):
            return _unseen("a file", kind or "an unknown type", data)
        case EmbeddedResource(resource=resource):
            return getattr(resource, "text", "")
        case ResourceLink(uri=uri, name=name):
            return f"[a link to {name}: {uri}; you cannot open it]"
        case _:
            assert_never(block)


def _unseen(what: str, kind: str, data: str) -> str:
    return f"[{what} ({kind}, about {len(data) * 3 // 4} bytes) that you cannot see, and that goes out with no reply]"
