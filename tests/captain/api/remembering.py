"""A loop that remembers as the real one does: what it read and what it answered stand in the lane as messages."""

import json
import re
from typing import Any

from clankie_captain.core.run import Answered, Draft, Finish, Order
from clankie_captain.ports import RunLine

Json = dict[str, Any]

_BODIES = re.compile(r"^(?!<<<|.*>>>$|.*:$)(.+)$", re.MULTILINE)


def request(*texts: str) -> Draft:
    parts = [{"content": text, "part_kind": "user-prompt"} for text in texts]
    return Draft("request", json.dumps({"parts": parts, "kind": "request"}, ensure_ascii=False))


def response(text: str) -> Draft:
    parts = [{"content": text, "part_kind": "text"}]
    return Draft("response", json.dumps({"parts": parts, "kind": "response"}, ensure_ascii=False))


async def remembers(order: Order, line: RunLine) -> Finish:
    """Records the words that it was given, and answers by repeating them."""
    texts = [each.text for each in order.words]
    if texts:
        await line.record([request(*texts)])
    said = "You said: " + " ".join(word for text in texts for word in _BODIES.findall(text))
    await line.record([response(said)])
    return Answered(said)


def spoken(delivery: str, actor: str, name: str, body: str, channel: str = "300", **more: Any) -> Json:
    return {
        "wire_version": 1,
        "delivery_id": delivery,
        "presence_id": "discord",
        "kind": "mention",
        "room": {"platform": "discord", "guild_id": "200", "channel_id": channel, "channel_name": "tea-room"},
        "actor": {"actor_id": actor, "display_name": name},
        "message_id": delivery,
        "sent_at": "2026-01-02T03:04:06Z",
        "body": body,
        "addressed": True,
        **more,
    }


def quoted(message: str, author: str, name: str, body: str) -> Json:
    return {
        "message_id": message,
        "author_id": author,
        "author_name": name,
        "is_self": False,
        "body": body,
        "sent_at": "2026-01-02T03:03:00Z",
    }


RECEIPT: Json = {"part": 1, "of": 1, "message_id": "900", "posted_at": "2026-01-02T03:04:09Z"}
