"""Messages as tests need them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from clankie_bridge.core.addressing import Identity, Names
from clankie_bridge.core.message import Author, File, Message, Reference

BOT = "1300000000000000001"
ANN = "1300000000000000011"
GUILD = "1310000000000000000"
CHANNEL = "1310000000000000100"
ROLE = "1310000000000000001"

IDENTITY = Identity(BOT, frozenset({ROLE}), Names(("Clankie", "Mr. C")))


def author(author_id: str = ANN, **more: Any) -> Author:
    return Author(author_id, "Ann" if author_id == ANN else "Clankie", **more)


def message(content: str = "", number: int = 100, **more: Any) -> Message:
    values: dict[str, Any] = {
        "id": str(number),
        "channel_id": CHANNEL,
        "guild_id": GUILD,
        "author": author(),
        "sent_at": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number),
        "content": content,
    }
    return Message(**(values | more))


def picture(number: int = 1, **more: Any) -> File:
    values: dict[str, Any] = {
        "id": str(number),
        "url": f"https://cdn.discordapp.com/attachments/1/{number}/a.png?ex=1&",
        "media_type": "image/png",
        "filename": "a.png",
        "byte_size": 1_000,
    }
    return File(**(values | more))


def answering(target: Message | None, message_id: str = "50", *, gone: bool = False) -> dict[str, Any]:
    return {"type": 19, "reference": Reference(target.id if target else message_id, target, gone)}
