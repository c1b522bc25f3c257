"""What an actor may do in a room now, and whose word decides it. Source: GRANT-1 to GRANT-5."""

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from clankie_captain.core.lane import OPERATOR, Authority, Trust, trusted
from clankie_settings.wire.trigger import Room, Trigger

MACHINE: Final = ("run_command", "read_file", "write_file")
"""Tools that reach the machine: only ever a system grant's, whatever a setting names. Source: GRANT-2, GRANT-4."""

ALWAYS: Final = ("send_text_update",)
"""Tools that are part of speaking in an admitted room; no setting grants or withdraws them. Source: ROOM-3."""

EVERY_TOOL: Final = "*"
"""The pattern of a grant that withholds nothing: the operator's."""

Audience = Literal["room", "trusted"]
"""Who reads what he says: whoever is in the room, or only those whom the owner trusts."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The powers of an actor in a room at one instant.

    ``tools`` are sorted names, of which a last ``*`` stands for any ending (``github_*``: all tools of that server).
    """

    authority: Authority
    audience: Audience
    tools: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """What makes two grants the same: 16 hex digits, alike in every process. Source: LOOP-3."""
        exact = json.dumps([self.authority, self.audience, self.tools], ensure_ascii=True)
        return hashlib.sha256(exact.encode("ascii")).hexdigest()[:16]

    def allows(self, tool: str) -> bool:
        """Whether a call of this tool is within the grant. Source: GRANT-1, GRANT-3."""
        if tool in ALWAYS:
            return True
        if tool in MACHINE and self.authority != "system":
            return False
        return any(_matches(pattern, tool) for pattern in self.tools)


@dataclass(frozen=True, slots=True)
class Powers:
    """The owner's settings that decide grants, with named sets written out; what is absent grants nothing.

    ``rooms``, by ``guildId:channelId``, stands for ``everyone`` there; ``roles`` and ``actors``, by id, add to it.

    Source: GRANT-1, GRANT-3.
    """

    trust: Trust = field(default_factory=Trust)
    everyone: frozenset[str] = frozenset()
    rooms: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    actors: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


def written_out(names: Iterable[str], sets: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Names of tools, with the name of a set replaced by what it holds; sets hold no sets."""
    return frozenset(tool for name in names for tool in sets.get(name, (name,)))


def unknown_tool(
    named: Mapping[str, Iterable[str]],
    sets: Mapping[str, Iterable[str]],
    tools: Sequence[str],
    prefixes: Sequence[str] = (),
) -> tuple[str, str] | None:
    """The first setting that names no tool, and why: a misspelt tool that is ignored is a power that nobody has.

    Args:
        named: What each setting names, by the setting as its reader knows it; these may name sets.
        sets: The named sets, which hold tools alone.
        tools: Every tool there is. A name that ends in ``*`` may stand for tools that come later.
        prefixes: What names of tools of servers begin with; which of them there are is not known before they run.
    """
    for name in sets:
        if _known(name, tools, prefixes):
            return f"tool_sets.{name}", "a set has no name of a tool, nor one that ends in *; call it something else"
    for name, held in sets.items():
        for tool in held:
            if tool in sets:
                return f"tool_sets.{name}", f"holds the set {tool}, and sets hold no sets; name its tools"
            if not _known(tool, tools, prefixes):
                return f"tool_sets.{name}", _no_tool(tool, (*tools, *_patterns(prefixes)))
    for setting, names in named.items():
        for tool in names:
            if tool not in sets and not _known(tool, tools, prefixes):
                return setting, _no_tool(tool, (*tools, *_patterns(prefixes), *sets))
    return None


def _known(name: str, tools: Sequence[str], prefixes: Sequence[str]) -> bool:
    return name.endswith("*") or name in tools or name.startswith(tuple(prefixes))


def _patterns(prefixes: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{each}{EVERY_TOOL}" for each in prefixes)


def _no_tool(name: str, choices: Sequence[str]) -> str:
    folded = name.casefold()
    # A whole name is not like a pattern, even where its server's is.
    tried = (folded, f"{folded.partition('_')[0]}_{EVERY_TOOL}")
    near = [found for each in tried for found in difflib.get_close_matches(each, choices, n=1, cutoff=0.6)]
    return f"there is no tool {name}; " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(choices)}")


def grant(trigger: Trigger, powers: Powers) -> Grant:
    """What the sender of a delivery may do in its room, by the owner's settings alone. Source: GRANT-1, GRANT-2.

    A system actor's utterance in a voice room has no more than anybody's: whoever hears it could have said it.
    """
    room = trigger.room
    if trigger.presence_id == OPERATOR:
        return Grant("system", "trusted", (EVERY_TOOL,))
    audience: Audience = "trusted" if trusted(room, powers.trust) else "room"
    given = set(_anybodys(room, powers))
    if room.guild_id is not None:
        for role in trigger.actor.role_ids:
            given |= powers.roles.get(role, frozenset())
    given |= powers.actors.get(trigger.actor.actor_id, frozenset())
    if _is_system(trigger, powers):
        return Grant("system", audience, tuple(sorted({*given, *MACHINE})))
    return Grant("social", audience, tuple(sorted(each for each in given if each not in MACHINE)))


def refused_by(tool: str, grants: Sequence[Grant]) -> int | None:
    """The first of these grants that a call of the tool is not within; None where all of them allow it.

    A run that heard several speakers has what all of them have. No grant at all allows nothing: then it is 0.

    Source: GRANT-5.
    """
    if not grants:
        return 0
    return next((place for place, each in enumerate(grants) if not each.allows(tool)), None)


def offered(tools: Sequence[str], room: Room, authority: Authority, powers: Powers) -> tuple[str, ...]:
    """Which of all tools a lane of this room shows its model, in the order of ``tools``.

    Everything that somebody there could be granted: who speaks changes nothing, so the prompt's bytes stay.

    Source: CTX-3, LANE-13.
    """
    given = set(_anybodys(room, powers))
    by_role = powers.roles.values() if room.guild_id is not None else ()
    for each in (*by_role, *powers.actors.values()):
        given |= each
    most = Grant(authority, "room", tuple(sorted({*given, *(MACHINE if authority == "system" else ())})))
    return tuple(tool for tool in tools if most.allows(tool))


def _is_system(trigger: Trigger, powers: Powers) -> bool:
    spoken = trigger.kind == "voice" or trigger.room.platform == "console"
    return not spoken and trigger.actor.actor_id in powers.trust.actors


def _anybodys(room: Room, powers: Powers) -> frozenset[str]:
    """What everybody may use there; a thread goes by its channel unless it has a word of its own."""
    if room.guild_id is not None:
        for channel in (room.channel_id, room.parent_id):
            if (own := powers.rooms.get(f"{room.guild_id}:{channel}")) is not None:
                return own
    return powers.everyone


def _matches(pattern: str, tool: str) -> bool:
    return tool.startswith(pattern[:-1]) if pattern.endswith("*") else tool == pattern
