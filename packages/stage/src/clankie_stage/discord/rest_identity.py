"""REST: who the bot is, where its gateway is, and who others are."""

from dataclasses import dataclass

from clankie_stage.discord import errors
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.calls import Answer, Call, Route, ok
from clankie_stage.discord.payloads import application_payload, self_payload, user_payload
from clankie_stage.discord.world import Json, World


@dataclass(frozen=True, slots=True)
class IdentityRoutes:
    """The bot's own identity. ``gateway_url`` is known once the stage listens."""

    world: World
    behaviour: Behaviour
    gateway_url: str

    def routes(self) -> list[Route]:
        """What these handlers answer."""
        return [
            Route("GET", "/gateway", self.gateway),
            Route("GET", "/gateway/bot", self.gateway_bot),
            Route("GET", "/users/@me", self.me),
            Route("GET", "/users/@me/guilds", self.guilds),
            Route("GET", "/users/{user_id}", self.user),
            Route("GET", "/applications/@me", self.application),
            Route("GET", "/oauth2/applications/@me", self.application),
        ]

    def gateway(self, call: Call) -> Answer:
        """Where the gateway is."""
        del call
        return ok({"url": self.gateway_url})

    def gateway_bot(self, call: Call) -> Answer:
        """Where the gateway is, and how many may start."""
        del call
        limit = {
            "total": 1_000,
            "remaining": 999,
            "reset_after": 14_400_000,
            "max_concurrency": self.behaviour.max_concurrency,
        }
        return ok({"url": self.gateway_url, "shards": 1, "session_start_limit": limit})

    def me(self, call: Call) -> Answer:
        """The bot's user."""
        del call
        return ok(self_payload(self.world.users[self.world.bot_id]))

    def guilds(self, call: Call) -> Answer:
        """The guilds that the bot is in."""
        del call
        unsaid: Json = {"icon": None, "banner": None, "owner": False, "permissions": "0", "features": []}
        joined = (guild for guild in self.world.guilds.values() if self.world.bot_id in guild.members)
        return ok([{"id": guild.id, "name": guild.name, **unsaid} for guild in joined])

    def user(self, call: Call) -> Answer:
        """Any user."""
        user = self.world.users.get(call.snowflake("user_id"))
        if user is None:
            raise errors.unknown("User")
        return ok(user_payload(user))

    def application(self, call: Call) -> Answer:
        """The bot's application, with its intent flags."""
        del call
        bot, owner = self.world.users[self.world.bot_id], self.world.users[self.world.owner_id]
        return ok(application_payload(bot, owner, self.behaviour))
