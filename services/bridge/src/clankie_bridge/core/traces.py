"""What an earlier process has posted already, told from a room's history. Source: OUT-1, C54."""

from collections.abc import Sequence

from clankie_bridge.core.artifacts import reads_as
from clankie_bridge.core.message import Message
from clankie_bridge.core.render import Part, TextFile
from clankie_bridge.core.text import cleaned


def found(
    own: Sequence[Message], parts: Sequence[Part], reply_to: str | None, *, target_gone: bool = False
) -> tuple[str | None, ...]:
    """For each part the message that it is in the room as, or None where it is not there.

    ``own`` are his messages from where the first part may stand, oldest first. Parts that read alike are told apart
    by their order, since no part is posted before the one in front of it. ``reply_to`` is what the first part
    answers; where that is gone, Discord may have been given no reference.

    Source: OUT-1.
    """
    matched: list[str | None] = []
    begin = 0
    for number, part in enumerate(parts):
        target = reply_to if number == 0 else None
        at = next(
            (place for place in range(begin, len(own)) if _is(own[place], part, target, target_gone=target_gone)), None
        )
        matched.append(None if at is None else own[at].id)
        begin = begin if at is None else at + 1
    return tuple(matched)


def _is(message: Message, part: Part, reply_to: str | None, *, target_gone: bool) -> bool:
    reference = message.reference.message_id if message.reference is not None else None
    if reference != reply_to and not (reference is None and target_gone):
        return False
    if isinstance(part, TextFile):
        size = len(part.text.encode())
        return any(each.filename == part.filename and each.byte_size == size for each in message.files)
    return reads_as(message.content.strip(), cleaned(part.text).strip())
