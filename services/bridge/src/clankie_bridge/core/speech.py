"""The body of a message: its words as written, mentions by name, and other kinds as what they are."""

import re
from collections.abc import Iterator
from typing import Final

from clankie_bridge.core.addressing import Identity
from clankie_bridge.core.message import Message
from clankie_bridge.core.text import is_visible
from clankie_settings import bounds

_MENTION: Final = re.compile(r"<@(!?|&)(\d+)>")


def body(message: Message, identity: Identity) -> str | None:
    """What the message says, or None where it is pictures alone.

    A mention of him is written as his name, so that a bare wake stays one.

    Source: WIRE-2, ING-6.
    """
    said = "\n".join(_lines(message, identity))[: bounds.BODY_CHARS]
    return said if is_visible(said) else None


def body_of_unreadable(count: int) -> str:
    """What stands for a message that has only files that cannot come along."""
    return "[a file]" if count == 1 else f"[{count} files]"


def _lines(message: Message, identity: Identity) -> Iterator[str]:
    if is_visible(message.content):
        yield _named(message, identity).strip()
    if message.forward is not None:
        yield f"[forwarded] {message.forward.content}".rstrip()
    yield from (f"[sticker: {name}]" for name in message.stickers)
    if message.poll is not None:
        yield f"[poll: {message.poll.question}]"
        yield from (f"- {answer}" for answer in message.poll.answers)
    if message.voice_seconds is not None:
        yield f"[voice message, {message.voice_seconds} s]"


def _named(message: Message, identity: Identity) -> str:
    def spoken(found: re.Match[str]) -> str:
        sort, subject = found.groups()
        if subject == identity.bot_id or (sort == "&" and subject in identity.role_ids):
            return f"@{identity.names.first}"
        name = message.mentions.get(subject) if sort != "&" else None
        return f"@{name}" if name else found[0]

    return _MENTION.sub(spoken, message.content) if "<@" in message.content else message.content
