"""What happens in rooms: each changes the world, and tells gateway sessions and watchers of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clankie_settings.clock import Clock
from clankie_stage.discord.audience import Audience
from clankie_stage.discord.mentions import AllowedMentions, Mentions, mentions_in
from clankie_stage.discord.message_payloads import FORWARD_REFERENCE, REPLY, MessagePayloads, emoji_payload
from clankie_stage.discord.payloads import full_member_payload, iso
from clankie_stage.discord.sessions import Sessions
from clankie_stage.discord.snowflakes import Snowflakes
from clankie_stage.discord.world import Attachment, Json, Message, Room, World

HAS_SNAPSHOT = 1 << 14
"""Message flag of a forward."""

SUPPRESS_EMBEDS = 1 << 2


@dataclass(frozen=True, slots=True)
class Draft:
    """A message about to be posted.

    Attributes:
        reply_to: id of the message that it answers, in the same room; the target may be gone.
        forward: a message of any room that it forwards.
        allowed: what may notify.
        extra: further payload keys, such as ``sticker_items`` or ``poll``.
        message_id: the id to take instead of a fresh one; a forum post has its thread's.
    """

    room: Room
    author_id: str
    content: str = ""
    author: Json | None = None
    reply_to: str | None = None
    forward: Message | None = None
    attachments: Sequence[Attachment] = ()
    embeds: Sequence[Json] = ()
    nonce: str | int | None = None
    flags: int = 0
    allowed: AllowedMentions = field(default_factory=AllowedMentions)
    allowed_as_sent: Json | None = None
    extra: Json = field(default_factory=dict[str, Any])
    overrides: Json = field(default_factory=dict[str, Any])
    omitted: frozenset[str] = frozenset()
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Happenings:
    """The only door through which messages change."""

    world: World
    sessions: Sessions
    audience: Audience
    payloads: MessagePayloads
    snowflakes: Snowflakes
    clock: Clock

    def post(self, draft: Draft) -> Message:
        """Post a message."""
        mentions, pings = self._mentions(draft)
        body: Json = {
            "type": REPLY if draft.reply_to else 0,
            "content": draft.content.strip(),
            "timestamp": iso(self.clock.now()),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": mentions.everyone,
            "mentions": list(pings),
            "mention_roles": list(mentions.roles),
            "embeds": list(draft.embeds),
            "pinned": False,
            "flags": draft.flags,
            "components": [],
            **self._reference(draft),
            **draft.extra,
        }
        message = Message(
            id=draft.message_id or self.snowflakes.new(),
            room_id=draft.room.id,
            author_id=draft.author_id,
            body=body,
            attachments=list(draft.attachments),
            author=draft.author,
            nonce=draft.nonce,
            reply_to=draft.reply_to,
            pings=pings,
            allowed_mentions=draft.allowed_as_sent,
            overrides=draft.overrides,
            omitted=draft.omitted,
        )
        draft.room.messages[message.id] = message
        self.tell(draft.room, "MESSAGE_CREATE", self.payloads.created(message, draft.room))
        self.audience.show("message", room=draft.room.id, message=self.payloads.shown(message))
        return message

    def edit(self, room: Room, message: Message, changes: Json, attachments: list[Attachment] | None = None) -> None:
        """Apply an author's edit: new payload keys, mentions read anew, and the time of the edit."""
        message.body |= changes | {"edited_timestamp": iso(self.clock.now())}
        if "content" in changes:
            found = mentions_in(changes["content"], self.world.users, ())
            replied = [each for each in message.pings if each not in found.users and message.reply_to]
            message.body["mentions"] = (
                [*found.users, *replied] if message.allowed_mentions is None else list(message.pings)
            )
        if attachments is not None:
            message.attachments = attachments
        self._updated(room, message)

    def unfurl(self, room: Room, message: Message, embeds: list[Json]) -> None:
        """Attach link previews late, as Discord does: an update that is no edit."""
        message.body["embeds"] = embeds
        self._updated(room, message)

    def mark(self, room: Room, message: Message, changes: Json) -> None:
        """Change payload keys without an edit, as Discord itself does."""
        message.body |= changes
        self._updated(room, message)

    def delete(self, room: Room, message: Message) -> None:
        """Delete a message."""
        del room.messages[message.id]
        self.tell(room, "MESSAGE_DELETE", {"id": message.id, "channel_id": room.id, **_guild_of(room)})
        self.audience.show("deleted", room=room.id, ids=[message.id])

    def delete_bulk(self, room: Room, ids: list[str]) -> None:
        """Delete several messages of one guild room at once."""
        for each in ids:
            room.messages.pop(each, None)
        self.tell(room, "MESSAGE_DELETE_BULK", {"ids": ids, "channel_id": room.id, **_guild_of(room)})
        self.audience.show("deleted", room=room.id, ids=ids)

    def react(self, room: Room, message: Message, user_id: str, emoji: str) -> None:
        """Add a reaction; a second one of the same user and emoji changes nothing."""
        users = message.reactions.setdefault(emoji, [])
        if user_id in users:
            return
        users.append(user_id)
        payload: Json = self._reaction(room, message, user_id, emoji) | {
            "message_author_id": message.author_id,
            "burst_colors": [],
        }
        guild = self.world.guilds.get(room.guild_id or "")
        if guild is not None and user_id in guild.members:
            payload["member"] = full_member_payload(self.world, guild, user_id)
        self.tell(room, "MESSAGE_REACTION_ADD", payload)
        self._show_edit(room, message)

    def unreact(self, room: Room, message: Message, user_id: str, emoji: str) -> None:
        """Take a reaction back, if it is there."""
        users = message.reactions.get(emoji, [])
        if user_id not in users:
            return
        users.remove(user_id)
        if not users:
            del message.reactions[emoji]
        self.tell(room, "MESSAGE_REACTION_REMOVE", self._reaction(room, message, user_id, emoji))
        self._show_edit(room, message)

    def type(self, room: Room, user_id: str) -> None:
        """Light the typing indicator of a user; it goes out after ten seconds or with a message."""
        now = self.clock.now()
        payload: Json = {
            "channel_id": room.id,
            "user_id": user_id,
            "timestamp": int(now.timestamp()),
            **_guild_of(room),
        }
        guild = self.world.guilds.get(room.guild_id or "")
        if guild is not None and user_id in guild.members:
            payload["member"] = full_member_payload(self.world, guild, user_id)
        self.tell(room, "TYPING_START", payload)
        self.audience.show("typing", room=room.id, user=user_id, at=iso(now))

    def tell(self, room: Room, event: str, payload: Json) -> None:
        """Dispatch an event of a room, unless the bot cannot see the room."""
        if room.bot_access != "none":
            self.sessions.dispatch(event, payload, room.guild_id)

    def _updated(self, room: Room, message: Message) -> None:
        self.tell(room, "MESSAGE_UPDATE", self.payloads.gateway(message, room))
        self._show_edit(room, message)

    def _show_edit(self, room: Room, message: Message) -> None:
        self.audience.show("edited", room=room.id, message=self.payloads.shown(message))

    def _mentions(self, draft: Draft) -> tuple[Mentions, tuple[str, ...]]:
        guild = self.world.guilds.get(draft.room.guild_id or "")
        found = mentions_in(draft.content, self.world.users, guild.roles if guild else ())
        mentions = draft.allowed.allows(found)
        users = list(mentions.users)
        target = draft.room.messages.get(draft.reply_to or "")
        if (
            target is not None
            and draft.allowed.replied_user
            and target.author is None
            and target.author_id not in users
        ):
            users.append(target.author_id)
        return mentions, tuple(users)

    def _reference(self, draft: Draft) -> Json:
        if draft.reply_to is not None:
            return {
                "message_reference": {
                    "type": 0,
                    "message_id": draft.reply_to,
                    "channel_id": draft.room.id,
                    **_guild_of(draft.room),
                }
            }
        if draft.forward is None:
            return {}
        source = self.payloads.rest(draft.forward, with_reference=False)
        kept = (
            "type",
            "content",
            "timestamp",
            "edited_timestamp",
            "embeds",
            "attachments",
            "flags",
            "components",
            "mentions",
            "mention_roles",
            "sticker_items",
        )
        room = self.world.rooms[draft.forward.room_id]
        return {
            "message_reference": {
                "type": FORWARD_REFERENCE,
                "message_id": draft.forward.id,
                "channel_id": room.id,
                **_guild_of(room),
            },
            "message_snapshots": [{"message": {key: source[key] for key in kept if key in source}}],
            "flags": draft.flags | HAS_SNAPSHOT,
        }

    def _reaction(self, room: Room, message: Message, user_id: str, emoji: str) -> Json:
        return {
            "user_id": user_id,
            "channel_id": room.id,
            "message_id": message.id,
            "emoji": emoji_payload(emoji),
            "burst": False,
            "type": 0,
            **_guild_of(room),
        }


def _guild_of(room: Room) -> Json:
    return {"guild_id": room.guild_id} if room.guild_id else {}
