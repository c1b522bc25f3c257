"""The control of a stage: every verb in one object."""

from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.payloads import room_payload, user_payload
from clankie_stage.discord.scenery import opening_world
from clankie_stage.discord.snowflakes import bot_token
from clankie_stage.discord.verbs.breaking import Breaking
from clankie_stage.discord.verbs.commanding import Commanding
from clankie_stage.discord.verbs.founding import Founding
from clankie_stage.discord.verbs.looking import Looking
from clankie_stage.discord.verbs.speaking import Speaking
from clankie_stage.discord.world import Json, World


class Control(Speaking, Commanding, Founding, Breaking, Looking):
    """Every verb. Users and rooms go by id or name: ``Ann``, ``general``, ``@Ann`` for the DM with Ann.

    Verbs that name something that is not there raise LookupError.
    """

    @property
    def world(self) -> World:
        """Everything that exists on the stage."""
        return self.parts.world

    def reset(self) -> None:
        """Start over: the opening world, no faults, empty recording. Sessions and the bot's commands stay."""
        self.parts.world.replace(opening_world())
        self.parts.behaviour.replace(Behaviour())
        self.parts.faults.clear()
        self.parts.recording.clear()
        self.parts.limits.clear()
        self.parts.nonces.clear()
        self.parts.interactions.by_id.clear()
        self.parts.cdn.shelves.clear()
        self.parts.audience.show("reload")

    def describe(self) -> Json:
        """Who and what is there, for whoever looks at the stage."""
        return {
            "bot_id": self.parts.world.bot_id,
            "owner_id": self.parts.world.owner_id,
            "token": bot_token(self.parts.world.bot_id),
            "connected": len(self.parts.sessions.connected()),
            "users": [
                user_payload(user) | {"display_name": user.display_name} for user in self.parts.world.users.values()
            ],
            "guilds": [{"id": guild.id, "name": guild.name} for guild in self.parts.world.guilds.values()],
            "roles": {
                role.id: role.name for guild in self.parts.world.guilds.values() for role in guild.roles.values()
            },
            "rooms": [
                room_payload(self.parts.world, room) | {"bot_access": room.bot_access}
                for room in self.parts.world.rooms.values()
            ],
        }
