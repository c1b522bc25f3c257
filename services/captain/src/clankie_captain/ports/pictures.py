"""Where pictures come from and are kept; ``media`` and ``store`` keep these promises."""

from collections.abc import Sequence
from typing import Protocol

from clankie_captain.core.pictures import Decoded, Pictures, Undecodable
from clankie_captain.core.turns import (
    Awaiting,
    LiveRun,
)
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.trigger import Trigger


class Resolver(Protocol):
    """What turns a delivery's references into stored pictures; ``media/resolver.py`` does it."""

    async def resolve(self, trigger: Trigger) -> Pictures:
        """What can be shown of a delivery's pictures, and why the others cannot. Source: IMG-4."""
        ...


class Shelf(Protocol):
    """Where stored pictures are; ``media/shelf.py`` keeps them."""

    async def get(self, digest: str) -> bytes | None:
        """The bytes under a hash; None where they are gone."""
        ...


class PictureLog(Protocol):
    """Where pictures are counted."""

    def resolved(self, pictures: Pictures) -> None:
        """Count what became of a delivery's pictures: what was shown, left out and not to be had. Source: IMG-4."""
        ...


class Decoder(Protocol):
    """What turns the bytes of a picture into parts that a provider takes; ``media/decoding.py`` does it."""

    async def decode(self, data: bytes, most: int) -> Decoded | Undecodable:
        """Decode stills, animations and films alike, by their bytes; at most ``most`` parts.

        Bounded in time and memory; never raises for what the bytes hold.

        Source: IMG-3, IMG-5.
        """
        ...


class PictureRows(Protocol):
    """What became of pictures, as rows; ``store/pictures.py`` says what each promises."""

    async def show(self, presence: PresenceId, delivery: DeliveryId, pictures: Pictures) -> None:
        """Keep what became of a delivery's pictures; it is ready with that."""
        ...

    async def open(self) -> tuple[Awaiting, ...]:
        """Every delivery whose pictures somebody has to fetch still."""
        ...

    async def unready(self, run: LiveRun) -> tuple[Awaiting, ...]:
        """The unheard deliveries of a live run whose pictures are not there yet."""
        ...

    async def carried(self, presence: PresenceId, trigger: Trigger) -> bool:
        """Whether the lane of a delivery shows the picture of its talk already, or is about to."""
        ...

    async def unsee(self, run: LiveRun, gone: Sequence[str]) -> None:
        """Put words in the place of pictures in the lane's history."""
        ...
