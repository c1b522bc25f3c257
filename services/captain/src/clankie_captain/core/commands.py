"""What a person may have him do without speaking to the model. Source: OPS-5."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, assert_never

from clankie_settings.wire.command import CommandName

STOP_WORDS: Final = frozenset({"stop", "stop it", "please stop", "stop please"})
"""What, alone in a message, ends the run that its author's words are in."""

QUIET_FOR: Final = timedelta(hours=1)
"""How long he stays quiet after ``/quiet``; a second one ends it."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who gave a command: whether the owner did, whether the room is a DM, whether their words are in the live run."""

    is_owner: bool
    in_dm: bool
    speaks: bool


@dataclass(frozen=True, slots=True)
class RoomState:
    """What runs and waits in a room; ``running_s`` is None where nothing runs. Tokens are of the present UTC day."""

    running_s: int | None
    waiting: int
    quiet: bool
    tokens: int


def is_stop(body: str | None, names: Sequence[str]) -> bool:
    """Whether a message says nothing but "stop", to him or to nobody. Source: OPS-5."""
    if body is None:
        return False
    text = re.sub(r"<@!?\d+>", " ", body).casefold()
    for name in names:
        text = re.sub(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", " ", text)
    return " ".join(re.sub(r"[^\w\s]", " ", text).split()) in STOP_WORDS


def permitted(name: CommandName, asker: Asker) -> bool:
    """Whether the command may be done for this person. Source: OPS-5."""
    match name:
        case "status" | "usage":
            return True
        case "stop":
            return asker.speaks or asker.is_owner or asker.in_dm
        case "new" | "quiet":
            return asker.is_owner or asker.in_dm
        case _:  # pragma: no cover
            assert_never(name)


def refusal(name: CommandName) -> str:
    """What somebody is told who may not give a command."""
    if name == "stop":
        return "Nothing of yours is being answered here, so there is nothing for you to stop. The owner can."
    return "Only the owner can do this. (Whoever runs me sets CLANKIE_OWNER_ID.)"


def status(state: RoomState) -> str:
    """How it stands in a room."""
    running = "Nothing is running here." if state.running_s is None else f"At work for {state.running_s} s."
    waiting = f" {state.waiting} waiting." if state.waiting else ""
    quiet = " Quiet until somebody ends it with /quiet, or the hour is over." if state.quiet else ""
    return f"{running}{waiting}{quiet}"


def usage(state: RoomState) -> str:
    """What a room cost on the present day."""
    return f"{state.tokens:,} tokens here today (UTC)."
