"""Verbs with which people speak."""

import base64
from datetime import timedelta

from clankie_stage.discord.attachments import attachment_of
from clankie_stage.discord.happenings import Draft
from clankie_stage.discord.mentions import AllowedMentions
from clankie_stage.discord.verbs.parts import Verbs
from clankie_stage.discord.world import Attachment, Json


class Speaking(Verbs):
    """Messages, reactions and typing of people."""

    def say(
        self,
        user: str,
        content: str = "",
        *,
        room: str = "general",
        reply_to: str | None = None,
        ping: bool = True,
        forward: str | None = None,
        attachments: list[Json] | None = None,
        embeds: list[Json] | None = None,
        webhook: str | None = None,
        extra: Json | None = None,
        overrides: Json | None = None,
        omit: list[str] | None = None,
    ) -> Json:
        """Post a message as somebody and return it.

        Args:
            user: who speaks.
            content: the text; ``<@id>`` mentions as in Discord.
            room: where.
            reply_to: id of a message in that room that it answers, there or deleted.
            ping: whether a reply notifies the author it answers.
            forward: id of a message of any room that it forwards.
            attachments: each ``{filename, content (base64), content_type?, description?, ...}``; other
                keys are added to the attachment's payload as they are.
            embeds: embeds as Discord would make them.
            webhook: post as a webhook of this name instead of as the user.
            extra: more payload keys, such as ``sticker_items`` or ``poll``.
            overrides: payload keys to force, whatever they would be.
            omit: payload keys to leave out.
        """
        place = self.parts.world.room_named(room)
        draft = Draft(
            room=place,
            author_id=self.parts.world.user_named(user).id,
            content=content,
            reply_to=reply_to,
            forward=self.parts.world.message(forward) if forward else None,
            attachments=[self._attachment(each) for each in attachments or []],
            embeds=embeds or [],
            allowed=AllowedMentions(replied_user=ping),
            extra=extra or {},
            overrides=overrides or {},
            omitted=frozenset(omit or ()),
        )
        if webhook is not None:
            draft = self._by_webhook(draft, webhook)
        return self.parts.happenings.payloads.rest(self.parts.happenings.post(draft))

    async def flood(self, user: str, count: int, *, room: str = "general", content: str = "message") -> None:
        """Post many messages as fast as connected sessions take them; each text ends with its number."""
        sessions = self.parts.sessions
        for number in range(count):
            self.say(user, f"{content} {number}", room=room)
            while any(session.socket and session.socket.behind for session in sessions.connected()):
                await self.parts.happenings.clock.sleep(timedelta(milliseconds=1))

    def edit(self, message: str, content: str) -> Json:
        """Edit a message as its author."""
        found = self.parts.world.message(message)
        self.parts.happenings.edit(self.parts.world.rooms[found.room_id], found, {"content": content.strip()})
        return self.parts.happenings.payloads.rest(found)

    def unfurl(self, message: str, embeds: list[Json]) -> Json:
        """Let link previews arrive late: an update that is no edit."""
        found = self.parts.world.message(message)
        self.parts.happenings.unfurl(self.parts.world.rooms[found.room_id], found, embeds)
        return self.parts.happenings.payloads.rest(found)

    def delete(self, message: str) -> None:
        """Delete a message."""
        found = self.parts.world.message(message)
        self.parts.happenings.delete(self.parts.world.rooms[found.room_id], found)

    def delete_bulk(self, room: str, messages: list[str]) -> None:
        """Delete several messages of a guild room in one event."""
        self.parts.happenings.delete_bulk(self.parts.world.room_named(room), messages)

    def react(self, user: str, message: str, emoji: str, *, remove: bool = False) -> None:
        """React to a message, or take a reaction back."""
        found = self.parts.world.message(message)
        act = self.parts.happenings.unreact if remove else self.parts.happenings.react
        act(self.parts.world.rooms[found.room_id], found, self.parts.world.user_named(user).id, emoji)

    def typing(self, user: str, room: str = "general") -> None:
        """Let somebody type."""
        self.parts.happenings.type(self.parts.world.room_named(room), self.parts.world.user_named(user).id)

    def _attachment(self, given: Json) -> Attachment:
        details = {key: value for key, value in given.items() if key not in {"content", "content_type"}}
        content = base64.b64decode(given["content"], validate=True)
        return attachment_of(
            self.parts.happenings.snowflakes.new(), given["filename"], content, given.get("content_type"), details
        )

    def _by_webhook(self, draft: Draft, name: str) -> Draft:
        webhook_id = self.parts.happenings.snowflakes.new()
        author: Json = {
            "id": webhook_id,
            "username": name,
            "global_name": None,
            "avatar": None,
            "bot": True,
            "discriminator": "0000",
            "public_flags": 0,
        }
        return Draft(
            room=draft.room, author_id=webhook_id, author=author, content=draft.content, reply_to=draft.reply_to,
            attachments=draft.attachments, embeds=draft.embeds, overrides=draft.overrides, omitted=draft.omitted,
            extra=draft.extra | {"webhook_id": webhook_id},
        )  # fmt: skip
