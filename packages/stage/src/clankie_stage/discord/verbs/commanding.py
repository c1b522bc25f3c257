"""Verbs with which people use the bot's slash commands."""

from clankie_stage.discord.interactions import Interaction, State
from clankie_stage.discord.payloads import full_member_payload, room_payload, user_payload
from clankie_stage.discord.verbs.looking import PATIENCE_S
from clankie_stage.discord.verbs.parts import Verbs
from clankie_stage.discord.world import Json, Room

ALL_PERMISSIONS = str((1 << 50) - 1)
MEMBER_PERMISSIONS = str(1 << 10 | 1 << 11)
COMMAND = 2


class Commanding(Verbs):
    """Slash commands, and what their users are shown."""

    def commands(self, guild: str | None = None) -> list[Json]:
        """The commands registered everywhere, or those of one guild by id."""
        return [*self.parts.interactions.commands.get(guild or "", {}).values()]

    def interact(self, user: str, command: str, *, room: str = "general") -> Json:
        """Use a slash command as somebody; the answer is how it stands, with its id."""
        place, invoker = self.parts.world.room_named(room), self.parts.world.user_named(user)
        registered = self.parts.interactions.command(command, place.guild_id)
        interaction_id = self.parts.happenings.snowflakes.new()
        interaction = Interaction(
            id=interaction_id,
            token=f"interaction-{interaction_id}-{self.parts.ids.new('token')}",
            user_id=invoker.id,
            room_id=place.id,
            command=command,
            began=self.parts.interactions.now(),
        )
        self.parts.interactions.begin(interaction)
        payload = self._payload(interaction, place, registered)
        self.parts.sessions.dispatch("INTERACTION_CREATE", payload, place.guild_id)
        return interaction.payload()

    def interaction(self, interaction: str) -> Json:
        """How an interaction stands, as its user sees it: state, content, whether others see it."""
        found = self.parts.interactions.by_id.get(interaction)
        if found is None:
            raise LookupError(f"no interaction has the id {interaction}")
        return found.payload()

    async def wait_interaction(
        self, interaction: str, *, state: State = "answered", within_s: float = PATIENCE_S
    ) -> Json:
        """How an interaction stands, once it stands so.

        Raises:
            TimeoutError: it did not in time.
        """

        def reached() -> Json | None:
            found = self.interaction(interaction)
            return found if found["state"] == state else None

        return await self.parts.changes.until(reached, within_s)

    def _payload(self, interaction: Interaction, room: Room, registered: Json) -> Json:
        world = self.parts.world
        user = user_payload(world.users[interaction.user_id])
        payload: Json = {
            "id": interaction.id,
            "application_id": world.bot_id,
            "type": COMMAND,
            "token": interaction.token,
            "version": 1,
            "data": {"id": registered["id"], "name": registered["name"], "type": registered["type"]},
            "channel_id": room.id,
            "channel": room_payload(world, room) | {"permissions": ALL_PERMISSIONS},
            "app_permissions": ALL_PERMISSIONS,
            "locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": {"0": room.guild_id or "0"},
            "context": 0 if room.guild_id else 1,
            "attachment_size_limit": 10 * 1024 * 1024,
        }
        guild = world.guilds.get(room.guild_id or "")
        if guild is None:
            return payload | {"user": user}
        if "guild_id" in registered:
            payload["data"]["guild_id"] = registered["guild_id"]
        member = full_member_payload(world, guild, interaction.user_id)
        owner = guild.owner_id == interaction.user_id
        member["permissions"] = ALL_PERMISSIONS if owner else MEMBER_PERMISSIONS
        shown: Json = {"id": guild.id, "locale": "en-US", "features": []}
        return payload | {"guild_id": guild.id, "guild": shown, "guild_locale": "en-US", "member": member}
