"""New users, guilds, rooms and threads, and their end."""

from dataclasses import dataclass

from clankie_stage.discord.audience import Audience
from clankie_stage.discord.happenings import Draft, Happenings
from clankie_stage.discord.message_payloads import THREAD_STARTER
from clankie_stage.discord.payloads import full_member_payload, guild_create_payload, room_payload
from clankie_stage.discord.scenery import EVERYONE_PERMISSIONS
from clankie_stage.discord.snowflakes import Snowflakes
from clankie_stage.discord.world import BotAccess, Guild, Message, Role, Room, RoomType, User, World

THREAD_CREATED = 18
"""Type of the message that announces a thread in its parent room."""


HAS_THREAD = 1 << 5
"""Flag of a message that a thread hangs on."""


@dataclass(frozen=True, slots=True)
class ThreadStart:
    """How a thread begins: on a message, with the words of a forum post, or among a few only."""

    message: Message | None = None
    content: str = ""
    private: bool = False


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

    def thread(self, name: str, parent: Room, owner_id: str, start: ThreadStart) -> Room:
        """A new thread under a room: from a message, as a forum post, or on its own."""
        room_type = RoomType.PRIVATE_THREAD if start.private else RoomType.PUBLIC_THREAD
        room_id = start.message.id if start.message else self.snowflakes.new()
        room = Room(room_id, room_type, name, guild_id=parent.guild_id)
        room.parent_id, room.owner_id, room.bot_access = parent.id, owner_id, parent.bot_access
        self.world.rooms[room.id] = room
        self.happenings.tell(room, "THREAD_CREATE", room_payload(self.world, room) | {"newly_created": True})
        self.audience.show("reload")
        self._begin(room, parent, owner_id, start)
        return room

    def _begin(self, room: Room, parent: Room, owner_id: str, start: ThreadStart) -> None:
        guild = {"guild_id": parent.guild_id}
        if parent.type is RoomType.FORUM:
            self.happenings.post(Draft(room, owner_id, start.content or room.name, message_id=room.id))
        elif start.message is not None:
            flags = start.message.body["flags"] | HAS_THREAD
            self.happenings.mark(parent, start.message, {"flags": flags, "thread": room_payload(self.world, room)})
            origin = {"type": 0, "message_id": start.message.id, "channel_id": parent.id, **guild}
            starter = {"type": THREAD_STARTER, "message_reference": origin}
            self.happenings.post(Draft(room, owner_id, extra=starter))
        elif not start.private:
            announced = {"type": THREAD_CREATED, "message_reference": {"channel_id": room.id, **guild}}
            self.happenings.post(Draft(parent, owner_id, room.name, extra=announced))

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
