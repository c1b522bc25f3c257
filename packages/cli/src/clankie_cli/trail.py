"""``clankie trail``: print what is written in a lane. Source: LANE-12."""

import json
import re
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast
from urllib.parse import quote

from clankie_cli import exits
from clankie_cli.door import Door, document_of
from clankie_cli.entry import shown
from clankie_cli.plain import counted
from clankie_settings.environment import launch_settings

PAGE: Final = 100
"""Entries that are asked for at a time."""

LANE: Final = re.compile(r"(rooms|voice|conversations|turns)/[A-Za-z0-9._:~/-]+")
ROOM: Final = re.compile(r"(dm|[0-9]{1,20}):[0-9]{1,20}")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """What a person named: a lane by its id, a room, or a delivery (a run receipt is one)."""

    kind: Literal["lane", "room", "delivery"]
    name: str


@dataclass(frozen=True, slots=True)
class Manner:
    """How to print: as text for a person, only so many of the newest entries, one-shots of a room too."""

    as_text: bool = False
    last: int | None = None
    one_shots: bool = False


def target(name: str) -> Target:
    """What somebody means by this."""
    if LANE.fullmatch(name):
        return Target("lane", name)
    return Target("room" if ROOM.fullmatch(name) else "delivery", name)


async def run(env: Mapping[str, str], named: Target, manner: Manner) -> int:
    """Print the lanes of what is named, JSON lines unless text is wanted; 1 where there is none.

    Raises:
        SettingsError: A setting is unusable.
        NotReachable: Nothing answers there.
        RefusedError: The captain will not show it, or there is no such lane.
    """
    async with Door.opened(launch_settings(env)) as door:
        lanes = await _lanes(door, named)
        if not lanes:
            print(f"clankie: no lane belongs to the {named.kind} {named.name}; {_HINTS[named.kind]}", file=sys.stderr)
            return exits.REFUSED
        for lane in _chosen(lanes, manner):
            if manner.as_text:
                print(f"── {lane['id']}")
            async for line in _entries(door, lane, manner.last):
                print(_text(line) if manner.as_text else _json(lane["id"], line), flush=True)
    return exits.DONE


_HINTS: Final = {
    "room": "has he ever been spoken to there? A DM is dm:CHANNEL",
    "delivery": "for Discord it is the message's id, for the operator the receipt that clankie send printed",
}


async def _lanes(door: Door, named: Target) -> list[Json]:
    if named.kind == "lane":
        return [document_of(await door.get(f"/v1/lanes/{_quoted(named.name)}"))]
    answer = document_of(await door.get("/v1/lanes", {named.kind: named.name}))
    return cast("list[Json]", answer.get("lanes") or [])


def _chosen(lanes: Sequence[Json], manner: Manner) -> Sequence[Json]:
    lasting = [each for each in lanes if each["kind"] != "one_shot"]
    if manner.one_shots or not lasting:
        return lanes
    if left := len(lanes) - len(lasting):
        print(f"clankie: {counted(left, 'one-shot')} besides; with --one-shots, too", file=sys.stderr)
    return lasting


async def _entries(door: Door, lane: Json, last: int | None) -> AsyncGenerator[str]:
    path = f"/v1/lanes/{_quoted(lane['id'])}/entries"
    after = 0 if last is None else max(0, int(lane["entries"]) - last)
    while True:
        page = (await door.get(path, {"after": after, "limit": PAGE})).text
        lines = [line for line in page.split("\n") if line]
        for line in lines:
            yield line
        if not lines:
            return
        after = int(json.loads(lines[-1])["seq"])


def _quoted(lane: str) -> str:
    return quote(lane, safe="/:~")


def _json(lane: str, line: str) -> str:
    # What was recorded stays as it was recorded; only the lane's name is put in front.
    return f'{{"lane": {json.dumps(lane)}, {line[1:]}'


def _text(line: str) -> str:
    try:
        entry = cast("Json", json.loads(line))
    except ValueError:
        return "   (an entry that cannot be read)"
    return shown(entry)
