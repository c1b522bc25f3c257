"""``clankie forget``: a room, or a person everywhere. Source: OPS-12."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from clankie_cli import exits
from clankie_cli.door import Door
from clankie_cli.errors import RefusedError
from clankie_cli.plain import counted
from clankie_settings.clock import Clock, SystemClock
from clankie_settings.environment import launch_settings

TRY_EVERY: Final = timedelta(seconds=1)
"""How often a lane that is at work is asked for again."""

WITHIN: Final = 60.0
"""Seconds for which lanes that are at work are waited for, unless told otherwise."""

LEFT: Final = {
    "room": "what stands in Discord stays there; so do backups that were made before, and files in the workspace",
    "person": (
        "what stands in Discord stays there; so do backups that were made before, files in the workspace, and what "
        "others or he himself repeated elsewhere"
    ),
}
"""What forgetting cannot reach."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class What:
    """What is to be forgotten: a ``room``, or a ``person``, with or without his answers to them."""

    kind: str
    name: str
    replies: bool = True

    @property
    def document(self) -> Json:
        """As the captain is asked it."""
        return {"room": self.name} if self.kind == "room" else {"person": self.name, "replies": self.replies}


@dataclass(frozen=True, slots=True)
class Manner:
    """How: without asking first, as JSON, waiting so many seconds at most for lanes that are at work."""

    sure: bool = False
    as_json: bool = False
    within: float = WITHIN


async def run(env: Mapping[str, str], what: What, manner: Manner, clock: Clock | None = None) -> int:
    """Forget it, once somebody has said that they mean it.

    Raises:
        SettingsError: A setting is unusable.
        NotReachable: Nothing answers there; a forgetting that broke off is finished by asking again.
        RefusedError: A lane is at work or owes a reply, and still is after the wait.
    """
    if not manner.sure and not _meant(what):
        print("clankie: nothing was forgotten; --yes says that you mean it", file=sys.stderr)
        return exits.REFUSED
    async with Door.opened(launch_settings(env)) as door:
        done = await _forgotten(door, what, manner.within, clock or SystemClock())
    if manner.as_json:
        print(json.dumps(done))
    else:
        counts = ", ".join(counted(done[name], one) for name, one in _ONES.items())
        print(f"forgotten: {counts}; {LEFT[what.kind]}")
    return exits.DONE


_ONES: Final = {"lanes": "lane", "entries": "line", "deliveries": "message"}


async def _forgotten(door: Door, what: What, within: float, clock: Clock) -> Json:
    until = clock.elapsed() + timedelta(seconds=within)
    while True:
        try:
            return await door.ask("/v1/forget", what.document)
        except RefusedError as error:
            if error.code != "lane_busy" or clock.elapsed() >= until:
                raise
            await clock.sleep(TRY_EVERY)


def _meant(what: What) -> bool:
    if not sys.stdin.isatty():
        return False
    print(
        f"Forget the {what.kind} {what.name}? This cannot be taken back. Type yes: ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    return sys.stdin.readline().strip().lower() == "yes"
