"""What a test or the page does to the stage: speak as people, break things, look at what happened."""

import base64
from dataclasses import dataclass
from typing import Any

from clankie_settings.clock import Ids
from clankie_stage.discord.attachments import attachment_of
from clankie_stage.discord.audience import Audience
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.cdn import Cdn
from clankie_stage.discord.changes import Changes
from clankie_stage.discord.faults import Fault, Faults
from clankie_stage.discord.foundations import Foundations
from clankie_stage.discord.happenings import Draft, Happenings
from clankie_stage.discord.mentions import AllowedMentions
from clankie_stage.discord.nonces import Nonces
from clankie_stage.discord.payloads import guild_payload, room_payload, user_payload
from clankie_stage.discord.rate_limits import RateLimits
from clankie_stage.discord.recording import Recording, fits
from clankie_stage.discord.scenery import GUILD_ID, opening_world
from clankie_stage.discord.sessions import Sessions
from clankie_stage.discord.snowflakes import bot_token
from clankie_stage.discord.world import Attachment, BotAccess, Json, RoomType, World

RECONNECT, INVALID_SESSION = 7, 9

PATIENCE_S = 10.0
"""Seconds that a wait lasts when the caller does not say."""


@dataclass(frozen=True, slots=True)
class Control:
    """Every verb. Users and rooms go by id or name: ``Ann``, ``general``, ``@Ann`` for the DM with Ann.

    Verbs that name something that is not there raise LookupError.
    """

    world: World
    behaviour: Behaviour
    happenings: Happenings
    foundations: Foundations
    sessions: Sessions
    faults: Faults
    recording: Recording
    changes: Changes
    audience: Audience
    limits: RateLimits
    nonces: Nonces
    cdn: Cdn
    ids: Ids

    # -- people speak --------------------------------------------------------------------------

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
        place = self.world.room_named(room)
        draft = Draft(
            room=place,
            author_id=self.world.user_named(user).id,
            content=content,
            reply_to=reply_to,
            forward=self.world.message(forward) if forward else None,
            attachments=[self._attachment(each) for each in attachments or []],
            embeds=embeds or [],
            allowed=AllowedMentions(replied_user=ping),
            extra=extra or {},
            overrides=overrides or {},
            omitted=frozenset(omit or ()),
        )
        if webhook is not None:
            draft = self._by_webhook(draft, webhook)
        return self.happenings.payloads.rest(self.happenings.post(draft))

    def edit(self, message: str, content: str) -> Json:
        """Edit a message as its author."""
        found = self.world.message(message)
        self.happenings.edit(self.world.rooms[found.room_id], found, {"content": content.strip()})
        return self.happenings.payloads.rest(found)

    def unfurl(self, message: str, embeds: list[Json]) -> Json:
        """Let link previews arrive late: an update that is no edit."""
        found = self.world.message(message)
        self.happenings.unfurl(self.world.rooms[found.room_id], found, embeds)
        return self.happenings.payloads.rest(found)

    def delete(self, message: str) -> None:
        """Delete a message."""
        found = self.world.message(message)
        self.happenings.delete(self.world.rooms[found.room_id], found)

    def delete_bulk(self, room: str, messages: list[str]) -> None:
        """Delete several messages of a guild room in one event."""
        self.happenings.delete_bulk(self.world.room_named(room), messages)

    def react(self, user: str, message: str, emoji: str, *, remove: bool = False) -> None:
        """React to a message, or take a reaction back."""
        found = self.world.message(message)
        act = self.happenings.unreact if remove else self.happenings.react
        act(self.world.rooms[found.room_id], found, self.world.user_named(user).id, emoji)

    def typing(self, user: str, room: str = "general") -> None:
        """Let somebody type."""
        self.happenings.type(self.world.room_named(room), self.world.user_named(user).id)

    # -- places and people ---------------------------------------------------------------------

    def create_user(
        self,
        name: str,
        *,
        guilds: list[str] | None = None,
        bot: bool = False,
        dms_open: bool = True,
        user_id: str | None = None,
    ) -> Json:
        """A new user, member of the opening guild unless other guilds are named by id."""
        members_of = [GUILD_ID] if guilds is None else guilds
        return user_payload(self.foundations.user(name, members_of, bot=bot, dms_open=dms_open, user_id=user_id))

    def create_guild(self, name: str, *, guild_id: str | None = None) -> Json:
        """A new guild with everybody in it and no room."""
        return guild_payload(self.foundations.guild(name, guild_id))

    def create_room(
        self,
        name: str,
        *,
        guild: str = GUILD_ID,
        forum: bool = False,
        access: BotAccess = "full",
        room_id: str | None = None,
    ) -> Json:
        """A new text room, or a forum, in a guild given by id."""
        kind = RoomType.FORUM if forum else RoomType.TEXT
        return room_payload(self.world, self.foundations.room(name, guild, kind, access, room_id))

    def create_thread(
        self,
        name: str,
        *,
        parent: str = "general",
        user: str = "Ann",
        message: str | None = None,
        private: bool = False,
    ) -> Json:
        """A new thread, opened by a user, from a message or on its own."""
        owner = self.world.user_named(user).id
        return room_payload(
            self.world, self.foundations.thread(name, self.world.room_named(parent), owner, message, private=private)
        )

    def delete_room(self, room: str) -> None:
        """Delete a room."""
        self.foundations.remove_room(self.world.room_named(room))

    def delete_guild(self, guild: str) -> None:
        """Delete a guild by id."""
        self.foundations.remove_guild(self.world.guilds[guild])

    def set_access(self, room: str, access: BotAccess) -> None:
        """Change what the bot may do in a room, without an event, as when rights change behind its back."""
        self.world.room_named(room).bot_access = access

    def set_dms(self, user: str, *, accepted: bool) -> None:
        """Open or close a user's DMs."""
        self.world.user_named(user).dms_open = accepted

    def lay(self, path: str, content: str, content_type: str, headers: dict[str, str] | None = None) -> None:
        """Serve base64 ``content`` on the CDN at a path that no message carries."""
        self.cdn.lay(path, content, content_type, headers or {})

    # -- things break --------------------------------------------------------------------------

    def fault(
        self,
        *,
        method: str = "*",
        route: str = "*",
        status: int | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
        times: int = 1,
        delay_s: float = 0.0,
        hold: str | None = None,
        after: bool = False,
        kill: bool = False,
    ) -> str:
        """Order a fault for requests to come; see `Fault`. Returns its id, which the recording names."""
        order = Fault(
            self.ids.new("fault"), method, route, status, body, headers or {}, times, delay_s, hold, after, kill
        )
        return self.faults.order(order).id

    def release(self, hold: str) -> None:
        """Let held requests go on."""
        self.faults.release(hold)

    def clear_faults(self) -> None:
        """Drop all faults."""
        self.faults.clear()

    def drop(self) -> int:
        """Cut every gateway connection without a word; sessions can be resumed. Returns how many."""
        connected = self.sessions.connected()
        for session in connected:
            if session.socket is not None:
                session.socket.close(None)
        return len(connected)

    def reconnect(self) -> int:
        """Ask every session to reconnect and resume (op 7). Returns how many."""
        connected = self.sessions.connected()
        for session in connected:
            self.sessions.control(session, RECONNECT, None)
        return len(connected)

    def invalidate(self, *, resumable: bool = False) -> int:
        """Invalidate every session (op 9); they are forgotten unless resumable. Returns how many."""
        connected = self.sessions.connected()
        for session in connected:
            self.sessions.control(session, INVALID_SESSION, resumable)
            if not resumable:
                del self.sessions.by_id[session.id]
        return len(connected)

    def close(self, code: int, reason: str = "") -> int:
        """Close every gateway connection with a code. Returns how many."""
        connected = self.sessions.connected()
        for session in connected:
            if session.socket is not None:
                session.socket.close(code, reason)
        return len(connected)

    def forget_sessions(self) -> None:
        """Forget all sessions and cut their connections, so that a RESUME is refused."""
        self.drop()
        self.sessions.by_id.clear()

    def duplicate(self, count: int = 1) -> None:
        """Send every session its last events a second time, unchanged."""
        self.sessions.duplicate(count)

    def behave(self, **settings: Any) -> None:
        """Change fields of `Behaviour`, such as ``heartbeat_interval_ms`` or ``application_flags``.

        Raises:
            LookupError: there is no such setting.
        """
        for name, value in settings.items():
            if not hasattr(self.behaviour, name):
                raise LookupError(f"the stage has no behaviour {name!r}")
            setattr(self.behaviour, name, value)

    # -- what happened -------------------------------------------------------------------------

    def messages(self, room: str = "general") -> list[Json]:
        """The messages of a room, oldest first, as REST shows them."""
        return [self.happenings.payloads.rest(each) for each in self.world.room_named(room).messages.values()]

    def recorded(self, match: Json | None = None, *, after: int = 0) -> list[Json]:
        """Recorded entries beyond an index that fit ``match``; see `recording.fits`."""
        return [entry.payload() for entry in self.recording.matching(match or {}, after)]

    def typings(self, room: str = "general", *, after: int = 0) -> list[Json]:
        """The bot's typing calls in a room."""
        path = f"/channels/{self.world.room_named(room).id}/typing"
        return self.recorded({"kind": "rest", "method": "POST", "path": path}, after=after)

    def mark(self) -> int:
        """The index of the newest recorded entry, to look only at later ones."""
        return self.recording.last

    async def wait(self, match: Json, *, count: int = 1, after: int = 0, within_s: float = PATIENCE_S) -> list[Json]:
        """Recorded entries that fit, once there are ``count`` of them.

        Raises:
            TimeoutError: there were fewer in time.
        """

        def enough() -> list[Json] | None:
            found = self.recorded(match, after=after)
            return found if len(found) >= count else None

        return await self.changes.until(enough, within_s)

    async def wait_messages(
        self, room: str = "general", *, match: Json | None = None, count: int = 1, within_s: float = PATIENCE_S
    ) -> list[Json]:
        """Messages of a room that fit, once there are ``count`` of them; ``{"author": {"bot": true}}`` are replies.

        Raises:
            TimeoutError: there were fewer in time.
        """

        def enough() -> list[Json] | None:
            found = [each for each in self.messages(room) if fits(match or {}, each)]
            return found if len(found) >= count else None

        return await self.changes.until(enough, within_s)

    async def wait_connected(self, *, count: int = 1, within_s: float = PATIENCE_S) -> int:
        """How many sessions are connected, once there are ``count``.

        Raises:
            TimeoutError: there were fewer in time.
        """
        return await self.changes.until(lambda: (n := len(self.sessions.connected())) >= count and n, within_s)

    async def wait_held(self, hold: str, *, within_s: float = PATIENCE_S) -> None:
        """Return once a request is held under this name.

        Raises:
            TimeoutError: none was in time.
        """
        await self.changes.until(lambda: hold in self.faults.held, within_s)

    def reset(self) -> None:
        """Start over: the opening world, no faults, empty recording. Connected sessions stay connected."""
        self.world.replace(opening_world())
        self.behaviour.replace(Behaviour())
        self.faults.clear()
        self.faults.released.clear()
        self.recording.clear()
        self.limits.clear()
        self.nonces.clear()
        self.cdn.shelves.clear()
        self.audience.show("reload")

    def describe(self) -> Json:
        """Who and what is there, for whoever looks at the stage."""
        return {
            "bot_id": self.world.bot_id,
            "owner_id": self.world.owner_id,
            "token": bot_token(self.world.bot_id),
            "connected": len(self.sessions.connected()),
            "users": [user_payload(user) | {"display_name": user.display_name} for user in self.world.users.values()],
            "guilds": [{"id": guild.id, "name": guild.name} for guild in self.world.guilds.values()],
            "rooms": [
                room_payload(self.world, room) | {"bot_access": room.bot_access} for room in self.world.rooms.values()
            ],
        }

    def _attachment(self, given: Json) -> Attachment:
        details = {key: value for key, value in given.items() if key not in {"content", "content_type"}}
        content = base64.b64decode(given["content"], validate=True)
        return attachment_of(
            self.happenings.snowflakes.new(), given["filename"], content, given.get("content_type"), details
        )

    def _by_webhook(self, draft: Draft, name: str) -> Draft:
        webhook_id = self.happenings.snowflakes.new()
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
