"""Slash commands and their use: what is registered, what was invoked, and what the invoker is shown."""

from dataclasses import dataclass, field
from typing import Any, Literal

from clankie_settings.clock import Clock
from clankie_stage.discord.changes import Changes
from clankie_stage.discord.world import Json

ANSWER_WITHIN_S = 3.0
"""Seconds in which an interaction must be answered or deferred. Source: Discord's documentation."""

TOKEN_LIFETIME_S = 900.0
"""Seconds for which an interaction's token is good. Source: Discord's documentation."""

KEPT_INTERACTIONS = 1_000

State = Literal["waiting", "deferred", "answered", "deleted"]


@dataclass(slots=True)
class Interaction:
    """One use of a command.

    Attributes:
        began: on the clock of elapsed time, in seconds.
        shown: what its invoker sees, once there is something.
        followups: what its invoker was shown besides.
    """

    id: str
    token: str
    user_id: str
    room_id: str
    command: str
    began: float
    state: State = "waiting"
    ephemeral: bool = False
    shown: Json | None = None
    followups: list[Json] = field(default_factory=list[Json])

    def payload(self) -> Json:
        """The interaction as its invoker sees it."""
        return {
            "id": self.id,
            "command": self.command,
            "state": self.state,
            "ephemeral": self.ephemeral,
            "content": None if self.shown is None else self.shown.get("content"),
            "followups": [each.get("content") for each in self.followups],
        }


@dataclass(slots=True)
class Interactions:
    """Registered commands by scope (a guild's id, or empty for everywhere), and the interactions with them."""

    clock: Clock
    changes: Changes
    commands: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    by_id: dict[str, Interaction] = field(default_factory=dict[str, Interaction])

    def command(self, name: str, guild_id: str | None) -> Json:
        """The command that a person means by a name in a guild, or in a DM.

        Raises:
            LookupError: none has this name there; the text says which there are.
        """
        there = {each["name"]: each for each in self.commands.get("", {}).values() if _is_usable(each, guild_id)}
        if guild_id is not None:
            there |= {each["name"]: each for each in self.commands.get(guild_id, {}).values()}
        if name not in there:
            raise LookupError(f"there is no command {name!r} here; there are {', '.join(there) or 'none'}")
        return there[name]

    def begin(self, interaction: Interaction) -> None:
        """Keep a new interaction."""
        self.by_id[interaction.id] = interaction
        if len(self.by_id) > KEPT_INTERACTIONS:
            del self.by_id[next(iter(self.by_id))]
        self.changes.announce()

    def unanswered(self, interaction_id: str, token: str) -> Interaction | None:
        """The interaction, while it can still be answered or was; None where Discord would not know it."""
        found = self.by_id.get(interaction_id)
        if found is None or found.token != token:
            return None
        return found if found.state != "waiting" or self._age(found) <= ANSWER_WITHIN_S else None

    def with_token(self, token: str) -> Interaction | None:
        """The answered interaction that a token belongs to, while the token is good."""
        for each in self.by_id.values():
            if each.token == token:
                return each if each.state != "waiting" and self._age(each) <= TOKEN_LIFETIME_S else None
        return None

    def now(self) -> float:
        """Seconds on the clock of elapsed time."""
        return self.clock.elapsed().total_seconds()

    def _age(self, interaction: Interaction) -> float:
        return self.now() - interaction.began


def _is_usable(command: dict[str, Any], guild_id: str | None) -> bool:
    contexts = command.get("contexts")
    return contexts is None or (0 if guild_id is not None else 1) in contexts
