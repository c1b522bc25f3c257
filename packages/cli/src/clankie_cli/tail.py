"""``clankie tail``: what becomes of a conversation, as it happens. Source: OPS-2, OPS-3."""

import json
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from httpx_sse import ServerSentEvent

from clankie_cli.door import Door
from clankie_cli.errors import NotReachable, RefusedError
from clankie_cli.happening import shown
from clankie_settings.clock import Clock, SystemClock
from clankie_settings.environment import launch_settings

AGAIN_AFTER: Final = timedelta(seconds=1)
LONGEST_PAUSE: Final = timedelta(seconds=15)
"""Bounds of the pause before a lost stream is taken up again; it doubles in between."""


async def run(env: Mapping[str, str], conversation: str, *, whole: bool, as_json: bool) -> int:
    """Follow until whoever asked has seen enough; a lost connection is taken up where it broke.

    Raises:
        SettingsError: A setting is unusable.
        NotReachable: Nothing answered there at first.
        RefusedError: The captain will not show it.
    """
    async with Door.opened(launch_settings(env)) as door:
        await Tail(door, SystemClock(), as_json=as_json).follow(conversation, "0" if whole else None)
    return 0


class Tail:
    """One conversation, followed over every restart of its captain."""

    def __init__(self, door: Door, clock: Clock, *, as_json: bool) -> None:
        self._door = door
        self._clock = clock
        self._as_json = as_json
        self._opened = False
        self._after: str | None = None

    async def follow(self, conversation: str, after: str | None) -> None:
        """Print everything after an event, or from the oldest input that is not settled.

        Raises:
            NotReachable: Nothing answered there at first.
            RefusedError: The captain will not show it.
        """
        self._after = after
        pause = AGAIN_AFTER
        while True:
            before = self._after
            try:
                async for event in self._door.follow(f"/v1/conversations/{conversation}/events", before):
                    self._take(event, conversation)
                    pause = AGAIN_AFTER
            except (NotReachable, RefusedError) as error:
                lasts = isinstance(error, RefusedError) and not error.passes
                if lasts or not self._opened:
                    raise
            _aside(f"the stream ended; it is taken up again in {pause.seconds} s")
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _take(self, event: ServerSentEvent | None, conversation: str) -> None:
        if event is None:
            self._opened = True
            _aside(f"following {conversation}; Ctrl-C ends")
            return
        # What lives only while it is new has no id; the reader of the stream repeats the last one for it.
        place = event.id if event.id and event.id != self._after else None
        self._after = place or self._after
        line = _line(event, place) if self._as_json else shown(event.event, _data(event))
        if line is not None:
            print(line, flush=True)


def _line(event: ServerSentEvent, place: str | None) -> str:
    return json.dumps({"id": place, "event": event.event, **_data(event)}, ensure_ascii=False)


def _data(event: ServerSentEvent) -> dict[str, Any]:
    try:
        said: Any = json.loads(event.data)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _aside(text: str) -> None:
    print(f"clankie: {text}", file=sys.stderr, flush=True)
