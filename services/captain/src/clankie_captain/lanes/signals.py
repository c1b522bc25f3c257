"""What goes to presences besides results: a nudge for stored actions, and signs that live only while they are sent."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from clankie_settings.ids import PresenceId
from clankie_settings.wire.action import Clear, Typing

BACKLOG: Final = 256
"""Signs that wait for one slow stream; beyond it the oldest goes, since each is only true while it is new."""


@dataclass(frozen=True, slots=True)
class Nudge:
    """Stored actions wait to be read, or the stream must end."""


Sign = Typing | Clear | Nudge


class Signals:
    """Streams of signs, any number for each presence."""

    def __init__(self) -> None:
        self._inboxes: dict[PresenceId, set[asyncio.Queue[Sign]]] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether streams should end."""
        return self._closed

    def send(self, presence: PresenceId, sign: Sign) -> None:
        """Give a sign to every open stream of the presence."""
        for inbox in self._inboxes.get(presence, ()):
            if inbox.full():
                inbox.get_nowait()
            inbox.put_nowait(sign)

    @contextmanager
    def inbox(self, presence: PresenceId) -> Generator[asyncio.Queue[Sign]]:
        """The signs of a presence from now on."""
        inbox: asyncio.Queue[Sign] = asyncio.Queue(maxsize=BACKLOG)
        self._inboxes.setdefault(presence, set()).add(inbox)
        try:
            yield inbox
        finally:
            self._inboxes[presence].discard(inbox)

    def close(self) -> None:
        """End all streams: the captain is stopping."""
        self._closed = True
        for presence in self._inboxes:
            self.send(presence, Nudge())
