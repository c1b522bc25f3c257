"""REST: create, read, edit and delete messages, with Discord's refusals."""

from dataclasses import dataclass
from typing import cast

from clankie_stage.discord import errors
from clankie_stage.discord.access import judge_attaching, message_in, readable_room, writable_room
from clankie_stage.discord.attachments import attachment_of, details_of
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.calls import Answer, Call, Route, done, ok
from clankie_stage.discord.happenings import Draft, Happenings
from clankie_stage.discord.intents import without_content
from clankie_stage.discord.message_form import MessageForm, message_form
from clankie_stage.discord.message_payloads import FORWARD_REFERENCE
from clankie_stage.discord.nonces import Nonces
from clankie_stage.discord.snowflakes import Snowflakes
from clankie_stage.discord.world import Attachment, Json, Message, Room, RoomType, World

MESSAGES = "/channels/{channel_id}/messages"
MESSAGE = "/channels/{channel_id}/messages/{message_id}"

MOST_LISTED = 100
LISTED = 50
"""How many messages a list has when the request does not say."""


@dataclass(frozen=True, slots=True)
class MessageRoutes:
    """The message resource."""

    world: World
    happenings: Happenings
    behaviour: Behaviour
    nonces: Nonces
    snowflakes: Snowflakes

    def routes(self) -> list[Route]:
        """What these handlers answer."""
        return [
            Route("POST", MESSAGES, self.create),
            Route("GET", MESSAGES, self.list_page),
            Route("GET", MESSAGE, self.get),
            Route("PATCH", MESSAGE, self.edit),
            Route("DELETE", MESSAGE, self.delete),
            Route("POST", MESSAGES + "/bulk-delete", self.delete_bulk),
        ]

    def create(self, call: Call) -> Answer:
        """Post a message as the bot, or return the one that its nonce has already made."""
        room = writable_room(self.world, call)
        if room.type is RoomType.FORUM:
            raise errors.RefusalError(400, 50008, "Cannot send messages in a non-text channel")
        judge_attaching(room, call)
        form = message_form(call)
        if form.nonce is not None and form.enforce_nonce:
            earlier = room.messages.get(self.nonces.message_of(room.id, form.nonce) or "")
            if earlier is not None:
                return ok(self._seen(earlier, room) | {"nonce": form.nonce})
        message = self.happenings.post(self._draft(call, form, room))
        if form.nonce is None:
            return ok(self._seen(message, room))
        self.nonces.remember(room.id, form.nonce, message.id)
        return ok(self._seen(message, room) | {"nonce": form.nonce})

    def list_page(self, call: Call) -> Answer:
        """A page of messages, newest first."""
        room = readable_room(self.world, call)
        limit = call.query.get("limit", str(LISTED))
        if not limit.isdecimal() or not 1 <= int(limit) <= MOST_LISTED:
            raise errors.invalid_form("limit", "NUMBER_TYPE_MAX", f"int value should be between 1 and {MOST_LISTED}.")
        page = _page(list(room.messages.values()), call.query, int(limit))
        return ok([self._seen(message, room) for message in reversed(page)])

    def get(self, call: Call) -> Answer:
        """One message."""
        room = readable_room(self.world, call)
        return ok(self._seen(message_in(room, call), room))

    def edit(self, call: Call) -> Answer:
        """Edit one of the bot's own messages."""
        room = readable_room(self.world, call)
        message = message_in(room, call)
        if message.author_id != self.world.bot_id:
            raise errors.foreign_message()
        judge_attaching(room, call)
        form = message_form(call)
        changes: Json = {}
        if "content" in call.body:
            changes["content"] = (form.content or "").strip()
        if form.embeds is not None:
            changes["embeds"] = form.embeds
        if "components" in call.body:
            changes["components"] = form.components
        if "flags" in call.body:
            changes["flags"] = form.flags
        attachments = self._edited_attachments(call, form, message)
        after = message.body | changes
        if not (
            after["content"]
            or after["embeds"]
            or after["components"]
            or (message.attachments if attachments is None else attachments)
        ):
            raise errors.empty_message()
        self.happenings.edit(room, message, changes, attachments)
        return ok(self._seen(message, room))

    def delete(self, call: Call) -> Answer:
        """Delete one of the bot's own messages."""
        room = readable_room(self.world, call)
        message = message_in(room, call)
        if message.author_id != self.world.bot_id:
            raise errors.dm_action() if room.guild_id is None else errors.missing_permissions()
        self.happenings.delete(room, message)
        return done()

    def delete_bulk(self, call: Call) -> Answer:
        """Refused: the bot has no right to manage messages."""
        room = readable_room(self.world, call)
        raise errors.dm_action() if room.guild_id is None else errors.missing_permissions()

    def _draft(self, call: Call, form: MessageForm, room: Room) -> Draft:
        reply_to, forward = self._references(form, room)
        content = (form.content or "").strip()
        if not (content or form.embeds or form.components or call.files or forward or form.others):
            raise errors.empty_message()
        extra: Json = {"components": form.components} if form.components else {}
        if "poll" in form.others:
            extra["poll"] = form.others["poll"]
        return Draft(
            room=room,
            author_id=self.world.bot_id,
            content=content,
            reply_to=reply_to,
            forward=forward,
            attachments=self._uploaded(call, form),
            embeds=form.embeds or [],
            nonce=form.nonce,
            flags=form.flags,
            allowed=form.allowed,
            allowed_as_sent=form.allowed_as_sent,
            extra=extra,
        )

    def _references(self, form: MessageForm, room: Room) -> tuple[str | None, Message | None]:
        reference = form.reference
        if reference is None:
            return None, None
        target_id = str(reference.get("message_id"))
        source = self.world.rooms.get(str(reference.get("channel_id") or room.id))
        target = source.messages.get(target_id) if source else None
        if reference.get("type", 0) == FORWARD_REFERENCE:
            if target is None:
                raise _unknown_reference()
            return None, target
        if source is not room and source is not None:
            raise errors.invalid_form(
                "message_reference",
                "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL",
                "Cannot reply to a message in a different channel",
            )
        if target is None and reference.get("fail_if_not_exists", True):
            raise _unknown_reference()
        return (target_id, None) if target is not None else (None, None)

    def _uploaded(self, call: Call, form: MessageForm) -> list[Attachment]:
        declared = form.attachments or []
        files: list[Attachment] = []
        for upload in call.files:
            details = details_of(upload, declared)
            filename = cast("str", details.get("filename") or upload.filename)
            files.append(attachment_of(self.snowflakes.new(), filename, upload.content, upload.content_type, details))
        return files

    def _edited_attachments(self, call: Call, form: MessageForm, message: Message) -> list[Attachment] | None:
        # The list in an edit names what stays; what it does not name goes. Without it all stay.
        if form.attachments is None and not call.files:
            return None
        staying = {str(entry.get("id")) for entry in form.attachments or []}
        kept = [each for each in message.attachments if form.attachments is None or each.id in staying]
        return kept + self._uploaded(call, form)

    def _seen(self, message: Message, room: Room) -> Json:
        payload = self.happenings.payloads.rest(message)
        if self.behaviour.content_intent_allowed:
            return payload
        return without_content(payload, self.world.bot_id, in_dm=room.guild_id is None)


def _unknown_reference() -> errors.RefusalError:
    return errors.invalid_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")


def _page(messages: list[Message], query: dict[str, str], limit: int) -> list[Message]:
    """The page that a query asks for, oldest first."""
    for key in ("around", "before", "after"):
        value = query.get(key)
        if value is None:
            continue
        if not value.isdecimal():
            raise errors.invalid_value(key, value)
        anchor = int(value)
        older = [each for each in messages if int(each.id) < anchor]
        newer = [each for each in messages if int(each.id) > anchor]
        match key:
            case "before":
                return older[-limit:]
            case "after":
                return newer[:limit]
            case _:
                centre = [each for each in messages if int(each.id) == anchor]
                half = limit // 2
                return older[-half:] * bool(half) + centre + newer[: max(limit - half - len(centre), 0)]
    return messages[-limit:]
