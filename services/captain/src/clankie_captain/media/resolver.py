"""A delivery's pictures, from references to parts on the shelf. Source: IMG-4, IMG-5, IMG-7."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import structlog

from clankie_captain.core.pictures import (
    Origin,
    Part,
    Pictures,
    Shown,
    Source,
    Stored,
    Undecodable,
    Unseen,
    all_unseen,
    shares,
    sources,
    spread,
)
from clankie_captain.media.fetch import Unfetched
from clankie_captain.ports import Decoder
from clankie_settings import bounds
from clankie_settings.wire.attachment import Attachment
from clankie_settings.wire.trigger import Trigger

_log = structlog.get_logger()


class Fetch(Protocol):
    """What turns an outside address into bytes; ``media/fetch.py`` does it."""

    async def fetch(self, address: str) -> bytes | Unfetched:
        """The bytes, or why they are not to be had."""
        ...


class PictureShelf(Protocol):
    """Where parts are kept; ``media/shelf.py`` does it."""

    async def put(self, part: Part) -> Stored:
        """Keep a part.

        Raises:
            OSError: It cannot be kept.
        """
        ...


class StoringResolver:
    """Fetches, decodes and keeps pictures, so many at a time over all rooms; one that fails costs itself alone."""

    def __init__(
        self, fetch: Fetch, decoder: Decoder, shelf: PictureShelf, most: int = bounds.PICTURES_AT_ONCE
    ) -> None:
        self._fetch = fetch
        self._decoder = decoder
        self._shelf = shelf
        self._turn = asyncio.Semaphore(most)

    async def resolve(self, trigger: Trigger) -> Pictures:
        """What can be shown of a delivery's pictures, and why the others cannot. Never raises for what they hold."""
        found_in = sources(trigger)
        taken, over = found_in[: bounds.PICTURE_SOURCES], found_in[bounds.PICTURE_SOURCES :]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._shown(each)) for each in taken]
        found = [task.result() for task in tasks]
        unseen = [each for each in found if isinstance(each, Unseen)]
        unseen += [Unseen(each.origin, "over_limit") for each in over]
        return Pictures(_shared([each for each in found if isinstance(each, Shown)]), tuple(unseen))

    async def _shown(self, source: Source) -> Shown | Unseen:
        async with self._turn:
            try:
                return await self._found(source.origin, source.attachment)
            except Exception as error:  # noqa: BLE001 - a fault here costs the picture, never the conversation
                _log.error("picture.fault", cause=type(error).__name__)
                return Unseen(source.origin, "unavailable")

    async def _found(self, origin: Origin, attachment: Attachment) -> Shown | Unseen:
        moves = attachment.motion_url
        if moves is not None:
            moving = await self._stored(moves)
            if isinstance(moving, tuple):
                return Shown(origin, moving)
        still = await self._stored(attachment.url)
        if isinstance(still, tuple):
            return Shown(origin, still, still=moves is not None and len(still) == 1)
        return Unseen(origin, still.cause)

    async def _stored(self, address: str) -> tuple[Stored, ...] | Unfetched | Undecodable:
        data = await self._fetch.fetch(address)
        if isinstance(data, Unfetched):
            return data
        decoded = await self._decoder.decode(data, bounds.PICTURE_FRAMES)
        if isinstance(decoded, Undecodable):
            return decoded
        try:
            return tuple([await self._shelf.put(part) for part in decoded.parts]) or Undecodable("broken")
        except OSError:
            return Undecodable("unavailable")


class BlindResolver:
    """Pictures are switched off: nothing is fetched, and everything is counted. Source: IMG-8."""

    async def resolve(self, trigger: Trigger) -> Pictures:
        """All of the delivery's pictures as unseen."""
        return all_unseen(trigger, "off")


def _shared(shown: Sequence[Shown]) -> tuple[Shown, ...]:
    given = shares([len(each.parts) for each in shown])
    return tuple(
        Shown(each.origin, tuple(each.parts[at] for at in spread(len(each.parts), share)), each.still)
        for each, share in zip(shown, given, strict=True)
    )
