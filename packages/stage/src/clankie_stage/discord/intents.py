"""Which gateway events a session hears, and how much of a message it may read."""

from typing import cast

from clankie_stage.discord.world import Json

GUILDS = 1 << 0
GUILD_MEMBERS = 1 << 1
GUILD_PRESENCES = 1 << 8
GUILD_MESSAGES = 1 << 9
GUILD_REACTIONS = 1 << 10
GUILD_TYPING = 1 << 11
DM_MESSAGES = 1 << 12
DM_REACTIONS = 1 << 13
DM_TYPING = 1 << 14
MESSAGE_CONTENT = 1 << 15

KNOWN_INTENTS = (1 << 17) - 1 | 0b11 << 20 | 0b11 << 24
"""Every bit that Discord has given a meaning; another bit closes the gateway with 4013."""

GUILD_PRESENCES_FLAGS = 0b11 << 12
GUILD_MEMBERS_FLAGS = 0b11 << 14
MESSAGE_CONTENT_FLAGS = 0b11 << 18

PRIVILEGED = {
    GUILD_PRESENCES: GUILD_PRESENCES_FLAGS,
    GUILD_MEMBERS: GUILD_MEMBERS_FLAGS,
    MESSAGE_CONTENT: MESSAGE_CONTENT_FLAGS,
}
"""Privileged intents, each with the application flags of which one allows it."""

_NEEDS: dict[str, tuple[int, int]] = {
    "MESSAGE_CREATE": (GUILD_MESSAGES, DM_MESSAGES),
    "MESSAGE_UPDATE": (GUILD_MESSAGES, DM_MESSAGES),
    "MESSAGE_DELETE": (GUILD_MESSAGES, DM_MESSAGES),
    "MESSAGE_DELETE_BULK": (GUILD_MESSAGES, 0),
    "MESSAGE_REACTION_ADD": (GUILD_REACTIONS, DM_REACTIONS),
    "MESSAGE_REACTION_REMOVE": (GUILD_REACTIONS, DM_REACTIONS),
    "TYPING_START": (GUILD_TYPING, DM_TYPING),
    "GUILD_CREATE": (GUILDS, 0),
    "GUILD_DELETE": (GUILDS, 0),
    "CHANNEL_CREATE": (GUILDS, 0),
    "CHANNEL_UPDATE": (GUILDS, 0),
    "CHANNEL_DELETE": (GUILDS, 0),
    "THREAD_CREATE": (GUILDS, 0),
    "THREAD_DELETE": (GUILDS, 0),
    "GUILD_MEMBER_ADD": (GUILD_MEMBERS, 0),
}


def hears(event: str, intents: int, *, in_guild: bool) -> bool:
    """Whether a session with these intents is sent the event; unlisted events go to everyone."""
    needs = _NEEDS.get(event)
    return needs is None or bool(intents & needs[0 if in_guild else 1])


def disallowed(intents: int, application_flags: int) -> bool:
    """Whether an IDENTIFY asks for a privileged intent that the application does not have."""
    return any(intents & intent and not application_flags & flags for intent, flags in PRIVILEGED.items())


def without_content(message: Json, bot_id: str, *, in_dm: bool) -> Json:
    """The message as a bot without the Message Content intent gets it.

    DMs, the bot's own messages and messages that mention the bot keep their content.
    """
    if in_dm:
        return message
    stripped = dict(message)
    if stripped.get("referenced_message"):
        inner = cast("Json", stripped["referenced_message"])
        stripped["referenced_message"] = without_content(inner, bot_id, in_dm=False)
    author = cast("Json", message.get("author") or {})
    mentions = cast("list[Json]", message.get("mentions") or [])
    if author.get("id") == bot_id or any(user.get("id") == bot_id for user in mentions):
        return stripped
    stripped.update(content="", embeds=[], attachments=[], components=[])
    stripped.pop("poll", None)
    for snapshot in cast("list[Json]", stripped.pop("message_snapshots", [])):
        emptied: Json = {**snapshot["message"], "content": "", "embeds": [], "attachments": []}
        stripped.setdefault("message_snapshots", []).append({**snapshot, "message": emptied})
    return stripped
