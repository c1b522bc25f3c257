"""REST: application commands, and answers to interactions with them."""

from dataclasses import dataclass
from typing import cast

from clankie_stage.discord import errors
from clankie_stage.discord.access import guild_of
from clankie_stage.discord.calls import LIST, Answer, Call, Route, done, object_of, ok
from clankie_stage.discord.command_form import SLASH, command_forms
from clankie_stage.discord.interactions import Interaction, Interactions
from clankie_stage.discord.message_form import message_form
from clankie_stage.discord.payloads import iso, user_payload
from clankie_stage.discord.snowflakes import Snowflakes
from clankie_stage.discord.world import Json, World

EPHEMERAL = 1 << 6
"""Message flag: only the invoker sees it."""

MESSAGE, DEFERRED = 4, 5
"""Callback types: an answer, and the promise of one."""

CALLBACK = "/interactions/{interaction_id}/{token}/callback"
ORIGINAL = "/webhooks/{application_id}/{token}/messages/@original"
GLOBAL_COMMANDS = "/applications/{application_id}/commands"
GUILD_COMMANDS = "/applications/{application_id}/guilds/{guild_id}/commands"


@dataclass(frozen=True, slots=True)
class InteractionRoutes:
    """The resources of commands and interactions."""

    world: World
    interactions: Interactions
    snowflakes: Snowflakes

    def routes(self) -> list[Route]:
        """What these handlers answer; an interaction's token is all the authority that its routes need."""
        return [
            Route("GET", GLOBAL_COMMANDS, self.list_commands),
            Route("PUT", GLOBAL_COMMANDS, self.overwrite, takes_list=True),
            Route("GET", GUILD_COMMANDS, self.list_commands),
            Route("PUT", GUILD_COMMANDS, self.overwrite, takes_list=True),
            Route("POST", CALLBACK, self.answer, open=True),
            Route("GET", ORIGINAL, self.original, open=True),
            Route("PATCH", ORIGINAL, self.edit, open=True),
            Route("DELETE", ORIGINAL, self.delete, open=True),
            Route("POST", "/webhooks/{application_id}/{token}", self.follow_up, open=True),
        ]

    def list_commands(self, call: Call) -> Answer:
        """The commands of a scope."""
        return ok([*self.interactions.commands.get(self._scope(call), {}).values()])

    def overwrite(self, call: Call) -> Answer:
        """Replace the commands of a scope; one that keeps its name keeps its id."""
        scope = self._scope(call)
        known = {each["name"]: each["id"] for each in self.interactions.commands.get(scope, {}).values()}
        made: dict[str, Json] = {}
        for form in command_forms(call.body.get(LIST)):
            command_id = known.get(form["name"]) or self.snowflakes.new()
            made[command_id] = self._command(form, command_id, scope)
        self.interactions.commands[scope] = made
        return ok([*made.values()])

    def answer(self, call: Call) -> Answer:
        """Answer an interaction, or promise to."""
        interaction = self.interactions.unanswered(call.snowflake("interaction_id"), call.params["token"])
        if interaction is None:
            raise errors.RefusalError(404, 10062, "Unknown interaction")
        if interaction.state != "waiting":
            raise errors.RefusalError(400, 40060, "Interaction has already been acknowledged.")
        kind, data = call.body.get("type"), object_of(call.body, "data") or {}
        if kind not in (MESSAGE, DEFERRED):
            raise errors.invalid_form("type", "BASE_TYPE_CHOICES", f"Value must be one of ({MESSAGE}, {DEFERRED}).")
        flags = data.get("flags") or 0
        if not isinstance(flags, int):
            raise errors.invalid_value("data.flags", flags, "int")
        if kind == MESSAGE:
            interaction.shown = self._message(call, data, interaction)
        interaction.state = "answered" if kind == MESSAGE else "deferred"
        interaction.ephemeral = bool(flags & EPHEMERAL)
        self.interactions.changes.announce()
        return ok(_callback(interaction, kind)) if call.query.get("with_response") == "true" else done()

    def original(self, call: Call) -> Answer:
        """The answer as it is."""
        interaction = self._known(call)
        if interaction.shown is None:
            raise errors.unknown("Message")
        return ok(interaction.shown)

    def edit(self, call: Call) -> Answer:
        """Change the answer, or give the promised one."""
        interaction = self._known(call)
        interaction.shown = self._message(call, call.body, interaction)
        interaction.state = "answered"
        self.interactions.changes.announce()
        return ok(interaction.shown)

    def delete(self, call: Call) -> Answer:
        """Take the answer away."""
        interaction = self._known(call)
        interaction.shown, interaction.state = None, "deleted"
        self.interactions.changes.announce()
        return done()

    def follow_up(self, call: Call) -> Answer:
        """Say more after the answer; the first after a promise is the answer."""
        interaction = self._known(call)
        message = self._message(call, call.body, interaction)
        if interaction.state == "deferred":
            interaction.shown, interaction.state = message, "answered"
        else:
            interaction.followups.append(message)
        self.interactions.changes.announce()
        return ok(message)

    def _known(self, call: Call) -> Interaction:
        self._own(call)
        interaction = self.interactions.with_token(call.params["token"])
        if interaction is None:
            raise errors.RefusalError(404, 10015, "Unknown Webhook")
        if interaction.state == "deleted":
            raise errors.unknown("Message")
        return interaction

    def _own(self, call: Call) -> None:
        if call.snowflake("application_id") != self.world.bot_id:
            raise errors.missing_access()

    def _scope(self, call: Call) -> str:
        self._own(call)
        return guild_of(self.world, call).id if "guild_id" in call.params else ""

    def _command(self, form: Json, command_id: str, scope: str) -> Json:
        unsaid: Json = {
            "name_localizations": None,
            "description_localizations": None,
            "default_member_permissions": None,
            "nsfw": False,
            "contexts": None,
            "integration_types": [0],
        }
        said = {key: value for key, value in form.items() if value is not None}
        command = unsaid | said | {"id": command_id, "application_id": self.world.bot_id, "type": SLASH}
        command |= {"version": self.snowflakes.new(), "dm_permission": True}
        return command | ({"guild_id": scope} if scope else {})

    def _message(self, call: Call, data: Json, interaction: Interaction) -> Json:
        form = message_form(Call(call.method, call.template, call.path, call.params, call.query, data, call.files))
        if not (form.content or "").strip() and not form.embeds:
            raise errors.empty_message()
        return {
            "id": self.snowflakes.new(),
            "channel_id": interaction.room_id,
            "type": 20,
            "author": user_payload(self.world.users[self.world.bot_id]),
            "content": form.content or "",
            "timestamp": iso(self.interactions.clock.now()),
            "edited_timestamp": None,
            "tts": False,
            "pinned": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": form.embeds or [],
            "components": [],
            "flags": EPHEMERAL if interaction.ephemeral or cast("int", data.get("flags") or 0) & EPHEMERAL else 0,
            "webhook_id": self.world.bot_id,
            "application_id": self.world.bot_id,
        }


def _callback(interaction: Interaction, kind: int) -> Json:
    callback: Json = {
        "id": interaction.id,
        "type": 2,
        "response_message_loading": kind == DEFERRED,
        "response_message_ephemeral": interaction.ephemeral,
    }
    shown: Json = {"message": interaction.shown} if interaction.shown is not None else {}
    return {"interaction": callback, "resource": {"type": kind, **shown}}
