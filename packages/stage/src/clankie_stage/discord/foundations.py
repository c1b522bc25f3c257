"""New users, guilds, rooms and threads, and their end."""

from dataclasses import dataclass

from clankie_stage.discord.audience import Audience
from clankie_stage.discord.happenings import Draft, Happenings
from clankie_stage.discord.payloads import full_member_payload, guild_create_payload, room_payload
from clankie_stage.discord.scenery import EVERYONE_PERMISSIONS
from clankie_stage.discord.snowflakes import Snowflakes
from clankie_stage.discord.world import BotAccess, Guild, Role, Room, RoomType, User, World

THREAD_CREATED = 18
"""Type of the message that announces a thread in its parent room."""


@dataclass(frozen=True, slots=True)
class Foundations:
    """Makes the places and people of the stage."""

    world: World
    happenings: Happenings
    audience: Audience
    snowflakes: Snowflakes

    def user(self, name: str, guild_ids: list[str], *, bot: bool, dms_open: bool, user_id: str | None = None) -> User:
        """A new user, member of the guilds named."""
        user = User(user_id or self.snowflakes.new(), name.casefold().replace(" ", "_"), name, bot, dms_open)
        self.world.users[user.id] = user
        for guild_id in guild_ids:
            guild = self.world.guilds[guild_id]
            guild.members[user.id] = []
            payload = full_member_payload(self.world, guild, user.id) | {"guild_id": guild_id}
            self.happenings.sessions.dispatch("GUILD_MEMBER_ADD", payload, guild_id)
        self.audience.show("reload")
        return user

    def guild(self, name: str, guild_id: str | None = None) -> Guild:
        """A new server with everybody in it and no room yet; the bot joins it."""
        new_id = guild_id or self.snowflakes.new()
        bot_role = Role(self.snowflakes.new(), "Clankie", EVERYONE_PERMISSIONS, bot_id=self.world.bot_id)
        guild = Guild(
            id=new_id,
            name=name,
            owner_id=self.world.owner_id,
            roles={new_id: Role(new_id, "@everyone", EVERYONE_PERMISSIONS), bot_role.id: bot_role},
            members={user_id: [] for user_id in self.world.users},
        )
        guild.members[self.world.bot_id] = [bot_role.id]
        self.world.guilds[guild.id] = guild
        payload = guild_create_payload(self.world, guild, self.world.bot_id)
        del payload["unavailable"]  # its absence tells a join from a reconnect
        self.happenings.sessions.dispatch("GUILD_CREATE", payload, guild.id)
        self.audience.show("reload")
        return guild

    def room(
        self, name: str, guild_id: str, room_type: RoomType, access: BotAccess, room_id: str | None = None
    ) -> Room:
        """A new room in a guild."""
        room = Room(room_id or self.snowflakes.new(), room_type, name, guild_id=guild_id, bot_access=access)
        self.world.rooms[room.id] = room
        self.happenings.sessions.dispatch("CHANNEL_CREATE", room_payload(self.world, room), guild_id)
        self.audience.show("reload")
        return room

    def dm(self, user_id: str) -> Room:
        """The DM room with a user, made when it is first asked for."""
        room = self.world.dm_with(user_id)
        if room is None:
            room = Room(self.snowflakes.new(), RoomType.DM, "", recipient_id=user_id)
            self.world.rooms[room.id] = room
            self.audience.show("reload")
        return room

    def thread(self, name: str, parent: Room, owner_id: str, message_id: str | None, *, private: bool) -> Room:
        """A new thread under a room, from one of its messages or on its own."""
        room_type = RoomType.PRIVATE_THREAD if private else RoomType.PUBLIC_THREAD
        room = Room(message_id or self.snowflakes.new(), room_type, name, guild_id=parent.guild_id)
        room.parent_id, room.owner_id, room.bot_access = parent.id, owner_id, parent.bot_access
        self.world.rooms[room.id] = room
        self.happenings.tell(room, "THREAD_CREATE", room_payload(self.world, room) | {"newly_created": True})
        if parent.type is not RoomType.FORUM and not private and message_id is None:
            reference = {"message_reference": {"channel_id": room.id, "guild_id": parent.guild_id}}
            self.happenings.post(Draft(parent, owner_id, name, extra={"type": THREAD_CREATED, **reference}))
        self.audience.show("reload")
        return room

    def remove_room(self, room: Room) -> None:
        """Delete a room with all that is in it."""
        del self.world.rooms[room.id]
        payload = room_payload(self.world, room)
        event = "THREAD_DELETE" if room.type.is_thread else "CHANNEL_DELETE"
        if room.guild_id is not None:
            self.happenings.sessions.dispatch(event, payload, room.guild_id)
        self.audience.show("reload")

    def remove_guild(self, guild: Guild) -> None:
        """Take the bot out of a server and delete the server."""
        del self.world.guilds[guild.id]
        for room in self.world.rooms_of(guild.id):
            del self.world.rooms[room.id]
        self.happenings.sessions.dispatch("GUILD_DELETE", {"id": guild.id}, guild.id)
        self.audience.show("reload")
