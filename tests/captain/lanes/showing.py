"""Pictures as tests of lanes need them: a resolver that is told what it finds, and a shelf in memory."""

import asyncio

from clankie_captain.core.pictures import Pictures, Shown, Stored, all_unseen, sources
from clankie_captain.ports import PictureLog, Resolver, Shelf
from clankie_settings.wire.attachment import Attachment
from clankie_settings.wire.trigger import Trigger


def attachment(name: str) -> Attachment:
    return Attachment(id=name, url=f"https://cdn.discordapp.com/attachments/1/{name}/a.png", media_type="image/png")


def stored(name: str, size: int = 9) -> Stored:
    """A part on the shelf whose hash begins with the bytes of its name."""
    return Stored(name.encode().hex().ljust(64, "0"), "image/png", 2, 1, size)


class ToldResolver(Resolver):
    """Finds one part for each picture, under its attachment's id, once it may.

    A delivery in ``held`` is resolved when its event is set; one in ``broken`` raises.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.waiting: asyncio.Queue[str] = asyncio.Queue()
        self.held: dict[str, asyncio.Event] = {}
        self.broken: set[str] = set()

    async def resolve(self, trigger: Trigger) -> Pictures:
        self.asked.append(tuple(each.attachment.id for each in sources(trigger)))
        self.waiting.put_nowait(trigger.delivery_id)
        if trigger.delivery_id in self.held:
            await self.held[trigger.delivery_id].wait()
        if trigger.delivery_id in self.broken:
            raise RuntimeError("a fault of our own")
        if not sources(trigger):
            return all_unseen(trigger, "off")
        return Pictures(tuple(Shown(each.origin, (stored(each.attachment.id),)) for each in sources(trigger)))


class MemoryShelf(Shelf):
    """Bytes by hash."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def get(self, digest: str) -> bytes | None:
        return self.kept.get(digest)


class KeptPictures(PictureLog):
    """What was counted."""

    def __init__(self) -> None:
        self.counted: list[Pictures] = []

    def resolved(self, pictures: Pictures) -> None:
        self.counted.append(pictures)
