"""Messages in Discord's JSON: as REST returns them, and as the gateway sends them."""

from dataclasses import dataclass
from typing import Any

from clankie_stage.discord.cdn_address import CDN, MEDIA_PROXY, CdnAddresses
from clankie_stage.discord.payloads import member_payload, mention_payloads, user_payload
from clankie_stage.discord.world import Attachment, Json, Message, Room, World

REPLY = 19
THREAD_STARTER = 21
FORWARD_REFERENCE = 1


@dataclass(frozen=True, slots=True)
class MessagePayloads:
    """Builds message payloads from the world as it is now."""

    world: World
    addresses: CdnAddresses

    def rest(self, message: Message, *, with_reference: bool = True) -> Json:
        """The message as REST returns it: without ``guild_id`` and ``member``."""
        payload: Json = dict(message.body)
        payload["id"], payload["channel_id"] = message.id, message.room_id
        payload["author"] = message.author or user_payload(self.world.users[message.author_id])
        payload["attachments"] = [self._attachment(message.room_id, each) for each in message.attachments]
        payload["mentions"] = mention_payloads(self.world, None, message.body["mentions"])
        if message.reactions:
            payload["reactions"] = self._reactions(message)
        if with_reference and message.body["type"] in {REPLY, THREAD_STARTER}:
            payload["referenced_message"] = self._referenced(message)
        return _forced(payload, message)

    def shown(self, message: Message) -> Json:
        """The message as the page shows it: as REST returns it, and who reacted."""
        payload = self.rest(message)
        if message.reactions:
            reacted = zip(self._reactions(message), message.reactions.values(), strict=True)
            payload["reactions"] = [reaction | {"users": list(users)} for reaction, users in reacted]
        return payload

    def gateway(self, message: Message, room: Room) -> Json:
        """The message as the gateway sends it: with ``channel_type`` and, in guilds, guild and member."""
        payload = self.rest(message)
        payload.pop("reactions", None)
        payload["channel_type"] = int(room.type)
        guild = self.world.guilds.get(room.guild_id or "")
        if guild is not None:
            payload["guild_id"] = guild.id
            payload["mentions"] = mention_payloads(self.world, guild, message.body["mentions"])
            if message.author is None and message.author_id in guild.members:
                payload["member"] = member_payload(guild, message.author_id)
        return _forced(payload, message)

    def created(self, message: Message, room: Room) -> Json:
        """The payload of MESSAGE_CREATE, which alone echoes the nonce."""
        payload = self.gateway(message, room)
        if message.nonce is not None and "nonce" not in message.omitted:
            payload["nonce"] = message.nonce
        return payload

    def _referenced(self, message: Message) -> Json | None:
        # A reply whose target is gone says null; a reference that was never fetched is absent.
        room_id = message.body["message_reference"]["channel_id"]
        room = self.world.rooms.get(room_id)
        target = room.messages.get(message.body["message_reference"]["message_id"]) if room else None
        return self.rest(target, with_reference=False) if target else None

    def _attachment(self, room_id: str, attachment: Attachment) -> Json:
        path = self.addresses.path(room_id, attachment)
        query = self.addresses.query(path)
        payload: Json = {
            "id": attachment.id,
            "filename": attachment.filename,
            "size": len(attachment.content),
            "url": f"{CDN}{path}{query}",
            "proxy_url": f"{MEDIA_PROXY}{path}{query}",
        }
        optional: dict[str, Any] = {
            "content_type": attachment.content_type,
            "description": attachment.description,
            "width": attachment.width,
            "height": attachment.height,
        }
        payload |= {key: value for key, value in optional.items() if value is not None}
        return payload | attachment.extra

    def _reactions(self, message: Message) -> list[Json]:
        return [
            {
                "emoji": emoji_payload(emoji),
                "count": len(users),
                "count_details": {"burst": 0, "normal": len(users)},
                "burst_colors": [],
                "me": self.world.bot_id in users,
                "me_burst": False,
                "burst_me": False,
                "burst_count": 0,
            }
            for emoji, users in message.reactions.items()
        ]


def emoji_payload(emoji: str) -> Json:
    """A Unicode emoji, or a custom one written ``name:id``."""
    name, _, emoji_id = emoji.partition(":")
    return {"id": emoji_id or None, "name": name}


def _forced(payload: Json, message: Message) -> Json:
    return {key: value for key, value in (payload | message.overrides).items() if key not in message.omitted}
