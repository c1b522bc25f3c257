"""What a presence hands over, as small as a plain message is."""

import json
from datetime import UTC, datetime
from typing import Final

GUILD: Final = "200"
KEPT_ROOM: Final = "300"
"""The room whose lane is long; every other turn of the bench has a room of its own."""

PRESENCE: Final = "discord"

_AT: Final = datetime(2026, 1, 2, tzinfo=UTC)


def trigger(delivery: str, room: str, words: str) -> str:
    """The JSON of one delivery, by somebody who never wrote before: nobody's allowance is used up."""
    return json.dumps(
        {
            "wire_version": 1,
            "delivery_id": delivery,
            "presence_id": PRESENCE,
            "kind": "mention",
            "room": {"platform": "discord", "guild_id": GUILD, "channel_id": room, "channel_name": "general"},
            "actor": {"actor_id": f"by-{delivery}", "display_name": "Ann", "role_ids": ["400"]},
            "message_id": delivery,
            "sent_at": _AT.isoformat(),
            "body": words,
            "addressed": True,
        }
    )
