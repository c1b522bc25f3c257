"""The slash commands, and what the bridge itself answers to them. Source: OPS-5."""

from dataclasses import dataclass
from typing import Final

from clankie_bridge.core.message import Author
from clankie_settings.wire.command import CommandName

DESCRIPTIONS: Final[dict[CommandName, str]] = {
    "status": "How he is, and what he is working on here",
    "stop": "Stop what he is working on here",
    "new": "Begin a new conversation here",
    "usage": "What he has used here today",
    "quiet": "Let him be quiet here for a while",
}
"""Every command with what Discord shows beside it."""

AWAY: Final = "I cannot reach my captain just now. Please try again in a moment."
"""What a command is answered while the captain is away."""

NOT_HERE: Final = "I take no commands from you here."
"""What a command is answered where its giver or the room is not admitted."""

NOT_DONE: Final = "That could not be done."
"""What a command is answered that the captain does not take."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One use of a command. ``token`` is what answers to it are addressed by, for a quarter of an hour."""

    id: str
    application_id: str
    token: str
    name: CommandName
    author: Author
    channel_id: str
    guild_id: str | None = None
    parent_id: str | None = None


def command_name(name: str) -> CommandName | None:
    """The command with this name, if it is one of ours."""
    return next((each for each in DESCRIPTIONS if each == name), None)
