"""Verbs that make and change people and places."""

from clankie_stage.discord.foundations import ThreadStart
from clankie_stage.discord.payloads import guild_payload, room_payload, user_payload
from clankie_stage.discord.scenery import GUILD_ID
from clankie_stage.discord.verbs.parts import Verbs
from clankie_stage.discord.world import BotAccess, Json, RoomType


class Founding(Verbs):
    """Users, guilds, rooms, threads, and what the bot may do in them."""

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
        return user_payload(self.parts.foundations.user(name, members_of, bot=bot, dms_open=dms_open, user_id=user_id))

    def create_guild(self, name: str, *, guild_id: str | None = None) -> Json:
        """A new guild with everybody in it and no room."""
        return guild_payload(self.parts.foundations.guild(name, guild_id))

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
        return room_payload(self.parts.world, self.parts.foundations.room(name, guild, kind, access, room_id))

    def create_thread(
        self,
        name: str,
        *,
        parent: str = "general",
        user: str = "Ann",
        message: str | None = None,
        content: str = "",
        private: bool = False,
    ) -> Json:
        """A new thread, opened by a user: from a message, on its own, or as a forum post with ``content``."""
        world = self.parts.world
        start = ThreadStart(world.message(message) if message else None, content, private)
        place, owner = world.room_named(parent), world.user_named(user)
        return room_payload(world, self.parts.foundations.thread(name, place, owner.id, start))

    def delete_room(self, room: str) -> None:
        """Delete a room."""
        self.parts.foundations.remove_room(self.parts.world.room_named(room))

    def delete_guild(self, guild: str) -> None:
        """Delete a guild by id."""
        self.parts.foundations.remove_guild(self.parts.world.guilds[guild])

    def set_access(self, room: str, access: BotAccess) -> None:
        """Change what the bot may do in a room, without an event, as when rights change behind its back."""
        self.parts.world.room_named(room).bot_access = access

    def set_dms(self, user: str, *, accepted: bool) -> None:
        """Open or close a user's DMs."""
        self.parts.world.user_named(user).dms_open = accepted

    def lay(self, path: str, content: str, content_type: str, headers: dict[str, str] | None = None) -> None:
        """Serve base64 ``content`` on the CDN at a path that no message carries."""
        self.parts.cdn.lay(path, content, content_type, headers or {})
