"""What goes out besides results: a nudge for what is stored, and signs that live only while they are sent."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from clankie_captain.core.activity import ToolState
from clankie_settings.ids import DeliveryId, LaneId, PresenceId
from clankie_settings.wire.action import Clear, ToolActivity, Typing

BACKLOG: Final = 256
"""Signs that wait for one slow stream; beyond it the oldest goes, since each is only true while it is new."""


@dataclass(frozen=True, slots=True)
class Nudge:
    """Something stored waits to be read, or the stream must end."""


@dataclass(frozen=True, slots=True)
class Token:
    """Words that the model has just written; for the operator's tail alone. Source: OPS-2."""

    run_receipt: DeliveryId
    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call began or ended; for the operator's tail alone. Source: OPS-2."""

    run_receipt: DeliveryId
    tool: str
    state: ToolState


@dataclass(frozen=True, slots=True)
class Requesting:
    """A model request began; for the operator's tail alone. Source: OPS-2."""

    run_receipt: DeliveryId


Sign = Typing | Clear | ToolActivity | Nudge | Token | ToolUse | Requesting
"""Anything that a stream carries."""

Stream = PresenceId | LaneId
"""Whose stream it is: a presence's, of actions, or a lane's, of what happens in it."""


class Signals:
    """Streams of signs, any number for each presence and each lane."""

    def __init__(self) -> None:
        self._inboxes: dict[str, set[asyncio.Queue[Sign]]] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether streams should end."""
        return self._closed

    def send(self, stream: Stream, sign: Sign) -> None:
        """Give a sign to every open inbox of the stream."""
        for inbox in self._inboxes.get(stream, ()):
            if inbox.full():
                inbox.get_nowait()
            inbox.put_nowait(sign)

    @contextmanager
    def inbox(self, stream: Stream) -> Generator[asyncio.Queue[Sign]]:
        """The signs of a stream from now on."""
        inbox: asyncio.Queue[Sign] = asyncio.Queue(maxsize=BACKLOG)
        self._inboxes.setdefault(stream, set()).add(inbox)
        try:
            yield inbox
        finally:
            holders = self._inboxes[stream]
            holders.discard(inbox)
            if not holders:
                del self._inboxes[stream]

    def close(self) -> None:
        """End all streams: the captain is stopping."""
        self._closed = True
        for holders in self._inboxes.values():
            for inbox in holders:
                if inbox.full():
                    inbox.get_nowait()
                inbox.put_nowait(Nudge())
