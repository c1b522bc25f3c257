"""What is on disk of the rooms that voices hold; ``store/rooms.py`` keeps these promises."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from clankie_captain.core.voice import RoomAsking
from clankie_settings.ids import PresenceId


@dataclass(frozen=True, slots=True)
class RoomHeld:
    """A room is the asking presence's, or it was given back.

    ``renewed`` says that no time passed without the lease. ``posts`` are the presences that were given words to post,
    ``ends`` when the first of all leases ends.
    """

    renewed: bool
    posts: frozenset[PresenceId]
    ends: datetime | None


@dataclass(frozen=True, slots=True)
class RoomRefused:
    """Another voice holds the room."""

    posts: frozenset[PresenceId]
    ends: datetime | None


@dataclass(frozen=True, slots=True)
class Lapsed:
    """Leases that had ended are gone: who is to post what was not spoken, and when the next one ends."""

    rooms: Sequence[str]
    posts: frozenset[PresenceId]
    ends: datetime | None


class RoomLeases(Protocol):
    """Which voice holds which room; ``store/rooms.py`` says what each promises."""

    async def ask(self, room: str, asking: RoomAsking, at: datetime) -> RoomHeld | RoomRefused:
        """Give, renew or take back a room."""
        ...

    async def lapse(self, at: datetime) -> Lapsed:
        """End the leases that have run out."""
        ...
