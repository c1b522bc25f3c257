"""What a person may have him do without speaking to the model. Source: OPS-5."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from clankie_captain.core.turns import LaneView
from clankie_settings.ids import RunId
from clankie_settings.wire.command import Command, CommandName

STOP_WORDS: Final = frozenset({"stop", "stop it", "please stop", "stop please"})
"""What, alone in a message, ends the run that its author's words are in."""

QUIET_FOR: Final = timedelta(hours=1)
"""How long he stays quiet after ``/quiet``; a second one ends it."""

STOPPED: Final = "Stopped."
NOTHING: Final = "Nothing is running here."
RENEWED: Final = "This room begins anew: I have put what was said here behind me."
BUSY: Final = "Something is running here. Stop it first, or wait."
QUIET: Final = "I am quiet here for an hour. /quiet again ends it."
LOUD: Final = "I am back."
COMPACTING: Final = "Putting together what was said here earlier; what comes now waits for it."


@dataclass(frozen=True, slots=True)
class Halt:
    """End these runs."""

    runs: tuple[RunId, ...]


@dataclass(frozen=True, slots=True)
class Renew:
    """Let the lane's history begin anew."""


@dataclass(frozen=True, slots=True)
class Hush:
    """Keep the lane quiet until then; None ends it."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Deed:
    """What a command comes to: what its giver is shown, and what is changed."""

    answer: str
    change: Halt | Renew | Hush | None = None


def is_stop(body: str | None, names: Sequence[str]) -> bool:
    """Whether a message says nothing but "stop", to him or to nobody. Source: OPS-5."""
    if body is None:
        return False
    text = re.sub(r"<@[!&]?\d+>", " ", body).casefold()
    for name in names:
        text = re.sub(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", " ", text)
    return " ".join(re.sub(r"[\W_]+", " ", text).split()) in STOP_WORDS


def is_quiet(until: datetime | None, now: datetime) -> bool:
    """Whether a lane is quiet; a clock that was set back never makes that longer than an hour."""
    return until is not None and now < until <= now + QUIET_FOR


def deed(command: Command, view: LaneView, owner: str | None, now: datetime) -> Deed:
    """What a command comes to in a lane; whoever may not give it is told so, and nothing changes. Source: OPS-5."""
    if not _permitted(command, view, owner):
        return Deed(_refusal(command.name))
    match command.name:
        case "status":
            return Deed(_status(view, now))
        case "usage":
            return Deed(f"{view.tokens:,} tokens here today (UTC).")
        case "stop":
            found = _stoppable(command, view, owner)
            return Deed(STOPPED, Halt(found)) if found else Deed(NOTHING)
        case "new":
            # What a compaction would keep is put behind him anyway.
            return Deed(BUSY) if _busy(view) else Deed(RENEWED, Renew())
        case "quiet":
            return Deed(LOUD, Hush(None)) if view.quiet else Deed(QUIET, Hush(now + QUIET_FOR))
        case _:  # pragma: no cover
            assert_never(command.name)


def _permitted(command: Command, view: LaneView, owner: str | None) -> bool:
    trusted = _trusted(command, owner)
    match command.name:
        case "status" | "usage":
            return True
        case "stop":
            return trusted or bool(_stoppable(command, view, owner))
        case "new" | "quiet":
            return trusted
        case _:  # pragma: no cover
            assert_never(command.name)


def _busy(view: LaneView) -> bool:
    own = view.live is not None and not view.compacting
    aloud = view.aloud is not None and bool(view.aloud.speakers)
    return own or aloud or any(each.actor is not None for each in view.loops)


def _trusted(command: Command, owner: str | None) -> bool:
    return command.actor.actor_id == owner or command.room.guild_id is None


def _stoppable(command: Command, view: LaneView, owner: str | None) -> tuple[RunId, ...]:
    """The runs of the room that the giver may end: all of them, or those that answer the giver."""
    actor, trusted = command.actor.actor_id, _trusted(command, owner)
    live = () if view.live is None or not (trusted or actor in view.speakers) else (view.live,)
    aloud = () if view.aloud is None or not (trusted or actor in view.aloud.speakers) else (view.aloud.run,)
    return (*live, *aloud, *(each.run for each in (*view.loops, *view.one_shots) if trusted or each.actor == actor))


def _refusal(name: CommandName) -> str:
    if name == "stop":
        return "Nothing of yours is being answered here, so there is nothing for you to stop. The owner can."
    return "Only the owner can do this. (Whoever runs me sets CLANKIE_OWNER_ID.)"


def _status(view: LaneView, now: datetime) -> str:
    running = NOTHING
    own = () if view.started_at is None or view.compacting else (view.started_at,)
    aloud = () if view.aloud is None or not view.aloud.speakers else (view.aloud.started_at,)
    began = min((*own, *aloud, *(each.started_at for each in view.loops if each.actor is not None)), default=None)
    if began is not None:
        running = f"At work for {max(0, round((now - began).total_seconds()))} s."
    elif view.compacting or view.loops or view.aloud is not None:
        running = COMPACTING
    waiting = f" {view.waiting} waiting." if view.waiting else ""
    quiet = " Quiet until somebody ends it with /quiet, or the hour is over." if view.quiet else ""
    background = f" {view.children} in the background." if view.children else ""
    return f"{running}{waiting}{background}{quiet}"
