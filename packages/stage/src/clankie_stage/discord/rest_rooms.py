"""REST: rooms, DMs, typing, reactions, guilds."""

from dataclasses import dataclass

from clankie_stage.discord import errors
from clankie_stage.discord.access import guild_of, message_in, readable_room, writable_room
from clankie_stage.discord.calls import Answer, Call, Route, done, ok
from clankie_stage.discord.foundations import Foundations
from clankie_stage.discord.happenings import Happenings
from clankie_stage.discord.payloads import full_member_payload, guild_payload, role_payloads, room_payload
from clankie_stage.discord.world import World

REACTION = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}"


@dataclass(frozen=True, slots=True)
class RoomRoutes:
    """Rooms and what is done in them besides writing."""

    world: World
    happenings: Happenings
    foundations: Foundations

    def routes(self) -> list[Route]:
        """What these handlers answer."""
        return [
            Route("GET", "/channels/{channel_id}", self.get),
            Route("POST", "/channels/{channel_id}/typing", self.type),
            Route("PUT", REACTION + "/@me", self.react),
            Route("DELETE", REACTION + "/@me", self.unreact),
            Route("POST", "/users/@me/channels", self.open_dm),
            Route("GET", "/guilds/{guild_id}", self.get_guild),
            Route("GET", "/guilds/{guild_id}/channels", self.list_rooms),
            Route("GET", "/guilds/{guild_id}/threads/active", self.list_threads),
            Route("GET", "/guilds/{guild_id}/roles", self.list_roles),
            Route("GET", "/guilds/{guild_id}/members/{user_id}", self.get_member),
        ]

    def get(self, call: Call) -> Answer:
        """One room."""
        return ok(room_payload(self.world, readable_room(self.world, call)))

    def type(self, call: Call) -> Answer:
        """Light the bot's typing indicator for ten seconds."""
        self.happenings.type(writable_room(self.world, call), self.world.bot_id)
        return done()

    def react(self, call: Call) -> Answer:
        """React as the bot."""
        room = writable_room(self.world, call)
        message = message_in(room, call)
        self.happenings.react(room, message, self.world.bot_id, _emoji(call))
        return done()

    def unreact(self, call: Call) -> Answer:
        """Take the bot's reaction back."""
        room = readable_room(self.world, call)
        self.happenings.unreact(room, message_in(room, call), self.world.bot_id, _emoji(call))
        return done()

    def open_dm(self, call: Call) -> Answer:
        """The DM with a user; made when it is not there."""
        user = self.world.users.get(str(call.body.get("recipient_id")))
        if user is None:
            raise errors.unknown("User")
        if user.bot:
            raise errors.closed_dm()
        return ok(room_payload(self.world, self.foundations.dm(user.id)))

    def get_guild(self, call: Call) -> Answer:
        """One guild."""
        return ok(guild_payload(guild_of(self.world, call)))

    def list_rooms(self, call: Call) -> Answer:
        """The rooms of a guild, without threads."""
        rooms = self.world.rooms_of(guild_of(self.world, call).id)
        return ok([room_payload(self.world, room) for room in rooms if not room.type.is_thread])

    def list_threads(self, call: Call) -> Answer:
        """The active threads of a guild that the bot can see."""
        rooms = self.world.rooms_of(guild_of(self.world, call).id)
        threads = [
            room_payload(self.world, room) for room in rooms if room.type.is_thread and room.bot_access != "none"
        ]
        return ok({"threads": threads, "members": [], "has_more": False})

    def list_roles(self, call: Call) -> Answer:
        """The roles of a guild."""
        return ok(role_payloads(guild_of(self.world, call)))

    def get_member(self, call: Call) -> Answer:
        """One member of a guild."""
        guild = guild_of(self.world, call)
        user_id = call.snowflake("user_id")
        if user_id not in guild.members:
            raise errors.unknown("Member")
        return ok(full_member_payload(self.world, guild, user_id))


def _emoji(call: Call) -> str:
    emoji = call.params["emoji"]
    name, _, emoji_id = emoji.partition(":")
    if emoji_id:
        if not emoji_id.isdecimal():
            raise errors.unknown_emoji()
        return emoji
    if not name or name.isascii() or len(name) > 32:
        raise errors.unknown_emoji()
    return emoji
